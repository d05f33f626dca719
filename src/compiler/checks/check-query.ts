// Checks as queries: the rows that a check finds wrong.

import type { Check, Comparison } from '../../core/model.ts'
import { type ModelBody, type Sql, sql } from '../../core/sql.ts'
import type { ColumnType } from '../../core/relation.ts'

export const checkedRows = (model: string, where?: ModelBody): Sql =>
  where === undefined
    ? sql.relation(model)
    : sql`(FROM ${sql.relation(model)} WHERE (${sql.body(where)}\n))`

/**
 * Rows of those that the check looks at which fail the test; for `unique` a key with its rows, for `row_count` the count.
 */
export function failingRows(model: string, { test, where }: Pick<Check, 'test' | 'where'>): Sql {
  const rows = checkedRows(model, where)
  switch (test.is) {
    case 'not_null':
      return sql`FROM ${rows} WHERE ${sql.any(each(test.columns, sql`IS NULL`))}`
    case 'unique': {
      const names = sql.idents(test.columns)
      return sql`SELECT ${names}, count(*) AS "rows" FROM ${rows}
        WHERE ${sql.all(each(test.columns, sql`IS NOT NULL`))}
        GROUP BY ${names} HAVING count(*) > 1`
    }
    case 'accepted': {
      const values = sql.join(test.values.map((value) => sql.value(value, test.type)))
      return sql`FROM ${rows} WHERE ${sql.ident(test.column)} NOT IN (${values})`
    }
    case 'references':
      return sql`FROM ${rows} AS ours WHERE ours.${sql.ident(test.column)} IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM ${sql.relation(test.model)} AS theirs
          WHERE theirs.${sql.ident(test.target)} = ours.${sql.ident(test.column)})`
    case 'row_count': {
      const holds = sql`count(*) ${comparisons[test.comparison]} ${sql.value(test.rows)}`
      return sql`SELECT count(*) AS "row_count" FROM ${rows} HAVING NOT (${holds})`
    }
    case 'query':
      return sql`FROM (${sql.body(test.body)}\n)`
    case 'condition':
      return sql`${beforeCondition(model)}${sql.body(test.body)}\n)`
  }
}

/** What stands before the author's SQL. */
export const beforeCondition = (model: string): Sql => sql`FROM ${sql.relation(model)} WHERE NOT (`

const comparisons: Readonly<Record<Comparison, Sql>> = {
  '=': sql`=`,
  '<>': sql`<>`,
  '<': sql`<`,
  '<=': sql`<=`,
  '>': sql`>`,
  '>=': sql`>=`,
}

const each = (columns: readonly string[], test: Sql): readonly Sql[] =>
  columns.map((name) => sql`${sql.ident(name)} ${test}`)

/** Types that DuckDB rounds text to, or whose rest it does not read, with one that keeps what they drop. */
const WIDER = [
  [/^(?:DATE|TIMESTAMP_M?S)$/, sql`TIMESTAMP`],
  [/INT(?:EGER)?$|^DECIMAL/, sql`DOUBLE`],
] as const

/**
 * A condition: DuckDB cannot read `text`, a VARCHAR, as a value of `type`, or would change it: it rounds 1.5 to an integer
 * and drops the time of a DATE, silently.
 */
export function isNoValue(text: Sql, type: ColumnType): Sql {
  const value = sql`TRY_CAST(${text} AS ${sql.type(type)})`
  const wider = WIDER.find(([types]) => types.test(type))?.[1]
  return wider === undefined
    ? sql`${value} IS NULL`
    : sql`(${value} IS NULL OR TRY_CAST(${text} AS ${wider})
        IS DISTINCT FROM TRY_CAST(CAST(${value} AS VARCHAR) AS ${wider}))`
}
