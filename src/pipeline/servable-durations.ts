// Whether each INTERVAL can be served. A duration of OData and one of Arrow counts 64 bits of microseconds; an INTERVAL
// counts months, days and microseconds apart, and may be six hundred times as long.

import { parseType, type TypeTree } from '../core/type-syntax.ts'
import type { Column } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { ModelFailure } from './failure.ts'

/** Throws ModelFailure for a column with a value that no answer could contain. */
export async function requireServableDurations(
  connection: Connection,
  relation: Sql,
  columns: readonly Column[],
): Promise<void> {
  for (const { name, type } of columns) {
    if (!type.includes('INTERVAL')) continue
    const value = sql.ident(name)
    const microseconds = microsecondsIn(value, parseType(type))
    if (microseconds === null) continue
    const row = await connection.row(sql`
      SELECT left(${value}::VARCHAR, 100) AS text FROM ${relation}
      WHERE ${value} IS NOT NULL AND TRY(${microseconds}) IS NULL LIMIT 1`)
    if (row === null) continue
    throw new ModelFailure(
      `the column "${name}" has the INTERVAL ${row['text'] as string}, and a duration of more than about 292,000 years cannot be served: shorten it in the SELECT, or cast the column to VARCHAR`,
      { column: name },
    )
  }
}

/** An expression that fails where the service would; null: the value has no durations, or is served as its text. */
function microsecondsIn(value: Sql, tree: TypeTree, depth = 0): Sql | null {
  switch (tree.is) {
    case 'scalar':
      return tree.name === 'INTERVAL' ? sql`epoch_us(${value})` : null
    case 'list': {
      const item = sql.ident(`item${depth}`)
      const each = microsecondsIn(item, tree.element, depth + 1)
      return each && sql`list_transform(${value}, lambda ${item}: ${each})`
    }
    case 'struct': {
      const fields = Array.from(tree.fields).flatMap(([name, field]) => {
        const found = microsecondsIn(
          sql`struct_extract(${value}, ${sql.value(name)})`,
          field,
          depth,
        )
        return found === null ? [] : [found]
      })
      return fields.length === 0 ? null : sql`row(${sql.join(fields)})`
    }
    default:
      return null
  }
}
