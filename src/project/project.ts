// A project: its directory, its settings, its files.

import type { ProjectFiles, ProjectPaths } from '../core/project.ts'
import type { Settings } from './settings.ts'

export interface Project {
  readonly name: string
  readonly settings: Settings
  readonly paths: ProjectPaths
  readonly files: ProjectFiles
}
