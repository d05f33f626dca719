// Rows in the types that readers of Parquet know.
//
// Numbers, texts, dates, times and GUIDs have types of Parquet. A point in time is one of UTC, which Parquet says with the
// type. A 39-digit integer would become a double, and a duration a type that most cannot read: they are texts, as in JSON.
// So are GUIDs in lists and objects, where pandas refuses them or takes them for bytes. A place on the earth is well-known
// binary, described as GeoParquet does; one in a plane is the same without a description, by which it would be on the earth.

import { columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { OutputProperty } from '../bind/bound-request.ts'
import { isGeoName, surfaceOf } from '../edm/geo.ts'
import type { EdmType } from '../edm/types.ts'
import type { WrittenFile } from './engine-types.ts'
import { placeBytesSql } from './geo.ts'
import { jsonTextSql } from './json-value.ts'

/** `rows` has columns that are named as in `output` and have the DuckDB types of its EdmTypes. */
export function parquetFile(rows: Sql, output: readonly OutputProperty[]): WrittenFile {
  const columns = output.map((property) => {
    const name = (property.path ?? [property.name]).join('/')
    return sql`${columnSql(property)} AS ${sql.ident(name)}`
  })
  const typed = sql`SELECT ${sql.join(columns)} FROM (${rows}) AS page`
  return { rows: typed, options: sql`FORMAT parquet`, heads: 0 }
}

function columnSql({ name, type }: OutputProperty): Sql {
  const value = sql.ident('page', name)
  if (type.name === 'Edm.Duration') return sql`replace(${jsonTextSql(value, type)}, '"', '')`
  // Finite, and in UTC: a cast asks the calendar of the zone for each row, which takes four times as long.
  if (type.name === 'Edm.DateTimeOffset') return sql`make_timestamptz(epoch_us(${value}))`
  if (type.name === 'Edm.Guid') return value
  if (isGeoName(type.name))
    return surfaceOf(type.name) === 'Geography' ? value : placeBytesSql(value)
  const stored = storedType(type)
  return stored === type.engine ? value : sql`CAST(${value} AS ${sql.type(columnType(stored))})`
}

function storedType(type: EdmType): string {
  switch (type.kind) {
    case 'collection':
      return `${storedType(type.item)}[]`
    case 'complex': {
      const fields = type.properties.map(({ name, type: of }) => `"${name}" ${storedType(of)}`)
      return `STRUCT(${fields.join(', ')})`
    }
    case 'primitive':
      if (type.name === 'Edm.DateTimeOffset') return 'TIMESTAMP WITH TIME ZONE'
      return AS_TEXT.test(type.engine) ? 'VARCHAR' : type.engine
  }
}

const AS_TEXT = /^(?:U?HUGEINT|UUID|INTERVAL)$/
