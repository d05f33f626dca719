// The SQL of the methods of aggregate: one value of all values of the rows of a group, or of those that links lead to from them.

import { ModelBody, type Sql, sql } from '../../core/sql.ts'
import { type Total, typeOf } from '../bind/bound.ts'
import type { TotalMethod } from '../bind/apply/aggregate-method.ts'
import { type EdmType, hugeDecimal } from '../edm/types.ts'

/** How values are put together: those of the rows of a group, or those of a list. */
type Aggregator = Readonly<
  Record<'sum' | 'min' | 'max' | 'average' | 'count' | 'distinct', (values: Sql) => Sql>
> & {
  /** What an operator makes of each value. */
  readonly each: (values: Sql, operator: Sql, by: Sql) => Sql
}

const ofRows: Aggregator = {
  sum: (values) => sql`sum(${values})`,
  min: (values) => sql`min(${values})`,
  max: (values) => sql`max(${values})`,
  average: (values) => sql`avg(${values})`,
  count: (values) => sql`count(${values})`,
  distinct: (values) => sql`count(DISTINCT ${values})`,
  each: (values, operator, by) => sql`(${values} ${operator} ${by})`,
}

const ofList: Aggregator = {
  sum: (values) => sql`list_sum(${values})`,
  min: (values) => sql`list_min(${values})`,
  max: (values) => sql`list_max(${values})`,
  average: (values) => sql`list_avg(${values})`,
  count: (values) => sql`CAST(coalesce(list_count(${values}), 0) AS BIGINT)`,
  distinct: (values) => sql`CAST(coalesce(len(list_distinct(${values})), 0) AS BIGINT)`,
  each: (values, operator, by) => sql`list_transform(${values}, lambda one: one ${operator} ${by})`,
}

type PrintTotal = (values: Sql, of: Aggregator, total: Total) => Sql

const methodSql: Readonly<Record<TotalMethod, PrintTotal>> = {
  sum: (values, of, { type }) => castTo(type, of.sum(values)),
  min: (values, of) => of.min(values),
  max: (values, of) => of.max(values),
  average: (values, of, { value }) =>
    typeOf(value!)?.engine.endsWith('HUGEINT') === true
      ? hugeAverage(values, of)
      : sql`CAST(${of.average(values)} AS DOUBLE)`,
  exactAverage: (values, of, { type, value }) =>
    exactAverage(of.sum(values), of.count(values), typeOf(value!)!, type),
  count: (values, of) => of.count(values),
  countdistinct: (values, of) => of.distinct(values),
  rowCount: () => sql`count(*)`,
  measure: (_values, _of, { type, measure }) =>
    castTo(type, sql`(${sql.body(ModelBody.published(measure!.name, measure!.sql))})`),
  sumOfCounts: (counts) => sql`CAST(coalesce(sum(${counts}), 0) AS BIGINT)`,
}

/** `value` is that of the total as SQL, which is of one row; empty where it has none. */
export function totalSql(total: Total, value: Sql): Sql {
  const isGathered = total.value?.kind === 'gathered'
  return isGathered
    ? methodSql[total.method](valuesOfPairs(value), ofList, total)
    : methodSql[total.method](value, ofRows, total)
}

/** Each entity once, however many rows lead to it. */
const valuesOfPairs = (pairs: Sql) =>
  sql`list_transform(list_distinct(flatten(list(${pairs}))), lambda pair: pair.v)`

const castTo = ({ engine }: EdmType, value: Sql) => sql`CAST(${value} AS ${sql.type(engine)})`

/** Their sum may leave 128 bits; the sums of their halves do not. */
function hugeAverage(values: Sql, of: Aggregator): Sql {
  const half = sql.value(String(2n ** 64n), hugeDecimal.engine)
  const partOf = (operator: Sql) => of.average(of.each(values, operator, half))
  return sql`CAST(${partOf(sql`//`)} AS DOUBLE) * CAST(${half} AS DOUBLE) + CAST(${partOf(sql`%`)} AS DOUBLE)`
}

/**
 * DuckDB divides decimals as doubles. Here the sum is divided as an integer, in units of its last digit; quotient
 * and remainder apart, so that nothing leaves 128 bits. The last digit is rounded half away from zero. A macro would be
 * shorter still, but the statement would mean nothing wherever it is shown or run without it.
 */
function exactAverage(sum: Sql, count: Sql, values: EdmType, result: EdmType): Sql {
  const shift = sql.value(`1${'0'.repeat(result.scale! - values.scale!)}`, hugeDecimal.engine)
  const units = sql`CAST(replace(CAST(abs(${sum}) AS VARCHAR), '.', '') AS HUGEINT)`
  const number = sql`CAST(${count} AS HUGEINT)`
  const rest = sql`((${units} % ${number}) * ${shift} * 2 + ${number}) // (2 * ${number})`
  const digits = sql`CAST((${units} // ${number}) * ${shift} + ${rest} AS VARCHAR)`
  const fraction = sql.value(`(.{${result.scale}})$`)
  const text = sql`concat(CASE WHEN ${sum} < 0 THEN '-' END, regexp_replace(lpad(${digits}, 60, '0'), ${fraction}, '.\\1'))`
  return sql`CASE WHEN ${count} > 0 THEN ${castTo(result, text)} END`
}
