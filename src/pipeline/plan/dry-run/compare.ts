// Which rows differ between what a table holds and what it would hold: counts, and the first ones as texts.
//
// Only columns that both have are compared; those that come or go show in the diff of the schema.

import { limits } from '../../../core/limits.ts'
import { sameName } from '../../../core/names.ts'
import type { RowChange, RowChanges } from '../../../core/report/planned-changes.ts'
import type { Column, ColumnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { numberOf, type Row } from '../../../duckdb/values.ts'
import { letterByLetter, needsText, sameValues } from '../../build/materialize/stage.ts'

interface Comparison {
  readonly before: Sql
  readonly after: Sql
  readonly key: readonly string[]
  /** Rows that are only in `before` stay: the kind does not delete. */
  readonly keepsOthers?: boolean
}

/** change, k0, k1, …: the key of each row that differs, once compareByKey() has run. */
const CHANGES = sql`temp.main._eider_changes`
/** The columns of both, _eider_n: how many more of the row there are after than before. */
const ROWS = sql`temp.main._eider_row_changes`

/** `k` for the alias of CHANGES. */
export const onChangedKey = (key: readonly string[], side: Sql): Sql =>
  sql.all(
    key.map((name, i) => sql`k.${keyPart(i)} IS NOT DISTINCT FROM ${side}.${sql.ident(name)}`),
  )

const keyPart = (i: number) => sql.ident(`k${i}`)

/** Both relations have each key once. Leaves the keys in CHANGES. */
export async function compareByKey(
  connection: Connection,
  comparison: Comparison,
): Promise<RowChanges> {
  const { before, after, key, keepsOthers = false } = comparison
  const pairs = await pairsOf(connection, comparison)
  const values = pairs.filter(({ name }) => !key.some((part) => sameName(part, name)))
  const differs = values.map(({ differs }) => differs)
  const keys = key.map(
    (name, i) =>
      sql`CASE WHEN s._eider_there THEN s.${sql.ident(name)} ELSE t.${sql.ident(name)} END AS ${keyPart(i)}`,
  )
  const present = (relation: Sql) => sql`(SELECT *, true AS _eider_there FROM ${relation})`
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_changes AS
    SELECT CASE WHEN t._eider_there IS NULL THEN 'inserted' WHEN s._eider_there IS NULL THEN 'removed'
      ELSE 'changed' END AS change, ${sql.join(keys)}
    FROM ${present(before)} t ${keepsOthers ? sql`RIGHT` : sql`FULL`} JOIN ${present(after)} s
    ON ${sameValues(key, sql`t`, sql`s`)}
    WHERE t._eider_there IS NULL OR s._eider_there IS NULL${sql.join(
      differs.map((unequal) => sql` OR ${unequal}`),
      sql.empty,
    )}`)
  const counts = await connection.rows(
    sql`SELECT change, count(*) AS n FROM ${CHANGES} GROUP BY change`,
  )
  const count = (change: string) =>
    numberOf(counts.find((row) => row['change'] === change)?.['n'] ?? 0)
  const numbers = {
    inserted: count('inserted'),
    changed: count('changed'),
    removed: count('removed'),
  }
  const sample = counts.length === 0 ? [] : await sampleByKey(connection, comparison, pairs)
  return { ...numbers, key, sample }
}

async function sampleByKey(
  connection: Connection,
  { before, after, key }: Comparison,
  pairs: readonly Pair[],
): Promise<readonly RowChange[]> {
  const order = sql.join(key.map((_, i) => keyPart(i)))
  const first = (['inserted', 'changed', 'removed'] as const).map(
    (change) => sql`(FROM ${CHANGES} WHERE change = ${sql.value(change)}
      ORDER BY ${order} LIMIT ${sql.value(limits.plannedRows)})`,
  )
  const texts = (side: Sql) => sql`[${sql.join(pairs.map(({ name }) => textOf(side, name)))}]`
  const rows = await connection.rows(sql`
    SELECT k.change, ${texts(sql`t`)} AS t, ${texts(sql`s`)} AS s,
      [${sql.join(pairs.map(({ differs }) => differs))}] AS differs
    FROM (${sql.join(first, sql` UNION ALL `)}) k
    LEFT JOIN ${before} t ON ${onChangedKey(key, sql`t`)}
    LEFT JOIN ${after} s ON ${onChangedKey(key, sql`s`)}
    ORDER BY k.change = 'removed', k.change = 'changed', ${order}`)
  return rows.map((row) => changeOf(row, key, pairs))
}

function changeOf(row: Row, key: readonly string[], pairs: readonly Pair[]): RowChange {
  const values = (side: 't' | 's') => row[side] as readonly (string | null)[]
  const all = (side: 't' | 's') =>
    Object.fromEntries(pairs.map(({ name }, i) => [name, values(side)[i] ?? null]))
  const change = row['change'] as RowChange['change']
  if (change !== 'changed') return { change, row: all(change === 'removed' ? 't' : 's') }
  const differs = row['differs'] as readonly boolean[]
  const isKey = (name: string) => key.some((part) => sameName(part, name))
  const columns = pairs.flatMap(({ name }, i) =>
    differs[i] ? [[name, { from: values('t')[i] ?? null, to: values('s')[i] ?? null }]] : [],
  )
  const named = Object.entries(all('s')).filter(([name]) => isKey(name))
  return { change, key: Object.fromEntries(named), columns: Object.fromEntries(columns) }
}

/** For rows without a key. A row that is there twice and will be there once is one that is removed. */
export async function compareRows(
  connection: Connection,
  comparison: Pick<Comparison, 'before' | 'after'>,
): Promise<RowChanges | null> {
  const { before, after } = comparison
  const pairs = await pairsOf(connection, { ...comparison, key: [] })
  if (pairs.length === 0) return null
  const values = sql.join(
    pairs.map(({ name, type, asText }) => {
      const column = sql.ident(name)
      return sql`${asText ? sql`CAST(${column} AS VARCHAR)` : letterByLetter(column, type)} AS ${column}`
    }),
  )
  const names = sql.idents(pairs.map(({ name }) => name))
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_row_changes AS
    SELECT ${names}, sum(_eider_d)::BIGINT AS _eider_n
    FROM (SELECT ${values}, 1 AS _eider_d FROM ${after} UNION ALL SELECT ${values}, -1 FROM ${before})
    GROUP BY ${names} HAVING sum(_eider_d) <> 0`)
  const counts = await connection.row(sql`
    SELECT coalesce(sum(_eider_n) FILTER (_eider_n > 0), 0)::BIGINT AS inserted,
      coalesce(-sum(_eider_n) FILTER (_eider_n < 0), 0)::BIGINT AS removed FROM ${ROWS}`)
  const texts = sql.join(pairs.map(({ name }) => textOf(sql`r`, name)))
  const first = (sign: Sql) => sql`(SELECT _eider_n > 0 AS new, [${texts}] AS row FROM ${ROWS} r
    WHERE _eider_n ${sign} 0 ORDER BY ${names} LIMIT ${sql.value(limits.plannedRows)})`
  const rows = await connection.rows(sql`${first(sql`>`)} UNION ALL ${first(sql`<`)}`)
  await connection.run(sql`DROP TABLE ${ROWS}`)
  const sample = rows.map((row): RowChange => {
    const given = row['row'] as readonly (string | null)[]
    const named = pairs.map(({ name }, i) => [name, given[i] ?? null])
    return { change: row['new'] === true ? 'inserted' : 'removed', row: Object.fromEntries(named) }
  })
  const [inserted, removed] = [numberOf(counts?.['inserted']), numberOf(counts?.['removed'])]
  return { inserted, changed: 0, removed, key: [], sample }
}

interface Pair {
  readonly name: string
  readonly type: ColumnType
  /** The types differ, or equal values may print differently: the texts are compared. */
  readonly asText: boolean
  /** True of rows `t` and `s` with other values in it. */
  readonly differs: Sql
}

async function pairsOf(
  connection: Connection,
  { before, after }: Pick<Comparison, 'before' | 'after' | 'key'>,
): Promise<readonly Pair[]> {
  const old = await describe(connection, sql`FROM ${before}`)
  const now: readonly Column[] = await describe(connection, sql`FROM ${after}`)
  return now.flatMap(({ name, type }) => {
    const was = old.find((column) => sameName(column.name, name))
    if (was === undefined) return []
    const asText = was.type !== type || needsText(type)
    const value = (side: Sql) => {
      const column = sql`${side}.${sql.ident(name)}`
      return asText ? sql`CAST(${column} AS VARCHAR)` : letterByLetter(column, type)
    }
    return [
      { name, type, asText, differs: sql`${value(sql`t`)} IS DISTINCT FROM ${value(sql`s`)}` },
    ]
  })
}

const textOf = (side: Sql, name: string) =>
  sql`left(CAST(${side}.${sql.ident(name)} AS VARCHAR), ${sql.value(limits.shownRowCharacters)})`
