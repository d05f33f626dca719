// What the rows of a table are known by, in any order: their number, and the sum of a hash of each. Rows that are there
// twice count twice. A hash is taken of what the engine sorts rows by, which differs where values do, nested ones too, but
// for a few types. So of columns with these their text counts as well: -0.0 sorts as 0.0.

import { hashOf } from '../../core/hash.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { hasScalar, parseType } from '../../core/type-syntax.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { TableContent } from '../../store/moved-tables.ts'

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
