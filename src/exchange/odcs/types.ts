// Types of columns as the Open Data Contract Standard has them: logical ones, which all systems share, and physical ones,
// which here are those of the engine.

import { isTypeText } from '../../core/relation.ts'
import type { LogicalType } from '../format.ts'

/** Other spellings that the engine takes, and how it prints them. */
const spellings: Readonly<Record<string, string>> = {
  BOOL: 'BOOLEAN',
  LOGICAL: 'BOOLEAN',
  INT1: 'TINYINT',
  INT2: 'SMALLINT',
  SHORT: 'SMALLINT',
  INT: 'INTEGER',
  INT4: 'INTEGER',
  SIGNED: 'INTEGER',
  INT8: 'BIGINT',
  LONG: 'BIGINT',
  REAL: 'FLOAT',
  FLOAT4: 'FLOAT',
  FLOAT8: 'DOUBLE',
  'DOUBLE PRECISION': 'DOUBLE',
  STRING: 'VARCHAR',
  TEXT: 'VARCHAR',
  CHAR: 'VARCHAR',
  BPCHAR: 'VARCHAR',
  TIMESTAMPTZ: 'TIMESTAMP WITH TIME ZONE',
  DATETIME: 'TIMESTAMP',
}

const LOGICAL: readonly (readonly [RegExp, LogicalType])[] = [
  [/\[\d*\]$/, 'array'],
  [/^(?:STRUCT|MAP|UNION)\b/, 'object'],
  [/^U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/, 'integer'],
  [/^(?:DECIMAL(?:\(\d+,\d+\))?|DOUBLE|FLOAT)$/, 'number'],
  [/^BOOLEAN$/, 'boolean'],
  [/^DATE$/, 'date'],
  [/^TIME(?: WITH TIME ZONE)?$/, 'time'],
  [/^TIMESTAMP(?:_S|_MS|_NS| WITH TIME ZONE)?$/, 'timestamp'],
  [/^(?:VARCHAR|UUID|ENUM\(.*\)|JSON|BLOB|BIT|INTERVAL)$/, 'string'],
]

/** null: the engine has no such type. */
export const logicalOf = (type: string): LogicalType | null =>
  LOGICAL.find(([form]) => form.test(type))?.[1] ?? null

/** A type as the engine prints it; null for one that it does not have. */
export function engineType(text: string): string | null {
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  if (!isTypeText(plain)) return null
  const upper = /["']/.test(plain) ? plain : plain.toUpperCase()
  const [, base = upper, sizes] = /^([A-Z][A-Z0-9_ ]*?) ?(?:\(([\d ,]*)\))?$/.exec(upper) ?? []
  const isSized = sizes !== undefined
  if (/^(?:NUMERIC|DECIMAL|DEC)$/.test(base)) {
    const [width = '18', scale = isSized ? '0' : '3'] = (sizes ?? '')
      .split(',')
      .flatMap((one) => one.trim() || [])
    return `DECIMAL(${width},${scale})`
  }
  const spelled = spellings[base] ?? base
  if (isSized && spelled !== 'VARCHAR') return null
  const found = isSized || spelled !== base ? spelled : upper
  return logicalOf(found) === null ? null : found
}

/** What a column of an events model is declared as, where no physical type says it. */
export const typeFor: Readonly<Record<LogicalType, string>> = {
  string: 'VARCHAR',
  date: 'DATE',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
  time: 'TIME',
  number: 'DOUBLE',
  integer: 'BIGINT',
  object: 'JSON',
  array: 'JSON',
  boolean: 'BOOLEAN',
}
