// One table from one target to another. Its rows go by way of a database file next to the state of the destination, so
// that neither store has to know the other: one engine could not hold the keys of two lakes.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EnvironmentError } from '../../core/failures.ts'
import { sameName, splitModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { forgetMoved, noteMoved, type TableContent } from '../../store/moved-tables.ts'
import { createSchema, relationType } from '../build/materialize/relation.ts'
import { type SourceTable, inWordsOf, sideName, type OpenSide } from './sides.ts'
import { hashOf } from '../../core/hash.ts'
import type { Column } from '../../core/relation.ts'
import { hasScalar, parseType } from '../../core/type-syntax.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'

const CARRIER = '_eider_carrier'

export const carried = (table: string): Sql => sql.ident(CARRIER, 'main', table)

/** The results of queries, by name, as tables of `carried()` for `work` on the other side. */
export async function carry(
  { from, to, dir }: Ways,
  queries: Readonly<Record<string, Sql>>,
  work: () => Promise<void>,
): Promise<void> {
  const path = join(dir, 'carrier.duckdb')
  const file = sql.value(path)
  const name = sql.ident(CARRIER)
  await inWordsOf(from.side, async () => {
    // Without the version, types of later ones are refused.
    await from.connection.run(sql`ATTACH ${file} AS ${name} (STORAGE_VERSION 'latest')`)
    try {
      for (const [table, query] of Object.entries(queries))
        await from.connection.run(sql`CREATE TABLE ${carried(table)} AS ${query}`)
    } finally {
      await detach(from.connection)
    }
  })
  try {
    await inWordsOf(to.side, async () => {
      await to.connection.run(sql`ATTACH ${file} AS ${name} (READ_ONLY)`)
      try {
        await work()
      } finally {
        await detach(to.connection)
      }
    })
  } finally {
    for (const suffix of ['', '.wal']) await rm(path + suffix, { force: true })
  }
}

// The error before it says what happened.
const detach = (connection: Connection): Promise<unknown> =>
  connection.run(sql`DETACH ${sql.ident(CARRIER)}`).catch(() => undefined)

export interface Ways {
  readonly from: OpenSide
  readonly to: OpenSide
  /** For what is on its way. */
  readonly dir: string
}

/**
 * It is there whole, and known to be what it is in the source, or not at all. `again`: it was there before, and the source
 * has changed since. Throws EnvironmentError.
 */
export async function copyTable(
  ways: Ways,
  { name, columns }: SourceTable,
  { content, again }: { readonly content: TableContent; readonly again: boolean },
): Promise<void> {
  const { from, to } = ways
  const { state, tables } = to.side.store
  const { connection } = to
  const relation = sql.relation(name)
  const rows = sql`SELECT ${sql.idents(columns.map((column) => column.name))} FROM `
  await carry(ways, { rows: sql`${rows}${relation}` }, async () => {
    await state.change(connection, async () => {
      if (!again && (await isThere(connection, to, name)))
        throw new EnvironmentError(
          'move-refused',
          `another process has created ${name} in ${sideName(to.side)} meanwhile`,
          { hint: 'move into a target that nobody else uses yet' },
        )
      await connection.run(createSchema(name))
      const query = sql`${rows}${carried('rows')}`
      const statement = sql`CREATE OR REPLACE TABLE ${relation} AS ${query}`
      await tables.create(connection, name, { query, statement })
      await compare(connection, { name, columns }, content)
      if (again) await forgetMoved(connection, name)
      await noteMoved(connection, from.side.target ?? '', name, content)
    })
  })
}

/** A collector that began before the move may be at work. */
async function isThere(
  connection: Connection,
  { known }: OpenSide,
  name: SourceTable['name'],
): Promise<boolean> {
  if (relationType(known.catalog, name) !== null) return true
  const { schema, table } = splitModelName(name)
  const row = await connection.row(sql`
    SELECT 1 FROM duckdb_columns() WHERE database_name = current_database()
    AND lower(schema_name) = lower(${sql.value(schema)}) AND lower(table_name) = lower(${sql.value(table)}) LIMIT 1`)
  return row !== null
}

async function compare(
  connection: Connection,
  { name, columns }: SourceTable,
  content: TableContent,
): Promise<void> {
  const relation = sql.relation(name)
  const found = await describe(connection, sql`FROM ${relation}`)
  const isSame = ({ name: column, type }: (typeof columns)[number], i: number) =>
    sameName(column, found[i]?.name ?? '') && type === found[i]?.type
  const there =
    found.length === columns.length && columns.every(isSame)
      ? await contentOf(connection, relation, columns)
      : null
  if (there?.rows === content.rows && there.hash === content.hash) return
  const what =
    there === null
      ? 'its columns differ'
      : there.rows === content.rows
        ? 'its values differ'
        : `it has ${there.rows} rows instead of ${content.rows}`
  throw new EnvironmentError('move-differs', `${name} did not arrive unchanged: ${what}`, {
    hint: 'nothing of the table is kept; start the move again, and report it if it fails again',
  })
}

/**
 * What the rows of a table are known by, in any order: their number, and the sum of a hash of each. Rows that are there
 * twice count twice. A hash is taken of what the engine sorts rows by, which differs where values do, nested ones too, but
 * for a few types. So of columns with these their text counts as well: -0.0 sorts as 0.0.
 */
export async function contentOf(
  connection: Connection,
  relation: Sql,
  columns: readonly Column[],
): Promise<TableContent> {
  const row = await connection.row(sql`
    SELECT count(*)::VARCHAR AS rows, coalesce(sum(('0x' || left(hash, 16))::UBIGINT), 0)::VARCHAR AS high,
      coalesce(sum(('0x' || right(hash, 16))::UBIGINT), 0)::VARCHAR AS low
    FROM (SELECT md5(create_sort_key(ROW(${sql.join(columns.flatMap(parts))}, ''), 'ASC NULLS LAST')) AS hash
      FROM ${relation})`)
  const [rows, high, low] = ['rows', 'high', 'low'].map((name) => textOf(row?.[name]))
  return { rows: numberOf(rows), hash: hashOf(32, [rows, high, low]) }
}

const isNumberOrTime = (name: string) => ['FLOAT', 'DOUBLE', 'INTERVAL'].includes(name)
/** The same value can lie in it in several ways. */
const isVariant = (name: string) => name === 'VARIANT'

function parts({ name, type }: Column): readonly Sql[] {
  const column = sql.ident(name)
  const tree = parseType(type)
  const text = sql`CAST(${column} AS VARCHAR)`
  if (hasScalar(tree, isVariant)) return [text]
  return hasScalar(tree, isNumberOrTime) ? [column, text] : [column]
}
