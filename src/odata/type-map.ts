// Which OData type a column of the engine has (rows Q017 to Q028 and Q133).
//
// Each OData type has one engine type that holds its values inside a query: a column of another engine type is cast
// to it when it is read, so that expressions and the JSON writer meet no other types than those named here.

import { type ColumnType, columnType } from '../core/relation.ts'

export type EdmName =
  | 'Edm.Binary'
  | 'Edm.Boolean'
  | 'Edm.Byte'
  | 'Edm.Date'
  | 'Edm.DateTimeOffset'
  | 'Edm.Decimal'
  | 'Edm.Double'
  | 'Edm.Duration'
  | 'Edm.Guid'
  | 'Edm.Int16'
  | 'Edm.Int32'
  | 'Edm.Int64'
  | 'Edm.SByte'
  | 'Edm.Single'
  | 'Edm.String'
  | 'Edm.TimeOfDay'

export interface EdmType {
  readonly name: EdmName
  /** The engine's type of a value of this type in every query that this service makes. */
  readonly engine: ColumnType
  /** Digits of a Decimal; digits of the fraction of a second. */
  readonly precision: number | null
  /** Digits after the point of a Decimal. */
  readonly scale: number | null
  /** Members of an engine ENUM, which is served as its text. */
  readonly members: readonly string[] | null
}

function edmType(
  name: EdmName,
  engine: string,
  facets: { readonly precision?: number; readonly scale?: number } = {},
): EdmType {
  const { precision = null, scale = null } = facets
  return { name, engine: columnType(engine), precision, scale, members: null }
}

export const edm = {
  Binary: edmType('Edm.Binary', 'BLOB'),
  Boolean: edmType('Edm.Boolean', 'BOOLEAN'),
  Byte: edmType('Edm.Byte', 'TINYINT'),
  Date: edmType('Edm.Date', 'DATE'),
  DateTimeOffset: edmType('Edm.DateTimeOffset', 'TIMESTAMP', { precision: 6 }),
  Double: edmType('Edm.Double', 'DOUBLE'),
  Duration: edmType('Edm.Duration', 'INTERVAL', { precision: 6 }),
  Guid: edmType('Edm.Guid', 'UUID'),
  Int16: edmType('Edm.Int16', 'SMALLINT'),
  Int32: edmType('Edm.Int32', 'INTEGER'),
  Int64: edmType('Edm.Int64', 'BIGINT'),
  SByte: edmType('Edm.SByte', 'TINYINT'),
  Single: edmType('Edm.Single', 'FLOAT'),
  String: edmType('Edm.String', 'VARCHAR'),
  TimeOfDay: edmType('Edm.TimeOfDay', 'TIME', { precision: 6 }),
} as const

/** A Decimal of at most 38 digits. */
export function decimalType(precision: number, scale: number): EdmType {
  return edmType('Edm.Decimal', `DECIMAL(${precision},${scale})`, { precision, scale })
}

/** Integers of up to 39 digits, which no DECIMAL holds. */
export const hugeDecimal = edmType('Edm.Decimal', 'HUGEINT', { precision: 39, scale: 0 })
const unsignedHugeDecimal = edmType('Edm.Decimal', 'UHUGEINT', { precision: 39, scale: 0 })

const typeOfEngineType: Readonly<Record<string, EdmType>> = {
  BOOLEAN: edm.Boolean,
  TINYINT: edm.Byte,
  SMALLINT: edm.Int16,
  INTEGER: edm.Int32,
  BIGINT: edm.Int64,
  HUGEINT: hugeDecimal,
  // An unsigned type is served as the next signed one that holds it.
  UTINYINT: edm.Int16,
  USMALLINT: edm.Int32,
  UINTEGER: edm.Int64,
  UBIGINT: decimalType(20, 0),
  UHUGEINT: unsignedHugeDecimal,
  FLOAT: edm.Single,
  DOUBLE: edm.Double,
  VARCHAR: edm.String,
  DATE: edm.Date,
  TIME: edm.TimeOfDay,
  TIMESTAMP: edm.DateTimeOffset,
  TIMESTAMP_S: edm.DateTimeOffset,
  TIMESTAMP_MS: edm.DateTimeOffset,
  // Nanoseconds are cut to microseconds, as the declared Precision says.
  TIMESTAMP_NS: edm.DateTimeOffset,
  'TIMESTAMP WITH TIME ZONE': edm.DateTimeOffset,
  UUID: edm.Guid,
  BLOB: edm.Binary,
  INTERVAL: edm.Duration,
}

/**
 * The OData type of a column. A TINYINT is an Edm.Byte only while it holds no negative value (row Q019).
 * Lists, structs and everything else without a type of its own is served as its text.
 */
export function edmTypeOf(type: ColumnType, options: { readonly negative: boolean }): EdmType {
  if (type === 'TINYINT' && options.negative) return edm.SByte
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type)
  if (decimal !== null) return decimalType(Number(decimal[1]), Number(decimal[2]))
  const members = enumMembers(type)
  if (members !== null) return { ...edm.String, members }
  return typeOfEngineType[type] ?? edm.String
}

function enumMembers(type: ColumnType): readonly string[] | null {
  if (!/^ENUM\(.*\)$/s.test(type)) return null
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, text]) => text!.replaceAll("''", "'"))
}
