// MySQL and MariaDB.

import { sql } from '../../core/sql.ts'
import { LOCALHOST, type ServerDialect } from './servers.ts'

export const mysql: ServerDialect = {
  type: sql`mysql`,
  settings: [
    // A TINYINT(1) holds 2 as well as 1.
    sql`SET GLOBAL mysql_tinyint1_as_boolean = false`,
    // To MySQL 'a' is mostly equal to 'A', and 'b ' to 'b': it would give other rows, groups and least values than DuckDB.
    sql`SET GLOBAL mysql_experimental_filter_pushdown = false`,
    sql`SET GLOBAL mysql_aggregate_pushdown_enabled = false`,
    sql`SET GLOBAL mysql_order_pushdown_enabled = false`,
    // A TIMESTAMP of MySQL is a point in time, which it says in the time zone of the session.
    sql`SET GLOBAL mysql_session_time_zone = '+00:00'`,
  ],
  secretParts: ({ parameters }) => [
    sql`HOST ${sql.value(LOCALHOST)}`,
    ...parameters.map(([name, value]) => sql`${sql.ident(name)} ${sql.value(value)}`),
  ],
  attachText: () => '',
  query: sql`mysql_query`,
  inexactColumns: (schema, table) => sql`
    SELECT column_name AS name, column_type AS type FROM information_schema.columns
    WHERE table_schema = ${sql.value(schema)} AND table_name = ${sql.value(table)}
      AND data_type = 'decimal' AND numeric_precision > 38`,
  quoted: (name) => (/^\w+$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``),
  tlsParameter: 'ssl_mode=required',
  hidesTls: true,
  endsStatements: false,
}
