// Places, lines and areas: the OData types of a GEOMETRY (docs/odata/data.md, Geography).
//
// A column in longitude and latitude of WGS 84 is an Edm.Geography, any other one an Edm.Geometry. The shape is a part of
// the type where all rows have one: functions and clients ask for it. In a query all are a GEOMETRY without a reference
// system, since DuckDB refuses to compare two that say the same in other words.

import { columnType } from '../../core/relation.ts'

export const geoShapes = [
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'Collection',
] as const

export type GeoShape = (typeof geoShapes)[number]

const surfaces = ['Geography', 'Geometry'] as const

/** A Geography is on the earth, a Geometry in a plane. */
export type GeoSurface = (typeof surfaces)[number]

export type GeoName = `Edm.${GeoSurface}${GeoShape | ''}`

export const geoNames: readonly GeoName[] = surfaces.flatMap((surface) =>
  (['', ...geoShapes] as const).map((shape) => `Edm.${surface}${shape}` as const),
)

/** That of the reference system with longitude and latitude in degrees. */
export const WGS84 = 4326

/** Null: values of several shapes, or of none that is known. */
export const geoType = (surface: GeoSurface, srid: number, shape: GeoShape | null) =>
  ({
    kind: 'primitive',
    name: `Edm.${surface}${shape ?? ''}`,
    engine: columnType('GEOMETRY'),
    precision: null,
    scale: null,
    members: null,
    srid,
  }) as const

/** That of a column; null for what is no GEOMETRY. A reference system without an EPSG number has the SRID 0. */
export function geoTypeOf(type: string, shape: GeoShape | null) {
  const system = /^GEOMETRY(?:\('(.*)'\))?$/s.exec(type)
  if (system === null) return null
  const [, name = ''] = system
  if (name === 'OGC:CRS84' || name === `EPSG:${WGS84}`) return geoType('Geography', WGS84, shape)
  return geoType('Geometry', Number(/^EPSG:(\d{1,9})$/.exec(name)?.[1] ?? 0), shape)
}

export const isGeoName = (name: string): name is GeoName => /^Edm\.Geo(?:graphy|metry)/.test(name)

export const surfaceOf = (name: GeoName): GeoSurface =>
  name.startsWith('Edm.Geography') ? 'Geography' : 'Geometry'
