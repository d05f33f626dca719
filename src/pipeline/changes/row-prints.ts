// What the columns and the rows of a query are, in a few bytes, in whatever order the rows come.

import { hashOf } from '../../core/hash.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'

interface RowsPrint {
  readonly rows: number
  readonly print: string
}

export async function printOf(connection: Connection, query: Sql): Promise<RowsPrint> {
  const columns = await describe(connection, query)
  const row = await connection.row(sql`
    SELECT count(*) AS n, CAST(sum(h) AS VARCHAR) AS added, CAST(bit_xor(h) AS VARCHAR) AS mixed
    FROM (SELECT hash(${rowParts(columns)}) AS h FROM (${query}) AS _eider_row)`)
  const rows = numberOf(row?.['n'])
  const all = ['added', 'mixed'].map((name) => textOf(row?.[name] ?? ''))
  const named = columns.map(({ name, type }) => [name, type])
  return { rows, print: hashOf(16, [named, rows, all]) }
}

/** What hash() is to be given of a row that the query calls `_eider_row`, so that rows which differ have two hashes. */
export const rowParts = (columns: readonly Column[]): Sql => sql.join(columns.flatMap(partsOf))

/** Types of which two values that differ have two hashes, as far as there are enough of them. */
const PLAIN =
  /^(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|DECIMAL\((\d|1[0-8]),\d+\)|VARCHAR|JSON|BLOB|DATE|TIME|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE|ENUM\(.*\))$/

/**
 * To the hash 0 and -0 are the same, and so are a month and 30 days, a list without elements and none. Of numbers the sign
 * tells, of others their texts, which take ten times as long as a hash.
 */
function partsOf({ name, type }: Column): readonly Sql[] {
  const value = sql`_eider_row.${sql.ident(name)}`
  if (PLAIN.test(type)) return [value]
  if (type === 'DOUBLE' || type === 'FLOAT') return [value, sql`signbit(${value})`]
  return [value, sql`CAST(${value} AS VARCHAR)`]
}
