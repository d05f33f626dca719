// A project: its directory, its settings, its files.

import type { ProjectFiles, ProjectPaths } from '../core/project.ts'
import type { Notify } from '../core/notifications.ts'
import type { Schedule } from '../core/schedule.ts'
import type { SignedSender } from '../access/credential.ts'
import type { Environments } from './environment-values.ts'
import type { WrittenTokens } from './tokens.ts'
import type { Settings } from './settings.ts'

export interface Project {
  readonly name: string
  /** Its name in eider.yml; null: none, which is the default one. */
  readonly target: string | null
  /** The targets of eider.yml. */
  readonly targets: readonly string[]
  readonly settings: Settings
  readonly paths: ProjectPaths
  readonly files: ProjectFiles
  readonly schedule: Schedule
  /** null: nobody is told. */
  readonly notify: Notify | null
  /** `odata.tokens`, their variables not yet looked up. */
  readonly readers: WrittenTokens
  /** `collect.tokens` and `collect.webhooks`, likewise. */
  readonly senders: WrittenTokens
  readonly signedSenders: readonly SignedSender[]
  /** What `${NAME}` stands for: the environment, then .env. */
  readonly secrets: Environments
}
