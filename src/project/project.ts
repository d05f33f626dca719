// A project: its directory, its settings, its files.

import type { ProjectFiles, ProjectPaths } from '../core/project.ts'
import type { Settings } from './settings.ts'

export interface Project {
  readonly name: string
  /** Of eider.yml; null: none, which is the default one. */
  readonly target: string | null
  readonly settings: Settings
  readonly paths: ProjectPaths
  readonly files: ProjectFiles
}
