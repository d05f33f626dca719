// Places as text and as JSON, and the functions of them.
//
// Text and JSON are made without the extension spatial, so that an answer is the same with it and without it. JSON is that
// of RFC 7946, in the digits of well-known text; the fourth number of a position, a measure, has no place in it.
//
// The functions count a position as longitude and latitude, or as x and y: `geometry_always_xy` is set in every engine that
// has the extension (duckdb/read-only.ts), which otherwise takes the first number for the latitude. Where a value is of
// another shape than a function takes, is empty, or is no area, the result is NULL and no error.

import { type Sql, sql } from '../../core/sql.ts'
import { bothOnceIfLong, onceIfLong } from './once.ts'

/** Well-known text, such as `POINT (13.4 52.5)`. */
export const placeTextSql = (place: Sql): Sql => sql`CAST(${place} AS VARCHAR)`

/** Well-known binary. */
export const placeBytesSql = (place: Sql): Sql => sql`ST_AsWKB(${place})`

/** Points of two numbers are most of all there is, and take a fraction of the time. NULL for NULL. */
export function placeJsonSql(place: Sql): Sql {
  const text = placeTextSql(place)
  const numbers = sql`replace(substr(${text}, 8, length(${text}) - 8), ' ', ',')`
  return sql`CASE WHEN starts_with(${text}, 'POINT (') AND NOT contains(${text}, 'n')
    THEN concat('{"type":"Point","coordinates":[', ${numbers}, ']}')
    WHEN ${place} IS NOT NULL THEN ${anyShapeJsonSql(text)} END`
}

/** A letter in a number is that of an exponent, or of a word for a value that is none; names of shapes are in capitals. */
const NUMBER = '[-+.0-9a-z]+'

/** From the outside in, as DuckDB nests calls: what is replaced first is at the heart. */
function anyShapeJsonSql(text: Sql): Sql {
  const steps: readonly ((text: Sql) => Sql)[] = [
    withoutMeasures,
    (all) => sql`replace(replace(replace(${all}, ', ', ','), ' EMPTY', '()'), 'EMPTY', '[]')`,
    (all) => replaced(all, ' ?Z?M? ?\\(', '('),
    (all) => sql`replace(${replaced(all, `${NUMBER}(?: ${NUMBER})+`, '[\\0]')}, ' ', ',')`,
    // Parentheses without a name before them: those of a ring, then those of an area of several.
    unnamedToArrays,
    unnamedToArrays,
    ...Object.entries(NAMES).map(
      ([name, type]) =>
        (all: Sql) =>
          replaced(all, `${name}\\(([^()]*)\\)`, `{"type":"${type}","coordinates":[\\1]}`),
    ),
    (all) => sql`replace(${all}, 'POINT()', '{"type":"Point","coordinates":[]}')`,
    (all) => replaced(all, 'POINT\\(([^()]*)\\)', '{"type":"Point","coordinates":\\1}'),
    // All parentheses that are left are those of collections.
    (all) =>
      sql`replace(replace(${all}, 'GEOMETRYCOLLECTION(', '{"type":"GeometryCollection","geometries":['), ')', ']}')`,
    (all) => replaced(replaced(all, '-?nan', '"NaN"'), '(-?)inf', '"\\1INF"'),
  ]
  return steps.reduce((all, step) => step(all), text)
}

/** In an order in which no name is the end of a later one. */
const NAMES = {
  MULTIPOINT: 'MultiPoint',
  MULTILINESTRING: 'MultiLineString',
  MULTIPOLYGON: 'MultiPolygon',
  LINESTRING: 'LineString',
  POLYGON: 'Polygon',
} as const

const replaced = (text: Sql, pattern: string, by: string): Sql =>
  sql`regexp_replace(${text}, ${sql.value(pattern)}, ${sql.value(by)}, 'g')`

const unnamedToArrays = (text: Sql) => replaced(text, '([(,])\\(([^()]*)\\)', '\\1[\\2]')

const withoutMeasures = (text: Sql): Sql => {
  const before = (numbers: number) => Array<string>(numbers).fill(NUMBER).join(' ')
  const cut = (numbers: number) => replaced(text, `(${before(numbers)}) ${NUMBER}`, '\\1')
  return sql`CASE WHEN contains(${text}, ' ZM ') THEN ${cut(3)} WHEN contains(${text}, ' M ') THEN ${cut(2)} ELSE ${text} END`
}

// The functions, which need the extension.

const shapeOf = (place: Sql): Sql => sql`CAST(ST_GeometryType(${place}) AS VARCHAR)`

const pointOf = (value: (place: Sql) => Sql) =>
  onceIfLong(
    (place) =>
      sql`CASE WHEN ${shapeOf(place)} = 'POINT' AND NOT ST_IsEmpty(${place}) THEN ${value(place)} END`,
  )

/** On the earth the engine takes points in its form for two numbers, and in a plane it finds 0 between two such NULLs. */
const pointOnEarth = pointOf((place) => sql`CAST(${place} AS POINT_2D)`)
const pointInPlane = pointOf((place) => place)

const lineSql = (length: (line: Sql) => Sql) =>
  onceIfLong(
    (place) =>
      sql`CASE WHEN ${shapeOf(place)} IN ('LINESTRING', 'MULTILINESTRING') THEN ${length(place)} END`,
  )

export const geoSql = {
  /** In metres, along the shortest line on the ellipsoid of WGS 84. */
  distanceOnEarth: (a: Sql, b: Sql) =>
    sql`ST_Distance_Spheroid(${pointOnEarth(a)}, ${pointOnEarth(b)})`,
  distanceInPlane: (a: Sql, b: Sql) => sql`ST_Distance(${pointInPlane(a)}, ${pointInPlane(b)})`,
  lengthOnEarth: lineSql((line) => sql`ST_Length_Spheroid(${line})`),
  lengthInPlane: lineSql((line) => sql`ST_Length(${line})`),
  /** An area may be none, as one with a ring that is open: the engine calls that an error. */
  intersects: bothOnceIfLong(
    (point, area) =>
      sql`CASE WHEN ${shapeOf(point)} = 'POINT' AND ${shapeOf(area)} IN ('POLYGON', 'MULTIPOLYGON')
        THEN TRY(ST_Intersects(${point}, ${area})) END`,
  ),
}
