// What is published in a lake: the table `published` (layout.ts), a row for each retained state.
//
// `manifest` is that of core/snapshot.ts, except for the sizes of files, which are 0: each machine has other files. In
// addition, each relation has `at`, a state of the lake in which its rows are as published, and `evaluated` for a view
// whose rows lie in a table of their own.

import { hashOf } from '../../core/hash.ts'
import { LAKE_DATABASE } from '../../core/lake.ts'
import type { ModelName } from '../../core/names.ts'
import {
  parseManifest,
  printManifest,
  type PublishedRelation,
  type Snapshot,
  SNAPSHOT_FORMAT,
} from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { STATE_SCHEMA } from '../state.ts'

export interface LakeRelation extends PublishedRelation {
  readonly at: string
  readonly evaluated: boolean
}

export interface LakeSnapshot extends Snapshot {
  readonly relations: readonly LakeRelation[]
}

export interface PublishedState {
  readonly seq: number
  readonly id: string
  /** Of the run that has published it. */
  readonly runId: string
  readonly publishedAt: Date
}

/** Youngest first; none where no run has been there, or one died before it had made the table. */
export async function readStates(connection: Connection): Promise<readonly PublishedState[]> {
  if (!(await hasStates(connection))) return []
  const rows = await connection.rows(sql`
    SELECT seq, id, run_id, epoch_ms(published_at)::VARCHAR AS ms FROM _eider.published ORDER BY seq DESC`)
  return rows.map(({ seq, id, run_id, ms }) => ({
    seq: numberOf(seq),
    id: textOf(id),
    runId: textOf(run_id),
    publishedAt: new Date(numberOf(ms)),
  }))
}

/** null where it is no longer retained. */
export async function readStateOf(
  connection: Connection,
  { id, runId }: Pick<PublishedState, 'id' | 'runId'>,
): Promise<LakeSnapshot | null> {
  const row = await connection.row(sql`
    SELECT manifest::VARCHAR AS manifest FROM _eider.published
    WHERE id = ${sql.value(id)} AND run_id = ${sql.value(runId)} ORDER BY seq DESC LIMIT 1`)
  return row === null ? null : parseState(textOf(row['manifest']))
}

export async function hasStates(connection: Connection): Promise<boolean> {
  const table = await connection.row(sql`
    SELECT 1 FROM duckdb_columns() WHERE database_name = ${sql.value(LAKE_DATABASE)}
    AND schema_name = ${sql.value(STATE_SCHEMA)} AND table_name = 'published' LIMIT 1`)
  return table !== null
}

/** null where it is no longer retained. */
export async function readState(
  connection: Connection,
  { seq }: Pick<PublishedState, 'seq'>,
): Promise<LakeSnapshot | null> {
  const row = await connection.row(sql`
    SELECT manifest::VARCHAR AS manifest FROM _eider.published WHERE seq = ${sql.value(seq)}`)
  return row === null ? null : parseState(textOf(row['manifest']))
}

/** The one that services show, or are about to. */
export interface NewestState {
  readonly seq: number
  readonly snapshot: LakeSnapshot
}

/** In the transaction of the caller; null before the first publication. */
export async function readNewest(connection: Connection): Promise<NewestState | null> {
  // Few are retained, and for ORDER BY with LIMIT the table would be scanned twice.
  const row = await connection.row(sql`
    SELECT max(seq) AS seq, arg_max(manifest, seq)::VARCHAR AS manifest FROM _eider.published`)
  if (row?.['seq'] == null) return null
  return { seq: numberOf(row['seq']), snapshot: parseState(textOf(row['manifest'])) }
}

export function parseState(text: string): LakeSnapshot {
  const snapshot = parseManifest(text)
  const { relations } = JSON.parse(text) as { readonly relations: readonly LakeRelation[] }
  return {
    ...snapshot,
    relations: snapshot.relations.map((relation, i) => {
      const { at, evaluated } = relations[i]!
      return { ...relation, at, evaluated }
    }),
  }
}

export const printState = (snapshot: LakeSnapshot): string => printManifest(snapshot)

/** The same for the same rows and columns, wherever in the lake they are. */
export const identityOf = (relations: readonly LakeRelation[]): string =>
  hashOf(16, [
    SNAPSHOT_FORMAT,
    relations.map(({ at: _at, evaluated: _evaluated, bytes: _bytes, ...rest }) => rest),
  ])

/** The table in the schema of stored rows that holds those of an exposed view. */
export const evaluatedTable = (model: ModelName): string => `view ${model.toLowerCase()}`
