// Places from a project to an answer, by the built command line: what it installs, publishes and serves.
// Its commands are processes: an extension stays loaded in one.

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { extensionFile } from '../../src/duckdb/extension-files.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { ask, client } from '../support/shop-service.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const config = (names: string) => `name: geo\nextensions:\n  directory: ext\n  load: [${names}]\n`

const cities = (paris: string) => `-- @expose id
SELECT id, name, CAST(place AS GEOMETRY('EPSG:4326')) AS place, ST_Point(x, y)::GEOMETRY('EPSG:25832') AS plan
FROM (VALUES (1, 'Berlin', 'POINT (13.405 52.52)', 0, 0), (2, 'Paris', '${paris}', 3, 4), (3, 'nowhere', NULL, NULL, NULL))
  AS v(id, name, place, x, y)
`

const project = {
  'eider.yml': config('spatial'),
  'models/core/cities.sql': cities('POINT (2.3522 48.8566)'),
  'models/mart/near.sql': '-- @expose id\nSELECT id, place FROM core.cities\n',
}

const PARIS = "geography'SRID=4326;Point(2.3522 48.8566)'"
const near = `core_cities?$filter=geo.distance(place,${PARIS}) lt 880000&$select=id`

const serve = async (space: Workspace) => await space.start(['serve', '--port', '0', '--quiet'])

withExtensions(
  test,
  ['spatial'],
  'Q092 to Q094: a project that names spatial and installs it serves distances, lengths and areas',
  async () => {
    await using space = await workspace(project)
    await space.ok(['extension', 'install', '--from', extensionCache])
    await space.ok(['run'])
    const running = await serve(space)
    const { rows, refused } = client(running.url)
    const ids = async (path: string) => (await rows(path)).map(({ id }) => id)
    assert.equal(await ids(near), [1, 2])
    const [berlin] = await rows(
      `core_cities?$compute=geo.distance(place,${PARIS}) as d&$select=id,d`,
    )
    assert.ok(Math.abs(Number(berlin?.['d']) - 879_699.3) < 1, String(berlin?.['d']))
    assert.equal(
      await ids(
        "core_cities?$filter=geo.intersects(place,geography'Polygon((13 52,14 52,14 53,13 53,13 52))')&$select=id",
      ),
      [1],
    )
    const line = "geometry'SRID=25832;LineString(0 0,3 4)'"
    assert.equal(await ids(`core_cities?$filter=geo.length(${line}) eq 5&$select=id`), [1, 2, 3])
    const plane = "geo.distance(plan,geometry'SRID=25832;Point(0 0)')"
    assert.equal(await ids(`core_cities?$filter=${plane} ge 5&$select=id`), [2])
    const metadata = (await ask(running.url, '$metadata')).text
    assert.match(metadata, /Name="place" Type="Edm.GeographyPoint" SRID="4326"/)
    assert.match(metadata, /Name="plan" Type="Edm.GeometryPoint" SRID="25832"/)
    // A model that hands a place on has it in the same system, also where a later run builds it.
    assert.equal(metadata.match(/Type="Edm.GeographyPoint" SRID="4326"/g)?.length, 2)
    await refused(`core_cities?$filter=geo.distance(place,plan) lt 1`)
    await refused(`core_cities?$filter=geo.distance(place,geography'Point(1)') lt 1`)
    const { stdout } = await space.ok(['odata', 'preview', 'core_cities', `?${near.split('?')[1]}`])
    assert.equal((JSON.parse(stdout) as { value: unknown }).value, [{ id: 1 }, { id: 2 }])
    await space.ok(['odata', 'explain', 'core_cities', `?${near.split('?')[1]}`])
    await space.ok(['docs'])
    const typescript = await space.ok(['client', 'typescript'])
    assert.match(typescript.stdout, /^ +place: \{ type: string; .* \| null$/m)
    const python = await space.ok(['client', 'python'])
    assert.match(python.stdout, /"place": Optional\[Dict\[str, Any\]\]/)
  },
)

withExtensions(
  test,
  ['spatial'],
  'a run that builds in another process keeps the reference system, and the contract',
  async () => {
    await using space = await workspace(project)
    await space.ok(['extension', 'install', '--from', extensionCache])
    await space.ok(['run'])
    await space.write('models/core/cities.sql', cities('POINT (2 48)'))
    await space.ok(['run'])
    await space.write(
      'models/mart/near.sql',
      '-- @expose id\nSELECT id, place FROM core.cities WHERE TRUE\n',
    )
    const plan = await space.ok(['plan'])
    assert.not.match(plan.stdout, /retyped/)
    await space.ok(['run'])
    const running = await serve(space)
    const { rows } = client(running.url)
    assert.equal((await rows('mart_near?$select=id,place'))[1], {
      id: 2,
      place: { type: 'Point', coordinates: [2, 48] },
    })
    const metadata = (await ask(running.url, '$metadata')).text
    assert.equal(metadata.match(/Type="Edm.GeographyPoint" SRID="4326"/g)?.length, 2)
  },
)

withExtensions(
  test,
  ['spatial'],
  'Q092 to Q094: without the file, or its name in eider.yml, places are served and the functions are 501',
  async () => {
    await using space = await workspace(project)
    await space.ok(['extension', 'install', '--from', extensionCache])
    await space.ok(['run'])
    const place = { type: 'Point', coordinates: [13.405, 52.52] }
    const refusals: [string, RegExp][] = [
      [config('spatial'), /could not load the extension spatial; run "eider extension install"/],
      [config(''), /add extensions: \[spatial\] to eider\.yml, run "eider extension install"/],
    ]
    await rm(extensionFile(space.path('ext'), 'spatial'))
    for (const [text, hint] of refusals) {
      await space.write('eider.yml', text)
      await using running = await serve(space)
      const { rows, refused } = client(running.url)
      assert.match((await refused(near, 501)).message, hint)
      assert.equal((await rows('core_cities?$top=1&$select=id,place'))[0]?.['place'], place)
    }
  },
)

test.run()
