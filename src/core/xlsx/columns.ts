// Columns of DuckDB as columns of a sheet of Excel.

import { type Column, columnType } from '../relation.ts'
import { type Sql, sql } from '../sql.ts'
import type { CellType, SheetColumn } from './cells.ts'

export function sheetColumn({ name, type }: Column): SheetColumn {
  const column = sql.ident('page', name)
  const cell = cellTypeOf(type)
  return { name, type: cell, value: valueSql(column, cell, type) }
}

function cellTypeOf(type: string): CellType {
  const decimal = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type)
  if (decimal !== null)
    return { kind: 'decimal', precision: Number(decimal[1]), scale: Number(decimal[2]) }
  return { kind: kinds[type] ?? 'text' }
}

type PlainKind = Exclude<CellType['kind'], 'decimal'>

const kinds: Readonly<Record<string, PlainKind>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'integer',
  UTINYINT: 'integer',
  SMALLINT: 'integer',
  USMALLINT: 'integer',
  INTEGER: 'integer',
  UINTEGER: 'integer',
  BIGINT: 'long-integer',
  UBIGINT: 'long-integer',
  HUGEINT: 'long-integer',
  UHUGEINT: 'long-integer',
  FLOAT: 'float',
  DOUBLE: 'float',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'moment',
  TIMESTAMP_S: 'moment',
  TIMESTAMP_MS: 'moment',
  TIMESTAMP_NS: 'moment',
  'TIMESTAMP WITH TIME ZONE': 'moment',
}

function valueSql(column: Sql, cell: CellType, type: string): Sql {
  if (type === 'TIMESTAMP WITH TIME ZONE') return sql`${column} AT TIME ZONE 'UTC'`
  if (cell.kind === 'moment') return castTo('TIMESTAMP', column)
  return cell.kind === 'text' && type !== 'VARCHAR' ? textSql(column, type) : column
}

/** What has members is JSON. */
const textSql = (column: Sql, type: string): Sql =>
  castTo('VARCHAR', /\]$|^(?:STRUCT|MAP|UNION)\(/.test(type) ? sql`to_json(${column})` : column)

const castTo = (type: string, value: Sql) => sql`CAST(${value} AS ${sql.type(columnType(type))})`
