// Columns of a CSV that DuckDB takes for text, since their numbers have commas.

import type { CsvSettings } from '../../core/csv-settings.ts'
import { limits } from '../../core/limits.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { wayOfCommas } from './options.ts'

interface CommaColumn {
  readonly column: string
  readonly example: string
  /** What to write next to `csv`. */
  readonly way: string
}

/** `texts`: the rows with each value as it is written; `columns`: those whose types nobody has declared. */
export async function numbersWithCommas(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  { decimal, thousands }: CsvSettings = {},
): Promise<readonly CommaColumn[]> {
  if (decimal !== undefined || thousands !== undefined) return []
  // What is no name has a mistake of its own.
  const isNamed = (name: string) => name !== '' && !name.includes('\0')
  const found = columns.filter(({ name, type }) => type === 'VARCHAR' && isNamed(name))
  if (found.length === 0) return []
  const some = sql`(SELECT * FROM (${texts}) LIMIT ${sql.value(limits.csvSampledRows)})`
  const examples = found.map(({ name }, i) => {
    const text = sql.ident(name)
    const areAll = (pattern: string) =>
      sql`bool_and(regexp_full_match(${text}, ${sql.value(pattern)}))`
    const hasComma = sql`contains(${text}, ',')`
    return sql`min(${text}) FILTER (WHERE ${hasComma}) AS ${sql.ident(`e${i}`)},
      ${areAll(IN_THOUSANDS)} AS ${sql.ident(`t${i}`)}, ${areAll(WITH_COMMA)} AS ${sql.ident(`d${i}`)},
      bool_or(contains(${text}, '.')) AS ${sql.ident(`p${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(examples)} FROM ${some}`)
  return found.flatMap(({ name }, i) => {
    const example = row?.[`e${i}`]
    const [areThousands, areDecimals] = [row?.[`t${i}`] === true, row?.[`d${i}`] === true]
    if (typeof example !== 'string' || !(areThousands || areDecimals)) return []
    const way = wayOfCommas({ areThousands, areDecimals, haveDots: row?.[`p${i}`] === true })
    return [{ column: name, example, way }]
  })
}

/** Of some numbers, those that are whole, nothing is written behind the comma. */
const WITH_COMMA = String.raw`\s*-?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?\s*`
/** As English writes 1,234. With one comma, nothing tells it from decimals of which there are three. */
const IN_THOUSANDS = String.raw`\s*-?\d{1,3}(?:,\d{3})*\s*`
