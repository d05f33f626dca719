// Published states, as runs write and commands read them.

import { hashOf } from '../core/hash.ts'
import type { ModelName } from '../core/names.ts'
import {
  type PublishedRelation,
  type SetMetadata,
  type Snapshot,
  SNAPSHOT_FORMAT,
} from '../core/snapshot.ts'
import type { Sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'

export interface SnapshotStore {
  /** null before the first publication, and when what is there cannot be read. */
  current(): Promise<Snapshot | null>
  /**
   * Publishes the relations that `choose` returns: readers see all of them at once, or none. When it throws, what was
   * published before is untouched.
   */
  publish(options: PublishOptions, choose: ChooseRelations): Promise<Published>
  /** The catalog of a retained state as it was written last; null where there is none that can be read. */
  catalog(id: string): Promise<string | null>
  /** Replaces it. It goes with its state. */
  writeCatalog(id: string, text: string): Promise<void>
  /** Whether it is written again for a run that changed nothing; else the next run that does tells of both. */
  readonly catalogsIdleRuns: boolean
  /** Whether it can write what has changed of a set alone. */
  readonly takesChanges: boolean
  /** Publishes the current state in its own directory of snapshots, where more can be published. */
  fork(dir: string): Promise<void>
}

export interface PublishOptions {
  readonly connection: Connection
  readonly runId: string
  readonly now: Date
  readonly retention: Retention
}

/** What stays readable for next links and delta links: the youngest snapshots, and those replaced a short time ago. */
export interface Retention {
  readonly snapshots: number
  readonly ms: number
  /**
   * What has changed of a set is written apart as long as it is not more than so many percent of the rows since the file was
   * written whole. 0, and none: each set that has changed is written whole, and so are those of which something is apart.
   */
  readonly apartPercent?: number
}

export interface Published {
  readonly snapshot: Snapshot
  readonly changed: boolean
  /** What was published before; null where nothing was. */
  readonly before: Snapshot | null
}

export type ChooseRelations = (rows: PublishedRows) => Promise<readonly PublishedRelation[]>

/** The rows of published relations while a snapshot is being made. */
export interface PublishedRows {
  readonly current: Snapshot | null
  /** What was published of the same content and can be published again; null when there is none. */
  find(content: RowsContent): Promise<PublishedRelation | null>
  write(content: RowsContent, rows: NewRows): Promise<PublishedRelation>
}

/** What the rows of a relation are known by. */
export interface RowsContent {
  readonly model: ModelName
  readonly version: string
  /** The names as the model spells them. */
  readonly exposedKey: readonly string[]
}

export interface NewRows {
  readonly relation: Sql
  readonly metadata: SetMetadata
  /** null: any row may be another one. */
  readonly changed: ChangedRows | null
}

/** In which rows one version of a relation differs from an earlier one. */
export interface ChangedRows {
  readonly since: string
  /**
   * Each such row, as it was and as it is, has one of these values in each of these columns: lists of their texts, as
   * JSON. There is one column at least.
   */
  readonly values: ReadonlyMap<string, readonly string[]>
}

/** The name of its file, by what it holds, so that an unchanged model keeps its file. */
export const fileOf = ({ model, version, exposedKey }: RowsContent): string =>
  `m-${hashOf(16, [SNAPSHOT_FORMAT, model, version, exposedKey])}.duckdb`
