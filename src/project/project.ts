// A project: its directory, its settings, its files.

import type { ProjectFiles, ProjectPaths } from '../core/project.ts'
import type { Settings } from './settings.ts'

export interface Project {
  readonly name: string
  /** Its name in eider.yml; null: none. */
  readonly target: string | null
  /** Those that eider.yml has. */
  readonly targets: readonly string[]
  readonly settings: Settings
  readonly paths: ProjectPaths
  readonly files: ProjectFiles
}
