// Rows in the types of Arrow.
//
// Numbers, texts, dates and times have types of Arrow, and a duration counts microseconds: a month has 30 days, as in JSON.
// A GUID is a text, which every reader takes. A place is
// well-known binary. Integers of 39 digits are decimals of 38: the few that are beyond fail.

import type { ArrowField, ArrowType } from '../../core/arrow-types.ts'
import { columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { OutputProperty } from '../bind/bound-request.ts'
import { type GeoName, isGeoName } from '../edm/geo.ts'
import type { EdmName, EdmType, PrimitiveType } from '../edm/types.ts'
import { placeBytesSql } from './geo.ts'

/** `table` has columns that are named as in `output` and have the DuckDB types of its EdmTypes. */
export function arrowColumns(table: string, output: readonly OutputProperty[]) {
  const fields = output.map(({ name, path = [name], type }): ArrowField => ({
    name: path.join('/'),
    type: arrowType(type),
  }))
  const columns = output.map(({ name, type }) => valueSql(sql.ident(table, name), type))
  return { fields, columns }
}

function arrowType(type: EdmType): ArrowType {
  switch (type.kind) {
    case 'collection':
      return { kind: 'list', item: arrowType(type.item) }
    case 'complex':
      return {
        kind: 'struct',
        fields: type.properties.map(({ name, type: of }) => ({ name, type: arrowType(of) })),
      }
    case 'primitive':
      return primitiveType(type)
  }
}

const HUGE = 38

const arrowTypes: Readonly<Record<Exclude<EdmName, 'Edm.Decimal' | GeoName>, ArrowType>> = {
  'Edm.Binary': { kind: 'bytes' },
  'Edm.Boolean': { kind: 'boolean' },
  'Edm.Byte': { kind: 'integer', bytes: 1 },
  'Edm.SByte': { kind: 'integer', bytes: 1 },
  'Edm.Date': { kind: 'date' },
  'Edm.DateTimeOffset': { kind: 'moment' },
  'Edm.Double': { kind: 'float', bytes: 8 },
  'Edm.Duration': { kind: 'duration' },
  'Edm.Guid': { kind: 'text' },
  'Edm.String': { kind: 'text' },
  'Edm.Int16': { kind: 'integer', bytes: 2 },
  'Edm.Int32': { kind: 'integer', bytes: 4 },
  'Edm.Int64': { kind: 'integer', bytes: 8 },
  'Edm.Single': { kind: 'float', bytes: 4 },
  'Edm.TimeOfDay': { kind: 'time' },
}

function primitiveType({ name, engine, precision, scale }: PrimitiveType): ArrowType {
  if (isGeoName(name)) return { kind: 'bytes' }
  if (name !== 'Edm.Decimal') return arrowTypes[name]
  return engine.startsWith('DECIMAL')
    ? { kind: 'decimal', precision: precision!, scale: scale! }
    : { kind: 'decimal', precision: HUGE, scale: 0 }
}

/** `depth`: collections around it. */
function valueSql(value: Sql, type: EdmType, depth = 0): Sql {
  switch (type.kind) {
    case 'primitive':
      return primitiveSql(value, type)
    case 'complex': {
      const members = type.properties.map(({ name, type: of }) => {
        const part = valueSql(sql`(${value}).${sql.ident(name)}`, of, depth)
        return sql`${sql.ident(name)} := ${part}`
      })
      return sql`CASE WHEN ${value} IS NOT NULL THEN struct_pack(${sql.join(members)}) END`
    }
    case 'collection': {
      const item = sql.ident(`item ${depth}`)
      const text = valueSql(item, type.item, depth + 1)
      return sql`list_transform(${value}, lambda ${item}: ${text})`
    }
  }
}

function primitiveSql(value: Sql, { name, engine }: PrimitiveType): Sql {
  if (isGeoName(name)) return placeBytesSql(value)
  if (name === 'Edm.Duration') return sql`epoch_us(${value})`
  const stored =
    name === 'Edm.Guid' ? 'VARCHAR' : /^U?HUGEINT$/.test(engine) ? `DECIMAL(${HUGE},0)` : engine
  return stored === engine ? value : sql`CAST(${value} AS ${sql.type(columnType(stored))})`
}
