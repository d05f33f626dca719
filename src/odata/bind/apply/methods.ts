// The methods of aggregate: which types they take and give, and their SQL (Data Aggregation 4.0, section 3.2.1).
//
// Totals are exact: integers are added as 128-bit numbers, decimals with twelve digits more than they have, 38 at most;
// what is beyond fails in the engine, which the service answers with 400.

import { type Sql, sql } from '../../../core/sql.ts'
import { didYouMean } from '../../../core/suggest.ts'
import { odataError, unsupported } from '../../protocol/errors.ts'
import { isInteger, isNumber, MAX_PRECISION } from '../../edm/numbers.ts'
import { decimalType, edm, type EdmType, hugeDecimal } from '../../edm/types.ts'

/** What a method makes of values: the type of the total, and its SQL. */
export interface MethodTotal {
  readonly type: EdmType
  readonly sql: (values: Sql) => Sql
}

/** How values are put together: those of the rows of a group, or those of a list. */
interface Aggregator {
  readonly sum: (values: Sql) => Sql
  readonly min: (values: Sql) => Sql
  readonly max: (values: Sql) => Sql
  readonly average: (values: Sql) => Sql
  readonly count: (values: Sql) => Sql
  readonly distinct: (values: Sql) => Sql
}

export const ofRows: Aggregator = {
  sum: (values) => sql`sum(${values})`,
  min: (values) => sql`min(${values})`,
  max: (values) => sql`max(${values})`,
  average: (values) => sql`avg(${values})`,
  count: (values) => sql`count(${values})`,
  distinct: (values) => sql`count(DISTINCT ${values})`,
}

export const ofList: Aggregator = {
  sum: (values) => sql`list_sum(${values})`,
  min: (values) => sql`list_min(${values})`,
  max: (values) => sql`list_max(${values})`,
  average: (values) => sql`list_avg(${values})`,
  count: (values) => sql`CAST(coalesce(list_count(${values}), 0) AS BIGINT)`,
  distinct: (values) => sql`CAST(coalesce(len(list_distinct(${values})), 0) AS BIGINT)`,
}

type Method = (type: EdmType, name: string, of: Aggregator) => MethodTotal

const methods: Readonly<Record<string, Method>> = {
  sum: sumOf,
  min: (type, _, { min }) => ({ type, sql: min }),
  max: (type, _, { max }) => ({ type, sql: max }),
  average: averageOf,
  avg: averageOf,
  count: (_, _name, { count }) => ({ type: edm.Int64, sql: count }),
  countdistinct: (_, _name, { distinct }) => ({ type: edm.Int64, sql: distinct }),
}

export function methodNamed(name: string, at: number): Method {
  const folded = name.toLowerCase()
  if (Object.hasOwn(methods, folded)) return methods[folded]!
  if (name.includes('.')) throw unsupported(`the aggregation method ${name}`)
  const hint = didYouMean(name, Object.keys(methods))
  const problem = `there is no aggregation method "${name}" (at character ${at + 1})`
  throw odataError('unknown-function', hint === undefined ? problem : `${problem}: ${hint}`)
}

function requireNumber(type: EdmType, method: string): void {
  if (type.name === 'Edm.Duration') throw unsupported(`${method} of Edm.Duration`)
  if (!isNumber(type)) throw odataError('type-mismatch', `${method} does not take ${type.name}`)
}

/** Rows are never so many that a sum of 32-bit integers leaves 64 bits. */
function sumOf(type: EdmType, method: string, { sum }: Aggregator): MethodTotal {
  requireNumber(type, method)
  const result = sumType(type)
  return { type: result, sql: (value) => sql`CAST(${sum(value)} AS ${sql.type(result.engine)})` }
}

function sumType(type: EdmType): EdmType {
  if (type.name === 'Edm.Int64') return hugeDecimal
  if (isInteger(type)) return edm.Int64
  if (type.name !== 'Edm.Decimal') return edm.Double
  if (type.precision! > MAX_PRECISION) return type
  return decimalType(Math.min(MAX_PRECISION, type.precision! + ROW_DIGITS), type.scale!)
}

/** Digits of the number of rows: no table has more. A sum that took all digits would leave none for its average. */
const ROW_DIGITS = 12

/** Digits that the average of decimals has beyond those of the values, as far as there is room. */
const AVERAGE_DIGITS = 10

function averageOf(type: EdmType, method: string, of: Aggregator): MethodTotal {
  requireNumber(type, method)
  if (type.name !== 'Edm.Decimal' || type.precision! > MAX_PRECISION)
    return { type: edm.Double, sql: (value) => sql`CAST(${of.average(value)} AS DOUBLE)` }
  const more = Math.min(AVERAGE_DIGITS, MAX_PRECISION - type.precision!)
  const result = decimalType(MAX_PRECISION, type.scale! + more)
  return {
    type: result,
    sql: (value) => decimalAverage(of.sum(value), of.count(value), type.scale!, more, result),
  }
}

/**
 * The engine divides decimals as doubles. Here the sum is divided as an integer, in units of its last digit; quotient
 * and remainder apart, so that nothing leaves 128 bits. The last digit is rounded half away from zero.
 */
function decimalAverage(
  sum: Sql,
  count: Sql,
  scale: number,
  more: number,
  { engine }: EdmType,
): Sql {
  const shift = sql.value(`1${'0'.repeat(more)}`, hugeDecimal.engine)
  const units = sql`CAST(replace(CAST(abs(${sum}) AS VARCHAR), '.', '') AS HUGEINT)`
  const values = sql`CAST(${count} AS HUGEINT)`
  const rest = sql`((${units} % ${values}) * ${shift} * 2 + ${values}) // (2 * ${values})`
  const digits = sql`lpad(CAST((${units} // ${values}) * ${shift} + ${rest} AS VARCHAR), ${sql.value(60)}, '0')`
  const places = sql.value(scale + more)
  const text = sql`concat(CASE WHEN ${sum} < 0 THEN '-' END, left(${digits}, 60 - ${places}), '.', right(${digits}, ${places}))`
  return sql`CASE WHEN ${count} > 0 THEN CAST(${text} AS ${sql.type(engine)}) END`
}
