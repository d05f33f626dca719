// The methods of aggregate: which types they take and return (Data Aggregation 4.0, section 3.2.1).
//
// Totals are exact: integers are added as 128-bit numbers, decimals with twelve digits more than they have, 38 at most;
// what is beyond fails in DuckDB, which the service answers with 400.

import { didYouMean } from '../../../core/suggest.ts'
import { odataError, unsupported, typeMismatch } from '../../protocol/errors.ts'
import {
  type AggregateMethod,
  aggregateMethods,
  isAggregateMethod,
} from '../../syntax/transformations.ts'
import { isInteger, isNumberType, MAX_PRECISION } from '../../edm/numbers.ts'
import { decimalType, edm, type EdmType, hugeDecimal } from '../../edm/types.ts'

/** What totals are called in the bound request. Each has its SQL in sql/methods.ts. */
export type TotalMethod =
  | 'sum'
  | 'min'
  | 'max'
  | 'average'
  /** The average of decimals. */
  | 'exactAverage'
  /** These two count values that are not null. */
  | 'count'
  | 'countdistinct'
  /** The number of rows. */
  | 'rowCount'
  /** The sum of values that are counts. */
  | 'sumOfCounts'

interface MethodTotal {
  readonly method: TotalMethod
  readonly type: EdmType
}

/** `type` is that of the values, `name` what the caller calls the method. */
type Method = (type: EdmType, name: string) => MethodTotal

const methods: Readonly<Record<AggregateMethod, Method>> = {
  sum: sumOf,
  min: (type) => ({ method: 'min', type }),
  max: (type) => ({ method: 'max', type }),
  average: averageOf,
  avg: averageOf,
  count: () => ({ method: 'count', type: edm.Int64 }),
  countdistinct: () => ({ method: 'countdistinct', type: edm.Int64 }),
}

export function methodNamed(name: string, at: number): Method {
  const folded = name.toLowerCase()
  if (isAggregateMethod(folded)) return methods[folded]
  if (name.includes('.')) throw unsupported(`the aggregation method ${name}`)
  const hint = didYouMean(name, aggregateMethods)
  const problem = `there is no aggregation method "${name}" (at character ${at + 1})`
  throw odataError('unknown-function', hint === undefined ? problem : `${problem}: ${hint}`)
}

function requireNumber(type: EdmType, method: string): void {
  if (type.name === 'Edm.Duration') throw unsupported(`${method} of Edm.Duration`)
  if (!isNumberType(type)) throw typeMismatch(`${method} does not take ${type.name}`)
}

/** Rows are never so many that a sum of 32-bit integers leaves 64 bits. */
function sumOf(type: EdmType, name: string): MethodTotal {
  requireNumber(type, name)
  return { method: 'sum', type: sumType(type) }
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

function averageOf(type: EdmType, name: string): MethodTotal {
  requireNumber(type, name)
  if (type.name !== 'Edm.Decimal' || type.precision! > MAX_PRECISION)
    return { method: 'average', type: edm.Double }
  const more = Math.min(AVERAGE_DIGITS, MAX_PRECISION - type.precision!)
  return { method: 'exactAverage', type: decimalType(MAX_PRECISION, type.scale! + more) }
}
