// Decides which store a target has: files of this machine, or a lake. traits-of.ts decides the same without an engine.

import type { ProjectPaths } from '../core/project.ts'
import { fileStore } from './files/store.ts'
import { lakeStore } from './lake/store.ts'
import type { Store } from './store.ts'

/** Nothing is read or made before it is used. */
export const openStore = (paths: ProjectPaths): Store =>
  paths.lake === undefined ? fileStore(paths) : lakeStore(paths)
