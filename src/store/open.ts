// The one place that decides which store a target has. One is files of this machine, the other a lake.

import type { ProjectPaths } from '../core/project.ts'
import { fileStore } from './files/store.ts'
import { lakeStore } from './lake/store.ts'
import type { Store } from './store.ts'

/** Nothing is read or made before it is used. */
export const openStore = (paths: ProjectPaths): Store =>
  paths.lake === undefined ? fileStore(paths) : lakeStore(paths)
