// Columns of GEOMETRY in answers, without the extension spatial and with it. The distances are those of other programs.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { extensionCache, withExtensions } from '../../support/extension-cache.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'

const places: Table = {
  model: 'g.places',
  key: ['id'],
  rows: sql`SELECT id, name, loc::GEOMETRY('OGC:CRS84') AS loc, spot::GEOMETRY AS spot,
    thing::GEOMETRY AS thing, area::GEOMETRY('OGC:CRS84') AS area, route::GEOMETRY('OGC:CRS84') AS route
    FROM (VALUES
    (1, 'Berlin', 'POINT (13.405 52.52)', 'POINT (0 0)', 'POINT Z (1 2 3)',
      'POLYGON ((13 52, 14 52, 14 53, 13 53, 13 52))', 'LINESTRING (13.405 52.52, 2.3522 48.8566)'),
    (2, 'Paris', 'POINT (2.3522 48.8566)', 'POINT (3 4)',
      'GEOMETRYCOLLECTION (POINT (1 2), MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5), (5.1 5, 5.2 5, 5.2 5.1, 5.1 5))))',
      'POLYGON ((13 52, 14 52, 14 53, 13 53, 13 52))', 'LINESTRING EMPTY'),
    (3, 'Quito', 'POINT (-78.4678 -0.1807)', 'POINT EMPTY', 'LINESTRING ZM (1 2 3 4, 5 6 7 8)',
      'POLYGON ((0 0, 1 1, 1 0))', NULL),
    (4, 'nowhere', NULL, NULL, NULL, NULL, NULL)
    ) AS v(id, name, loc, spot, thing, area, route)`,
}

const PARIS = "geography'SRID=4326;Point(2.3522%2048.8566)'"

const BARE = { accept: 'application/json;odata.metadata=none' }

const value = async (served: Served, query: string) => {
  const answer = await served.get(`g_places?${query}`, BARE)
  assert.is(answer.status, 200, answer.text)
  return answer.json.value
}

const error = async (served: Served, query: string, status = 400): Promise<string> => {
  const answer = await served.get(`g_places?${query}`)
  assert.is(answer.status, status, answer.text)
  return answer.json.error.message
}

const shapesByRow = [
  {
    loc: { type: 'Point', coordinates: [13.405, 52.52] },
    spot: { type: 'Point', coordinates: [0, 0] },
    thing: { type: 'Point', coordinates: [1, 2, 3] },
  },
  {
    loc: { type: 'Point', coordinates: [2.3522, 48.8566] },
    spot: { type: 'Point', coordinates: [3, 4] },
    thing: {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Point', coordinates: [1, 2] },
        {
          type: 'MultiPolygon',
          coordinates: [
            [
              [
                [0, 0],
                [1, 0],
                [1, 1],
                [0, 0],
              ],
            ],
            [
              [
                [5, 5],
                [6, 5],
                [6, 6],
                [5, 5],
              ],
              [
                [5.1, 5],
                [5.2, 5],
                [5.2, 5.1],
                [5.1, 5],
              ],
            ],
          ],
        },
      ],
    },
  },
  {
    loc: { type: 'Point', coordinates: [-78.4678, -0.1807] },
    spot: { type: 'Point', coordinates: [] },
    // A measure has no place in GeoJSON.
    thing: {
      type: 'LineString',
      coordinates: [
        [1, 2, 3],
        [5, 6, 7],
      ],
    },
  },
  { loc: null, spot: null, thing: null },
]

test('without spatial: places are GeoJSON, and well-known text where a cell is a text', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [places])
  assert.equal(await value(served, '$select=loc,spot,thing'), shapesByRow)
  const route = (await served.get('g_places(2)/route')).json.value
  assert.equal(route, { type: 'LineString', coordinates: [] })
  assert.is((await served.get('g_places(1)/loc/$value')).text, 'POINT (13.405 52.52)')
  assert.is((await served.get('g_places(4)/loc/$value')).status, 204)
  const { text } = await served.get('g_places?$select=id,loc,thing&$format=csv&$top=1')
  assert.is(text, '"id","loc","thing"\r\n1,"POINT (13.405 52.52)","POINT Z (1 2 3)"\r\n')
  for (const format of ['parquet', 'arrow', 'xlsx'])
    assert.is((await served.get(`g_places?$format=${format}`)).status, 200, format)
  assert.equal(await value(served, '$filter=loc%20eq%20null&$select=id'), [{ id: 4 }])
})

test('a lookup gives the same bytes as the page with that row', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [places], { rowFiles: { rows: 1000 } })
  const { text } = await served.get('g_places')
  for (const id of [1, 2, 3, 4, 1, 2, 3, 4]) {
    const row = (await served.get(`g_places(${id})`)).text.replace(/^.*?,/, '{')
    assert.ok(text.includes(row), row)
  }
})

test('$metadata has the shape that all rows of a column have, and the reference system', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [places])
  const { text } = await served.get('$metadata')
  const types = [...text.matchAll(/Name="(\w+)" Type="(Edm\.Geo\w+)" SRID="(\d+)"/g)]
  assert.equal(
    types.map(([, ...facts]) => facts.join(' ')),
    [
      'loc Edm.GeographyPoint 4326',
      'spot Edm.GeometryPoint 0',
      'thing Edm.Geometry 0',
      'area Edm.GeographyPolygon 4326',
      'route Edm.GeographyLineString 4326',
    ],
  )
  const json = (await served.get('$metadata?$format=json')).json
  assert.is(json.eider.g_places.loc.$SRID, 4326)
  assert.is((await served.get('$openapi')).status, 200)
})

test('a place is grouped and counted, and neither sorted nor compared', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [places])
  const grouped = await value(served, '$apply=groupby((loc),aggregate($count%20as%20n))')
  assert.is(grouped.length, 4)
  const apply = '$apply=aggregate(loc%20with%20countdistinct%20as%20n)'
  assert.equal(await value(served, apply), [{ n: 3 }])
  assert.match(await error(served, '$orderby=loc'), /rows cannot be sorted by Edm.GeographyPoint/)
  assert.match(
    await error(served, '$apply=aggregate(loc%20with%20max%20as%20m)'),
    /max does not take Edm.GeographyPoint/,
  )
  for (const other of ["'POINT%20(1%202)'", PARIS, 'loc'])
    assert.match(await error(served, `$filter=loc%20eq%20${other}`), /cannot compare Edm.Geog/)
})

test('a delta link gives the row whose place has changed', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [places])
  const first = await served.get('g_places', { prefer: 'odata.track-changes' })
  const moved = sql`SELECT * REPLACE (CASE id WHEN 2 THEN 'POINT (2 48)'::GEOMETRY('OGC:CRS84') ELSE loc END AS loc)
    FROM (${places.rows})`
  await publish(served.dir, 'second', [{ ...places, rows: moved }])
  const delta = (first.json['@odata.deltaLink'] as string).slice(served.url.length + 1)
  let changes
  for (let i = 0; i < 100; i++) {
    changes = (await served.get(delta)).json.value
    if (changes.length > 0) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.equal(
    changes.map(({ id, loc }: { id: number; loc: unknown }) => [id, loc]),
    [[2, { type: 'Point', coordinates: [2, 48] }]],
  )
})

test('Q092 to Q094: without spatial the functions are 501 with the setting, and with a file that is missing with the command', async () => {
  await using resources = new Resources()
  const unnamed = await serve(resources, [places])
  const calls = [`geo.distance(loc,${PARIS})`, 'geo.length(route)', 'geo.intersects(loc,area)']
  for (const call of calls) {
    const message = await error(unnamed, `$compute=${call}%20as%20x`, 501)
    assert.match(
      message,
      /does not name the extension spatial; add extensions: \[spatial\] to eider/,
    )
  }
  const missing = { directory: served404, names: ['spatial', 'excel'] }
  const unloaded = await serve(resources, [places], { extensions: missing })
  for (const call of calls) {
    const message = await error(unloaded, `$compute=${call}%20as%20x`, 501)
    assert.match(message, /could not load the extension spatial; run "eider extension install"/)
    assert.not.match(message, new RegExp(served404))
  }
  const [logged] = unloaded.log.filter(({ event }) => event === 'geo-unserved')
  assert.is(logged?.fields['problem'], 'the extension spatial is not installed')
  assert.equal(await value(unloaded, '$select=loc,spot,thing'), shapesByRow)
})

const served404 = '/nowhere/extensions'

/** Also names one that is not loaded. */
const extensions = { directory: extensionCache, names: ['excel', 'spatial'] }

const withSpatial = (name: string, run: (served: Served) => Promise<void>) =>
  withExtensions(test, ['spatial'], name, async () => {
    await using resources = new Resources()
    await run(await serve(resources, [places], { extensions }))
  })

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1, `${actual}, not ${expected}`)

withSpatial('Q092: geo.distance: metres on the ellipsoid, longitude first', async (served) => {
  const by = `$compute=geo.distance(loc,@p)%20as%20d&$select=id,d&@p=${PARIS}`
  const found = await value(served, by)
  // With longitude and latitude exchanged it is 1,287,240; on a sphere 877,463.
  near(found[0].d, 879_699.3)
  assert.is(found[1].d, 0)
  assert.is(found[3].d, null)
  const within = `$filter=geo.distance(loc,${PARIS})%20lt%20880000&$select=id`
  assert.equal(idsOf(await value(served, within)), [1, 2])
  assert.equal(idsOf(await value(served, `${by}&$orderby=d%20desc`)), [3, 1, 2, 4])
  const order = `$orderby=geo.distance(loc,${PARIS})%20desc&$select=id`
  assert.equal(idsOf(await value(served, order)), [3, 1, 2, 4])
  const encoded = `geography%27SRID%3D4326%3BPoint%282.3522%2048.8566%29%27`
  const counted = await served.get(
    `g_places/$count?$filter=geo.distance(loc,${encoded})%20lt%20880000`,
  )
  assert.is(counted.text, '2')
  const planar = await value(
    served,
    "$compute=geo.distance(spot,geometry'SRID=0;Point(0%200)')%20as%20d&$select=d",
  )
  assert.equal(
    planar.map(({ d }: { d: number | null }) => d),
    [0, 5, null, null],
  )
})

const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id)

withSpatial(
  'Q093: geo.intersects: a point in an area; what is no area gives null',
  async (served) => {
    const inArea = '$compute=geo.intersects(loc,area)%20as%20i&$select=i'
    assert.equal(
      (await value(served, inArea)).map(({ i }: { i: boolean | null }) => i),
      [true, false, null, null],
    )
    const box = "geography'Polygon((13%2052,14%2052,14%2053,13%2053,13%2052))'"
    assert.equal(idsOf(await value(served, `$filter=geo.intersects(loc,${box})&$select=id`)), [1])
    const not = `$filter=not%20geo.intersects(loc,${box})&$select=id`
    assert.equal(idsOf(await value(served, not)), [2, 3])
  },
)

withSpatial('Q094: geo.length: metres of a line, nothing of other shapes', async (served) => {
  const rows = await value(served, '$compute=geo.length(route)%20as%20n&$select=n')
  near(rows[0].n, 879_699.3)
  assert.equal(
    rows.slice(1).map(({ n }: { n: number | null }) => n),
    [0, null, null],
  )
  // A column of several shapes: of those that are no line it is null.
  const mixed = await value(served, '$compute=geo.length(thing)%20as%20n&$select=n')
  assert.equal(
    mixed.map(({ n }: { n: number | null }) => n),
    [null, null, Math.hypot(4, 4), null],
  )
})

withSpatial(
  'places on two surfaces, in two systems, of other shapes, and too few are 400',
  async (served) => {
    const asked: Readonly<Record<string, RegExp>> = {
      'geo.distance(loc,spot)': /does not take \(Edm.GeographyPoint, Edm.GeometryPoint\)/,
      "geo.distance(spot,geometry'SRID=25832;Point(1%202)')":
        /needs places in one reference system, not of SRID 0 and 25832/,
      'geo.distance(loc,area)': /does not take \(Edm.GeographyPoint, Edm.GeographyPolygon\)/,
      'geo.distance(loc)': /takes 2 arguments, not 1/,
      'geo.length(loc)': /does not take \(Edm.GeographyPoint\)/,
      'geo.length(name)': /does not take \(Edm.String\)/,
      'geo.intersects(area,loc)': /does not take \(Edm.GeographyPolygon, Edm.GeographyPoint\)/,
      "geo.distance(loc,geography'Point(52.5%20130)')":
        /latitude of at most 90 .* \(at character 34\)/,
    }
    for (const [call, message] of Object.entries(asked))
      assert.match(await error(served, `$filter=${call}%20ne%20null`), message, call)
    assert.match(await error(served, '$filter=geo.area(loc)%20gt%201'), /no function "geo.area"/)
    const none = await value(served, '$compute=geo.distance(loc,null)%20as%20d&$select=d&$top=1')
    assert.equal(none, [{ d: null }])
  },
)

withSpatial('files, delta links and $apply calculate with places too', async (served) => {
  const by = `$filter=geo.distance(loc,${PARIS})%20lt%20880000`
  for (const format of ['parquet', 'arrow', 'xlsx', 'csv'])
    assert.is((await served.get(`g_places?${by}&$format=${format}`)).status, 200, format)
  const apply = `$apply=filter(geo.distance(loc,${PARIS})%20lt%20880000)/aggregate($count%20as%20n)`
  assert.equal(await value(served, apply), [{ n: 2 }])
  const first = await served.get(`g_places?${by}`, { prefer: 'odata.track-changes' })
  const delta = (first.json['@odata.deltaLink'] as string).slice(served.url.length + 1)
  assert.equal((await served.get(delta)).json.value, [])
  assert.equal(await value(served, '$select=loc,spot,thing'), shapesByRow)
})

test.run()
