// PostgreSQL.

import { connectionString } from '../../core/server-url.ts'
import { limits } from '../../core/limits.ts'
import type { SourceServer } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { LOCALHOST, type ServerDialect } from './servers.ts'
import type { ZeroedColumn } from './source-access.ts'

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

/**
 * Those that the user may not read are left out, since a query that names one is refused. A relation can be looked through
 * part by part where PostgreSQL knows its pages and reads a range of them alone, which it does from 14 on.
 */
const numericColumns = (schema: string, table: string) => sql`
  SELECT n.nspname AS schema, c.relname AS relation, a.attname AS name, a.atttypid = 'numeric[]'::regtype AS is_list,
    a.atttypmod >= 4 AS has_precision,
    CASE WHEN c.relkind IN ('r', 'm') AND current_setting('server_version_num')::int >= 140000 THEN c.relpages ELSE 0 END AS pages
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE lower(n.nspname) = lower(${sql.value(schema)}) AND lower(c.relname) = lower(${sql.value(table)})
    AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
    AND a.atttypid IN ('numeric'::regtype, 'numeric[]'::regtype)
    AND has_column_privilege(c.oid, a.attnum, 'SELECT')`

/**
 * A numeric with a precision can be NaN, but not infinite. Of both, the difference to itself is not 0, which takes longer;
 * before PostgreSQL 14 no text means an infinity.
 */
function isNoNumber({ name, isList, hasPrecision }: ZeroedColumn): Sql {
  const column = sql.ident(name)
  if (isList)
    return sql`EXISTS (SELECT FROM unnest(${column}) AS of (part) WHERE of.part - of.part <> 0)`
  return hasPrecision ? sql`${column} = 'NaN'` : sql`${column} - ${column} <> 0`
}

export const postgres: ServerDialect = {
  type: sql`postgres`,
  settings: [],
  secretParts: ({ host }) => [sql`HOST ${sql.value(host)}`],
  attachText,
  query: sql`postgres_query`,
  inexactColumns,
  zeroed: {
    columns: numericColumns,
    isZeroed: isNoNumber,
    fromPage: (page) => sql`ctid >= ${sql.value(`(${page},0)`)}::tid`,
    beforePage: (page) => sql`ctid < ${sql.value(`(${page},0)`)}::tid`,
  },
  quoted: (name) => (/^[a-z_]\w*$/.test(name) ? name : sql.ident(name).inline()),
  tlsParameter: 'sslmode=require',
  hidesTls: false,
  endsStatements: true,
}
