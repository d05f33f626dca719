// Keys of a MAP are text in JSON and values of a type in DuckDB: "1.5" and "1.50" are one DECIMAL.

import type { TypeTree } from '../../core/type-syntax.ts'
import { parseDecimal, plainText } from './decimal-text.ts'
import { instantOf, microsecondsOf, zonedClockOf } from './time-identity.ts'

/** A text that two keys share when they are equal in their type. For keys that pass validation. */
type KeyIdentity = (key: string) => string

/** null for a type whose values are equal only when their texts are. */
export function keyIdentity(type: TypeTree): KeyIdentity | null {
  return type.is === 'scalar' ? (IDENTITIES[type.name] ?? null) : null
}

/** The first key that equals one before it. */
export function equalKeys(identity: KeyIdentity, keys: readonly string[]): string | null {
  if (keys.length < 2) return null
  const known = new Set<string>()
  return keys.find((key) => known.size === known.add(identity(key)).size) ?? null
}

const ofDecimal: KeyIdentity = (key) => {
  const decimal = parseDecimal(key)
  return decimal === null ? key : plainText(decimal)
}

// With 0 added, -0 is 0.
const ofDouble: KeyIdentity = (key) => String(Number(key) + 0)
const ofFloat: KeyIdentity = (key) => String(Math.fround(Number(key)) + 0)

const INTEGERS = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'BIGNUM']
const UNSIGNED = ['UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT', 'UHUGEINT']
const TIMES = ['TIME', 'TIME_NS', 'TIMESTAMP', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS']

const identities = (names: readonly string[], identity: KeyIdentity) =>
  Object.fromEntries(names.map((name) => [name, identity]))

const IDENTITIES: Readonly<Record<string, KeyIdentity>> = {
  ...identities([...INTEGERS, ...UNSIGNED, 'DECIMAL'], ofDecimal),
  ...identities([...TIMES, 'TIMESTAMP WITH TIME ZONE'], instantOf),
  'TIME WITH TIME ZONE': zonedClockOf,
  DOUBLE: ofDouble,
  FLOAT: ofFloat,
  UUID: (key) => key.toLowerCase().replaceAll('-', ''),
  INTERVAL: (key) => String(microsecondsOf(key)),
}
