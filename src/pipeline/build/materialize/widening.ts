// Types that hold every value of another one: a cast of all rows to them loses nothing.

import { isDeepStrictEqual } from 'node:util'
import { foldCase } from '../../../core/names.ts'
import { type ColumnType, columnType } from '../../../core/relation.ts'
import { parseType, type TypeTree } from '../../../core/type-syntax.ts'

// Decimal digits before the point that each integer type needs.
const integerDigits: Readonly<Record<string, number>> = {
  TINYINT: 3,
  UTINYINT: 3,
  SMALLINT: 5,
  USMALLINT: 5,
  INTEGER: 10,
  UINTEGER: 10,
  BIGINT: 19,
  UBIGINT: 20,
}

const widenings: Readonly<Record<string, string>> = {
  TINYINT: 'SMALLINT INTEGER BIGINT HUGEINT FLOAT DOUBLE',
  SMALLINT: 'INTEGER BIGINT HUGEINT FLOAT DOUBLE',
  INTEGER: 'BIGINT HUGEINT DOUBLE',
  BIGINT: 'HUGEINT',
  UTINYINT: 'USMALLINT UINTEGER UBIGINT UHUGEINT SMALLINT INTEGER BIGINT HUGEINT FLOAT DOUBLE',
  USMALLINT: 'UINTEGER UBIGINT UHUGEINT INTEGER BIGINT HUGEINT FLOAT DOUBLE',
  UINTEGER: 'UBIGINT UHUGEINT BIGINT HUGEINT DOUBLE',
  UBIGINT: 'UHUGEINT HUGEINT',
  FLOAT: 'DOUBLE',
  DATE: 'TIMESTAMP',
  UUID: 'VARCHAR',
  JSON: 'VARCHAR',
}

/** The most digits that a DECIMAL has. */
const MOST_DIGITS = 38

/** Whether `to` is another type that holds every value of `from`. A STRUCT may have more fields, which are then NULL. */
export const isLosslessWidening = (from: ColumnType, to: ColumnType): boolean =>
  from !== to && holds(parseType(to), parseType(from))

/** The engine casts a STRUCT by the names of its fields, also within lists and the values of a MAP. */
function holds(wide: TypeTree, narrow: TypeTree): boolean {
  if (isDeepStrictEqual(wide, narrow)) return true
  // Values of an ENUM are kept by their names, so the order of the members does not matter. No name is there twice.
  if (narrow.is === 'enum')
    return wide.is === 'enum'
      ? new Set([...wide.members, ...narrow.members]).size === wide.members.length
      : wide.is === 'scalar' && wide.name === 'VARCHAR'
  if (narrow.is === 'scalar') return wide.is === 'scalar' && holdsScalar(wide, narrow)
  if (narrow.is === 'list')
    return (
      wide.is === 'list' && wide.length === narrow.length && holds(wide.element, narrow.element)
    )
  if (narrow.is === 'map')
    return (
      wide.is === 'map' &&
      isDeepStrictEqual(wide.key, narrow.key) &&
      holds(wide.value, narrow.value)
    )
  if (narrow.is === 'union' || wide.is !== 'struct') return false
  const fields = new Map(Array.from(wide.fields, ([name, type]) => [foldCase(name), type]))
  return Array.from(narrow.fields).every(([name, type]) => {
    const field = fields.get(foldCase(name))
    return field !== undefined && holds(field, type)
  })
}

type Scalar = Extract<TypeTree, { readonly is: 'scalar' }>

function holdsScalar(wide: Scalar, narrow: Scalar): boolean {
  if (widenings[narrow.name]?.split(' ').includes(wide.name)) return true
  const source = digitsOf(narrow)
  const target = wide.name === 'DECIMAL' ? digitsOf(wide) : null
  if (source === null || target === null) return false
  return target.whole >= source.whole && target.scale >= source.scale
}

/** Of a DECIMAL or an integer: its digits before and after the point. */
function digitsOf({ name, parameters }: Scalar): { whole: number; scale: number } | null {
  const integer = integerDigits[name]
  if (integer !== undefined) return { whole: integer, scale: 0 }
  const [width, scale] = parameters
  if (name !== 'DECIMAL' || width === undefined || scale === undefined) return null
  return { whole: width - scale, scale }
}

/** The DECIMAL that holds what both hold, which are integers and DECIMALs; null where there is none, or none is needed. */
export function decimalForBoth(one: ColumnType, other: ColumnType): ColumnType | null {
  const [a, b] = [parseType(one), parseType(other)]
  if (a.is !== 'scalar' || b.is !== 'scalar' || holds(a, b) || holds(b, a)) return null
  const [first, second] = [digitsOf(a), digitsOf(b)]
  if (first === null || second === null) return null
  const scale = Math.max(first.scale, second.scale)
  const width = Math.max(first.whole, second.whole) + scale
  return width > MOST_DIGITS ? null : columnType(`DECIMAL(${width},${scale})`)
}
