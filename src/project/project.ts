// A project: its directory, its settings, its files.

import type { ProjectFiles, ProjectPaths } from '../core/project.ts'
import type { Config } from './config.ts'
import type { Environments } from './environment-values.ts'
import type { SettingName, Settings } from './settings.ts'

/** The setting has the value that it has without the variable. */
export interface UnusableValue {
  readonly setting: SettingName
  readonly problem: string
}

export interface Project extends Pick<
  Config,
  'name' | 'schedule' | 'notify' | 'readers' | 'senders' | 'signedSenders'
> {
  /** Its name in eider.yml; null: none, which is the default one. */
  readonly target: string | null
  /** The targets of eider.yml. */
  readonly targets: readonly string[]
  readonly settings: Settings
  /** What variables hold that are meant for other tools too. */
  readonly unusable: readonly UnusableValue[]
  readonly paths: ProjectPaths
  readonly files: ProjectFiles
  /** What `${NAME}` stands for: the environment, then .env. */
  readonly secrets: Environments
}
