// PostgreSQL.

import { connectionString } from '../../core/server-url.ts'
import { limits } from '../../core/limits.ts'
import type { SourceServer } from '../../core/sources.ts'
import { sql } from '../../core/sql.ts'
import { LOCALHOST, type ServerDialect } from './servers.ts'

/** The name of the host is that of the certificate; the relay is where it is. */
const attachText = ({ timeout, parameters }: SourceServer): string =>
  connectionString([
    ['hostaddr', LOCALHOST],
    ['connect_timeout', String(limits.sourceConnectSeconds + 2)],
    ...parameters,
    ['options', `-c statement_timeout=${timeout.ms}`],
  ])

/**
 * Also of arrays, of fields within a column, and of materialized views, which information_schema leaves out. The type
 * modifier of a numeric is its precision and its scale, which may be negative or greater than the precision. A domain
 * arrives as text, and a field always as a DOUBLE, which has 15 digits.
 */
const inexactColumns = (schema: string, table: string) => sql`
  WITH RECURSIVE parts AS (
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.atttypid AS of, a.atttypmod AS modifier,
      38 AS most
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE lower(n.nspname) = lower(${sql.value(schema)}) AND lower(c.relname) = lower(${sql.value(table)})
      AND a.attnum > 0 AND NOT a.attisdropped
    UNION
    SELECT parts.name, parts.type, f.atttypid, f.atttypmod, 15
    FROM parts
    JOIN pg_type t ON t.oid = parts.of
    LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
    JOIN pg_attribute f ON f.attrelid = coalesce(nullif(t.typrelid, 0), nullif(e.typrelid, 0))
    WHERE f.attnum > 0 AND NOT f.attisdropped
  ), numbers AS (
    SELECT name, type, modifier, most,
      ((modifier - 4) >> 16) & 65535 AS digits, (((modifier - 4) & 2047) # 1024) - 1024 AS scale
    FROM parts WHERE of IN ('numeric'::regtype, 'numeric[]'::regtype)
  )
  SELECT DISTINCT name, type FROM numbers
  WHERE modifier < 4 OR digits > most OR scale < 0 OR scale > digits`

export const postgres: ServerDialect = {
  type: sql`postgres`,
  settings: [],
  secretParts: ({ host }) => [sql`HOST ${sql.value(host)}`],
  attachText,
  query: sql`postgres_query`,
  inexactColumns,
  tlsParameter: 'sslmode=require',
  hidesTls: false,
  endsStatements: true,
}
