// Whole numbers of JSON that a DOUBLE cannot hold: two long ids would become one. DuckDB takes this type for a column that has
// a number beyond its integers, or a fraction.

import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { parseType, type TypeTree, withText } from '../../core/type-syntax.ts'
import type { Connection } from '../../duckdb/database.ts'
import { short } from '../csv/misread-numbers.ts'

interface LostDigits {
  readonly column: string
  readonly problem: string
  /** A type of the column that keeps each number as it is written. */
  readonly type: string
}

/**
 * `readAs`: the rows with these types of these columns, and no others; `columns`: with the types by which they are read.
 * Looks at each row.
 */
export async function lostDigits(
  connection: Connection,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  readAs: (types: Sql) => Sql,
): Promise<LostDigits | null> {
  const found = columns.flatMap(({ name, type }) => {
    const numbers = numbersIn(parseType(type), sql.ident(name))
    const asText = withText(type, (scalar) => scalar === 'DOUBLE')
    return numbers === null ? [] : [{ name, numbers, asText }]
  })
  if (found.length === 0) return null
  const types = found.map(({ name, asText }) => sql`${sql.ident(name)}: ${sql.value(asText)}`)
  const each = found.map(
    ({ numbers }, i) =>
      sql`min(list_filter(${numbers}, lambda x: ${isLost(sql`x`)})[1]) AS ${sql.ident(`v${i}`)}`,
  )
  const row = await connection.row(
    sql`SELECT ${sql.join(each)} FROM (${readAs(sql`{${sql.join(types)}}`)})`,
  )
  for (const [i, { name: column, asText: type }] of found.entries()) {
    const value = row?.[`v${i}`]
    if (typeof value !== 'string') continue
    const problem = `the column "${column}" has ${short(value)}, which would lose digits: DuckDB reads it as DOUBLE`
    return { column, problem, type }
  }
  return null
}

/** The list of the texts where the type has a DOUBLE; null: it has none. */
function numbersIn(tree: TypeTree, value: Sql): Sql | null {
  switch (tree.is) {
    case 'scalar':
      return tree.name === 'DOUBLE' ? sql`[${value}]` : null
    case 'list':
      return numbersOfEach(tree.element, value)
    case 'map':
      return numbersOfEach(tree.value, sql`map_values(${value})`)
    case 'struct': {
      const parts = Array.from(
        tree.fields,
        ([name, field]) =>
          numbersIn(field, sql`struct_extract(${value}, ${sql.value(name)})`) ?? [],
      ).flat()
      return parts.length === 0 ? null : sql`flatten([${sql.join(parts)}])`
    }
    default:
      return null
  }
}

function numbersOfEach(element: TypeTree, list: Sql): Sql | null {
  const numbers = numbersIn(element, sql`e`)
  return numbers === null ? null : sql`flatten(list_transform(${list}, lambda e: ${numbers}))`
}

/**
 * A number that a double holds is written with its digits, or with as many as tell it from other doubles, as JavaScript does.
 * Up to 15 digits are always held.
 */
function isLost(text: Sql): Sql {
  const number = sql`TRY_CAST(${text} AS DOUBLE)`
  const told = sql`replace(regexp_replace(CAST(${number} AS VARCHAR), 'e.*$', ''), '.', '')`
  return sql`length(${text}) > 15 AND regexp_full_match(${text}, '-?[0-9]+')
    AND trim(${told}, '-0') <> trim(${text}, '-0')
    AND TRY_CAST(${number} AS HUGEINT) IS DISTINCT FROM TRY_CAST(${text} AS HUGEINT)`
}
