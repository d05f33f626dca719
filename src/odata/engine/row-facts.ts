// Facts about a published file that only its rows tell, not the manifest. A file is not changed once it is published, and
// most files of a snapshot are those of the one before, so what was found in a file is not looked for again.

import { hashOf } from '../../core/hash.ts'
import { entitySetName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import {
  type PublishedRelation,
  rowsInAnyOrder,
  type Snapshot,
  type StoredRows,
} from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'
import { hasOutsidersSql, hasRange } from '../sql/temporal-range.ts'
import { edmTypeOf } from '../edm/types.ts'

/** Names of columns. */
export interface RowFacts {
  /** TINYINTs that hold a negative value. */
  readonly signedTinyints: ReadonlySet<string>
  /** Dates and times with a value out of the range of OData. */
  readonly clampedTimes: ReadonlySet<string>
}

/** By `factsKey`. */
export type KnownFacts = ReadonlyMap<string, RowFacts>

/** Equal for the same rows, unchanged since, of which the manifest says the same. */
export const factsKey = async (
  published: SnapshotReader,
  relation: PublishedRelation,
): Promise<string> => hashOf(32, [await published.identityOf(relation), relation])

/** Equal as long as the rows of the snapshot are the same ones, unchanged since. */
export async function rowsAre(published: SnapshotReader, { relations }: Snapshot): Promise<string> {
  return (await Promise.all(relations.map((relation) => published.identityOf(relation)))).join()
}

/** The file is attached. Throws when it holds something else than the manifest says. */
export async function readFacts(
  connection: Connection,
  relation: PublishedRelation,
  stored: StoredRows,
): Promise<RowFacts> {
  const { model, columns, file } = relation
  const name = entitySetName(model)
  const rows = sql.ident(...rowsInAnyOrder(stored, relation, name))
  // A response describes its rows by the manifest, so a file that holds something else must not be served.
  const there = await describe(connection, sql`FROM ${rows}`)
  const isSame = ({ name, type }: Column, i: number) =>
    columns[i]?.name === name && columns[i].type === type
  if (there.length !== columns.length || !there.every(isSame))
    throw new Error(`${file} does not have the columns that the manifest lists`)
  const tinyints = columns.filter(({ type }) => type === 'TINYINT')
  const times = columns.filter((column) => hasRange(typeOf(column)))
  const conditions = [
    ...tinyints.map(({ name }) => sql`(SELECT min(${sql.ident(name)}) < 0 FROM ${rows})`),
    ...times.map((column) => hasOutsidersSql(rows, column, typeOf(column))),
  ]
  const found = await connection.row(
    sql`SELECT (SELECT count(*) FROM ${rows}) AS n, [${sql.join(conditions)}] AS holds`,
  )
  if (Number(found?.['n']) !== relation.rows)
    throw new Error(`${file} does not have the number of rows that the manifest lists`)
  const holds = found?.['holds'] as readonly (boolean | null)[]
  const namesOf = (asked: readonly Column[], from: number) =>
    new Set(asked.map(({ name }) => name).filter((_, i) => holds[from + i] === true))
  return { signedTinyints: namesOf(tinyints, 0), clampedTimes: namesOf(times, tinyints.length) }
}

const typeOf = ({ type }: Column) => edmTypeOf(type, { negative: false, typeName: null })
