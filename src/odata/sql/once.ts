// An operand that is written once, and named, where its SQL would otherwise repeat it: repeated operands of operands would
// make the SQL of a chain grow exponentially.

import { type Sql, sql } from '../../core/sql.ts'

const NAME = sql.ident('once')

/** Wraps `toSql`, which writes its operand many times and must not refer to anything else in the row. */
export function once(toSql: (value: Sql) => Sql): (value: Sql) => Sql {
  const named = toSql(NAME)
  return (value) => sql`(list_transform([${value}], lambda ${NAME}: ${named}))[1]`
}

/** The same for an operand that is not short: a column or a constant is written as often as it takes. */
export function onceIfLong(toSql: (value: Sql) => Sql): (value: Sql) => Sql {
  const named = once(toSql)
  return (value) => (isShort(value) ? toSql(value) : named(value))
}

/** The same for two operands, both of which are named where one of them is long. */
export function bothOnceIfLong(toSql: (a: Sql, b: Sql) => Sql): (a: Sql, b: Sql) => Sql {
  const named = once((pair) => toSql(sql`${pair}.a`, sql`${pair}.b`))
  return (a, b) =>
    isShort(a) && isShort(b) ? toSql(a, b) : named(sql`struct_pack(a := ${a}, b := ${b})`)
}

/** A column or a constant, also in another type. A name with a space is that of an operand in copiesOf(). */
const isShort = (value: Sql): boolean =>
  /^(?:CAST\()*(?:"\w+"\."[^"]*"|'[^']*'|[-.\w]+)(?: AS [\w(), ]+\))*$/.test(value.inline())
