// What has to be known to read a source of some kind from eider.yml.

import type { SourceServer } from '../../core/sources.ts'
import type { JsonSchema } from '../schema/value-schemas.ts'
import type { Group, Text } from './nodes.ts'

export interface SourceReader {
  /** The key that says where the tables are; null: each table says it itself. */
  readonly key: SourceKey | null
  /** Keys that other kinds do not have. */
  readonly options: Readonly<Record<string, SourceOption>>
  /** `name`: that of the source. */
  readonly read: (group: Group, name: string) => SourcePlace
}

export interface SourceKey {
  readonly name: string
  readonly schema: JsonSchema
}

export interface SourceOption {
  readonly schema: JsonSchema
  /** Why a source of another kind cannot have it. */
  readonly reason: string
}

export interface SourcePlace {
  /** null: there is none, or it was refused. */
  readonly database: Text | null
  readonly server: SourceServer | null
  /** The schema of the tables where the source names none. */
  readonly schema: string
}
