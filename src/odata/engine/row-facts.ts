// Facts about a published file that only its rows tell, not the manifest. A file is not changed once it is published, and
// most files of a snapshot are those of the one before, so what was found in a file is not looked for again.

import { hashOf } from '../../core/hash.ts'
import { entitySetName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import {
  type PublishedRelation,
  rowsInAnyOrder,
  type Snapshot,
  type StoredRows,
} from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { withoutSystems } from '../../core/type-syntax.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'
import { hasOutsidersSql, hasRange } from '../sql/temporal-range.ts'
import { type GeoShape, geoShapes, geoTypeOf } from '../edm/geo.ts'
import { edmTypeOf } from '../edm/types.ts'

/** Names of columns. */
export interface RowFacts {
  /** TINYINTs that hold a negative value. */
  readonly signedTinyints: ReadonlySet<string>
  /** Dates and times with a value out of the range of OData. */
  readonly clampedTimes: ReadonlySet<string>
  /** By the name of a column of GEOMETRY: the one shape that all its values have. */
  readonly shapes: ReadonlyMap<string, GeoShape>
}

/** By `factsKey`. */
export type KnownFacts = ReadonlyMap<string, RowFacts>

/** Equal for the same rows, unchanged since, of which the manifest says the same. */
export const factsKey = async (
  published: SnapshotReader,
  relation: PublishedRelation,
): Promise<string> => hashOf(32, [await published.identityOf(relation), relation])

/** Equal as long as the rows of the snapshot are the same ones, unchanged since. */
export async function rowsAre(published: SnapshotReader, { relations }: Snapshot): Promise<string> {
  return (await Promise.all(relations.map((relation) => published.identityOf(relation)))).join()
}

/** The file is attached. Throws when it holds something else than the manifest says. */
export async function readFacts(
  connection: Connection,
  relation: PublishedRelation,
  stored: StoredRows,
): Promise<RowFacts> {
  const { model, columns, file } = relation
  const name = entitySetName(model)
  const rows = sql.ident(...rowsInAnyOrder(stored, relation, name))
  // A response describes its rows by the manifest, so a file that holds something else must not be served.
  const there = await describe(connection, sql`FROM ${rows}`)
  const isSame = ({ name, type }: Column, i: number) =>
    columns[i]?.name === name && withoutSystems(columns[i].type) === withoutSystems(type)
  if (there.length !== columns.length || !there.every(isSame))
    throw new Error(`${file} does not have the columns that the manifest lists`)
  const tinyints = columns.filter(({ type }) => type === 'TINYINT')
  const times = columns.filter((column) => hasRange(typeOf(column)))
  const places = columns.filter(({ type }) => geoTypeOf(type, null) !== null)
  const conditions = [
    ...tinyints.map(({ name }) => sql`(SELECT min(${sql.ident(name)}) < 0 FROM ${rows})`),
    ...times.map((column) => hasOutsidersSql(rows, column, typeOf(column))),
  ]
  const found = await connection.row(
    sql`SELECT (SELECT count(*) FROM ${rows}) AS n, [${sql.join(conditions)}] AS holds,
      [${sql.join(places.map(({ name }) => shapesSql(sql.ident(name), rows)))}] AS shapes`,
  )
  if (Number(found?.['n']) !== relation.rows)
    throw new Error(`${file} does not have the number of rows that the manifest lists`)
  const holds = found?.['holds'] as readonly (boolean | null)[]
  const namesOf = (asked: readonly Column[], from: number) =>
    new Set(asked.map(({ name }) => name).filter((_, i) => holds[from + i] === true))
  const shapes = found?.['shapes'] as readonly (readonly string[] | null)[]
  return {
    signedTinyints: namesOf(tinyints, 0),
    clampedTimes: namesOf(times, tinyints.length),
    shapes: new Map(
      places.flatMap(({ name }, i) => {
        const shape = onlyShape(shapes[i] ?? [])
        return shape === null ? [] : [[name, shape] as const]
      }),
    ),
  }
}

/**
 * Numbers of shapes as well-known binary has them, as eight digits: the least byte first, and with more than two dimensions
 * some thousand more. The values themselves are not read as text, which would take six times as long.
 */
const shapesSql = (column: Sql, rows: Sql): Sql => sql`(SELECT list(DISTINCT hex(code)) FROM (
  SELECT DISTINCT array_slice(ST_AsWKB(${column}), 2, 5) AS code FROM ${rows} WHERE ${column} IS NOT NULL))`

function onlyShape(codes: readonly string[]): GeoShape | null {
  const numbers = codes.map((code) => Buffer.from(code, 'hex').readUInt32LE() % 1000)
  const [shape, ...more] = new Set(numbers)
  return shape === undefined || more.length > 0 ? null : (geoShapes[shape - 1] ?? null)
}

const typeOf = ({ type }: Column) => edmTypeOf(type, { negative: false, typeName: null })
