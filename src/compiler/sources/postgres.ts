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
 * Also of arrays, and of materialized views, which information_schema leaves out. The type modifier of a numeric is its
 * precision and its scale, which may be negative or greater than the precision. A domain arrives as text.
 */
const inexactColumns = (schema: string, table: string) => sql`
  SELECT name, type FROM (
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.atttypmod AS modifier,
      ((a.atttypmod - 4) >> 16) & 65535 AS digits, (((a.atttypmod - 4) & 2047) # 1024) - 1024 AS scale
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE lower(n.nspname) = lower(${sql.value(schema)}) AND lower(c.relname) = lower(${sql.value(table)})
      AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('numeric'::regtype, 'numeric[]'::regtype)
  ) AS numbers
  WHERE modifier < 4 OR digits > 38 OR scale < 0 OR scale > digits`

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
