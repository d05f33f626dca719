// Publication on a lake, and `eider pull`: machines make the same files of it, and services on them give the same answers.

import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { mistakes, schemaOf } from '../support/json-schema.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const secret = { ODATA_SECRET: 'ab'.repeat(32) }

const project = (lake: TestLake) => {
  const settings = Object.entries(lake.settings).map(([name, value]) => `  ${name}: '${value}'\n`)
  return {
    'eider.yml': `name: shop\nlake:\n${settings.join('')}odata:\n  page_size: 10\n  take_up_seconds: 0\n`,
    'seeds/ref/base.csv': 'n\n0\n',
    'models/mart/numbers.sql':
      '-- @expose id\nSELECT i + n AS id, i % 7 AS grp FROM range(40) t(i), ref.base ORDER BY hash(i)\n',
    'models/mart/unkeyed.sql':
      "-- @expose\nSELECT i AS v, 'x' || i AS t FROM range(30) t(i), ref.base ORDER BY hash(i)\n",
    'models/mart/seen.sql':
      '-- @kind: view\n-- @expose id\nSELECT id, now() AS at, sum(id) OVER () AS huge FROM mart.numbers\n',
  }
}

async function publish(space: Workspace, lake: TestLake, base: number): Promise<void> {
  await space.write('seeds/ref/base.csv', `n\n${base}\n`)
  await space.ok(['run'], { env: lake.env })
}

const snapshots = '.eider/snapshots'

lakeTest(
  'two machines pull one state, and each service follows the links of the other',
  async () => {
    await using lake = await withLake()
    const { env } = lake
    await using runner = await workspace(project(lake))
    await using one = await workspace(project(lake))
    await using other = await workspace(project(lake))
    assert.match((await one.ok(['pull'], { env })).stdout, /nothing is published yet/)
    await publish(runner, lake, 0)
    for (const space of [one, other])
      assert.match(
        (await space.ok(['pull'], { env })).stdout,
        /^pulled snapshot [0-9a-f]+, .*: 3 files in /,
      )
    const again = await one.ok(['pull', '--json'], { env })
    assert.match(again.stdout, /"changed":false,"files":0,"missed":\[\]/)
    assert.equal(mistakes(schemaOf('events').$defs!['pulled']!, JSON.parse(again.stdout)), [])

    // Services have no keys, and the lake is out of their reach.
    await using a = await one.start(['serve', '--port', '0'], { env: secret })
    await using b = await other.start(['serve', '--port', '0'], { env: secret })
    const both = async (path: string) => {
      const [x, y] = await Promise.all(
        [a, b].map(async ({ url }) => (await fetch(url + path)).text()),
      )
      const plain = (text: string, url: string) => text.replaceAll(url, '')
      assert.is(plain(x!, a.url), plain(y!, b.url), path)
      return JSON.parse(x!) as { '@odata.nextLink'?: string; value: readonly { id: number }[] }
    }
    const numbers = await both('/mart_numbers?$orderby=grp')
    await both('/mart_unkeyed')
    const seen = await both('/mart_seen?$top=3')
    assert.is(seen.value.length, 3)

    await publish(runner, lake, 100)
    for (const space of [one, other]) await space.ok(['pull'], { env })
    const ids = numbers.value.map(({ id }) => id)
    let next = numbers['@odata.nextLink']
    for (let turn = 0; next !== undefined; turn++) {
      const answer = await fetch(next.replace(a.url, [b.url, a.url][turn % 2]!))
      assert.is(answer.status, 200)
      const page = (await answer.json()) as typeof numbers
      ids.push(...page.value.map(({ id }) => id))
      next = page['@odata.nextLink']?.replace(b.url, a.url)
    }
    assert.equal(
      ids.toSorted((x, y) => x - y),
      Array.from({ length: 40 }, (_, i) => i),
    )
  },
)

lakeTest(
  'damaged files are made again by pull; a lake that is away leaves what is there',
  async () => {
    await using lake = await withLake()
    const { env } = lake
    await using runner = await workspace(project(lake))
    await using space = await workspace(project(lake))
    await publish(runner, lake, 0)
    await space.ok(['pull'], { env })
    const files = () =>
      readdirSync(space.path(snapshots)).filter((name) => name.endsWith('.duckdb'))
    const [cut, marked, gone] = files()
    const before = await readFile(space.path(snapshots, 'manifest.json'), 'utf8')
    await truncate(space.path(snapshots, cut!), 100)
    await writeFile(space.path(snapshots, `${marked}.damaged`), 'a problem\n')
    await rm(space.path(snapshots, gone!))
    assert.match(
      (await space.ok(['doctor'], { env, exitCode: 1 })).stdout,
      /fail {2}snapshot .*is missing.*\n.*then: eider pull/,
    )
    assert.match((await space.ok(['pull'], { env })).stdout, /is here already; 3 files made again/)
    assert.is(await readFile(space.path(snapshots, 'manifest.json'), 'utf8'), before)
    assert.match((await space.ok(['doctor'], { env })).stdout, /ok {4}snapshot .*entity sets/)
    assert.match((await runner.ok(['doctor'], { env })).stdout, /ok {4}snapshot {3}none on this/)
    assert.equal(
      readdirSync(space.path(snapshots)).filter((name) => name.endsWith('.damaged')),
      [],
    )

    const away = { ...env, LAKE_CATALOG: `postgres://${lake.user}@127.0.0.1:1/${lake.database}` }
    const { stderr } = await space.ok(['pull'], { env: away, exitCode: 3 })
    assert.match(stderr, /PostgreSQL does not answer/)
    assert.not(stderr.includes(lake.password))
    assert.is(files().length, 3)
  },
)

test('on a target of files there is nothing to pull', async () => {
  await using space = await workspace({ 'eider.yml': 'name: t\n' })
  const { stderr } = await space.ok(['pull'], { exitCode: 2 })
  assert.match(
    stderr,
    /this target publishes its files on this machine, so there is nothing to pull/,
  )
})

test.run()
