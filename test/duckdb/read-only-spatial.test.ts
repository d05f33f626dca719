// The engine of a service with the extension spatial, whose functions read and write files of many kinds by themselves.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { openFileWriter, openReadOnly, requireLockedDown } from '../../src/duckdb/read-only.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const extensions = { directory: extensionCache, names: ['spatial'] }

const PLACE = { type: 'Point', coordinates: [1, 2] }
const geojson = JSON.stringify({
  type: 'FeatureCollection',
  features: [{ type: 'Feature', properties: { a: 1 }, geometry: PLACE }],
})

/** Statements that read and write what is not attached; the first three work in an engine that is not locked. */
const attempts = (dir: string): readonly Sql[] => {
  const file = (name: string) => sql.value(join(dir, name))
  const layer = `<OGRVRTDataSource><OGRVRTLayer name="p"><SrcDataSource>${join(dir, 'p.geojson')}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`
  return [
    sql`SELECT * FROM ST_Read(${file('p.geojson')})`,
    sql`SELECT * FROM ST_ReadSHP(${file('p.shp')})`,
    sql`SELECT * FROM ST_Read_Meta(${file('p.geojson')})`,
    sql`SELECT * FROM ST_Read(${sql.value(`GEOJSON:${join(dir, 'p.geojson')}`)})`,
    sql`SELECT * FROM ST_Read(${sql.value(geojson)})`,
    sql`SELECT * FROM ST_Read(${sql.value(layer)})`,
    sql`SELECT * FROM ST_Read('/vsistdin/')`,
    sql`SELECT * FROM ST_Read('/vsicurl/http://127.0.0.1:9/p.geojson')`,
    sql`SELECT * FROM ST_Read('http://127.0.0.1:9/p.geojson')`,
    sql`SELECT * FROM ST_Read(${sql.value(`/vsizip/${join(dir, 'p.zip')}`)})`,
    sql`SELECT * FROM ST_ReadOSM(${file('p.osm.pbf')})`,
    sql`SELECT * FROM shapefile_meta(${file('p.shp')})`,
    sql`SELECT * FROM ${sql.ident(join(dir, 'p.shp'))}`,
    sql`COPY (SELECT 1 AS a) TO ${file('out.geojson')} (FORMAT gdal, DRIVER 'GeoJSON')`,
    sql`SET geometry_always_xy = false`,
  ]
}

withExtensions(
  test,
  ['spatial'],
  'with spatial an engine reads what is attached and nothing else',
  async () => {
    await using resources = new Resources()
    const { path: dir } = resources.use(await temporaryDirectory())
    const path = join(dir, 'places.duckdb')
    await writeFile(join(dir, 'p.geojson'), geojson)
    const open = resources.use(await Database.open({ path, extensions }))
    const writer = resources.use(await open.connect())
    await writer.run(sql`CREATE TABLE rows AS SELECT 'POINT (1 2)'::GEOMETRY AS place`)
    await writer.run(
      sql`COPY (SELECT 1 AS a, place FROM rows) TO ${sql.value(join(dir, 'p.shp'))} (FORMAT gdal, DRIVER 'ESRI Shapefile')`,
    )
    // What is refused below is there and can be read where nothing is locked.
    for (const attempt of attempts(dir).slice(0, 3))
      assert.is((await writer.rows(attempt)).length, 1)
    await writer[Symbol.asyncDispose]()
    await open[Symbol.asyncDispose]()

    const files = [{ name: 'p', path }]
    const settings = { memoryLimit: null, tempDir: dir, extensions }
    const pool = resources.use(
      await openReadOnly({ ...settings, files, threads: 1, connections: 1 }),
    )
    const { connection } = resources.use(await pool.take())
    const found = await connection.row(
      sql`SELECT ST_Distance(place, ST_Point(4, 6)) AS d FROM p.main.rows`,
    )
    assert.is(found?.['d'], 5)
    for (const attempt of attempts(dir))
      assert.ok(await isRefused(connection.rows(attempt)), attempt.inline())
    await requireLockedDown(connection)

    // An engine that writes a file may reach one empty directory, and still nothing else.
    const empty = resources.use(await temporaryDirectory())
    const writing = { ...settings, files, dir: empty.path }
    const other = resources.use(await openFileWriter(writing))
    const lent = resources.use(await other.take())
    for (const attempt of attempts(dir))
      assert.ok(await isRefused(lent.connection.rows(attempt)), attempt.inline())
  },
)

withExtensions(
  test,
  ['spatial'],
  'longitude comes before latitude, in each connection',
  async () => {
    await using resources = new Resources()
    const { path: tempDir } = resources.use(await temporaryDirectory())
    const settings = { threads: 1, memoryLimit: null, connections: 1, tempDir, extensions }
    const pool = resources.use(await openReadOnly({ ...settings, files: [] }))
    for (let i = 0; i < 3; i++) {
      const { connection } = resources.use(await pool.take())
      const row = await connection.row(sql`SELECT round(ST_Distance_Spheroid(
      ST_Point(13.405, 52.52)::POINT_2D, ST_Point(2.3522, 48.8566)::POINT_2D)) AS metres`)
      assert.is(row?.['metres'], 879_699)
    }
  },
)

const isRefused = (running: Promise<unknown>): Promise<boolean> =>
  running.then(
    () => false,
    () => true,
  )

test.run()
