import type { ProjectPaths } from '../core/project.ts'
import { fileTraits } from './files/traits.ts'
import { lakeTraits } from './lake/traits.ts'
import type { TargetTraits } from './traits.ts'

/** Decides which store a target has, as openStore() does, for those who must not load an engine. */
export const traitsOf = (paths: ProjectPaths): TargetTraits =>
  paths.lake === undefined ? fileTraits(paths) : lakeTraits(paths, paths.lake)
