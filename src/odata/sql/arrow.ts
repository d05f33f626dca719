// Rows in the types of Arrow.
//
// Numbers, texts, dates and times have types of Arrow, and a duration counts microseconds: a month has 30 days, as in JSON.
// A GUID is a text, which every reader takes. A place is
// well-known binary. Integers of 39 digits are decimals of 38: the few that are beyond fail.

import type { ArrowField, ArrowType } from '../../core/arrow-types.ts'
import { columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { OutputProperty } from '../bind/bound-request.ts'
import { isGeoName } from '../edm/geo.ts'
import type { EdmType, PrimitiveType } from '../edm/types.ts'
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

function primitiveType({ name, engine, precision, scale }: PrimitiveType): ArrowType {
  if (isGeoName(name)) return { kind: 'bytes' }
  switch (name) {
    case 'Edm.Binary':
      return { kind: 'bytes' }
    case 'Edm.Boolean':
      return { kind: 'boolean' }
    case 'Edm.Byte':
    case 'Edm.SByte':
      return { kind: 'integer', bytes: 1 }
    case 'Edm.Date':
      return { kind: 'date' }
    case 'Edm.DateTimeOffset':
      return { kind: 'moment' }
    case 'Edm.Decimal':
      return engine.startsWith('DECIMAL')
        ? { kind: 'decimal', precision: precision!, scale: scale! }
        : { kind: 'decimal', precision: HUGE, scale: 0 }
    case 'Edm.Double':
      return { kind: 'float', bytes: 8 }
    case 'Edm.Duration':
      return { kind: 'duration' }
    case 'Edm.Guid':
    case 'Edm.String':
      return { kind: 'text' }
    case 'Edm.Int16':
      return { kind: 'integer', bytes: 2 }
    case 'Edm.Int32':
      return { kind: 'integer', bytes: 4 }
    case 'Edm.Int64':
      return { kind: 'integer', bytes: 8 }
    case 'Edm.Single':
      return { kind: 'float', bytes: 4 }
    case 'Edm.TimeOfDay':
      return { kind: 'time' }
  }
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
