// The one place that decides which store a target has. There is one kind: files of this machine.

import type { ProjectPaths } from '../core/project.ts'
import { fileStore } from './files/file-store.ts'
import type { Store } from './store.ts'

/** Nothing is read or made before it is used. */
export const openStore = (paths: ProjectPaths): Store => fileStore(paths)
