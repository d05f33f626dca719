// An operand that is written once, and named, where its SQL would otherwise repeat it: repeated operands of operands would
// make the SQL of a chain grow exponentially.

import { type Sql, sql } from '../../core/sql.ts'

type ToSql = (value: Sql) => Sql

const NAME = sql.ident('once')

/** As `toSql`, which writes its operand many times and must not refer to anything else in the row. */
export function once(toSql: ToSql): ToSql {
  const named = toSql(NAME)
  return (value) => sql`(list_transform([${value}], lambda ${NAME}: ${named}))[1]`
}
