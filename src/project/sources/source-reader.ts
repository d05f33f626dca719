// What has to be known to read a source of some kind from eider.yml.

import type { SourceServer } from '../../core/sources.ts'
import type { Group, Text } from './nodes.ts'

export interface SourceReader {
  /** The key that says where the tables are; null: each table says it itself. */
  readonly key: string | null
  /** Keys that other kinds do not have, each with the reason why a source of another kind cannot have it. */
  readonly options: Readonly<Record<string, string>>
  /** `name`: that of the source. */
  readonly read: (group: Group, name: string) => SourcePlace
}

export interface SourcePlace {
  /** null: there is none, or it was refused. */
  readonly database: Text | null
  readonly server: SourceServer | null
  /** The schema of the tables where the source names none. */
  readonly schema: string
}
