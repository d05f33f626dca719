// Two services that have pulled one state answer the same, byte for byte: one after each of the states before, from many
// small objects, the other later, from those that the upkeep has merged.

import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import type { Running, Workspace } from '../support/workspace.ts'

const HOST = 'localhost'

const env = { ODATA_SECRET: 'ab'.repeat(32) }

const files = (rows: number) => ({
  'models/raw/orders.sql': '-- @kind: events\n-- @expose\nid bigint not null\n',
  'models/mart/typed.sql': `-- @expose id\nSELECT i AS id, i % 3 AS grp, 'Z' || hash(i % 11) AS text,
  (i * 1.37)::DECIMAL(9, 2) AS price, i / 7 AS ratio, sum(i) OVER () AS huge, i % 2 = 0 AS flag,
  DATE '2026-01-01' + i::INTEGER AS day, TIMESTAMPTZ '2026-01-01 00:00:00Z' + to_minutes(i) AS at,
  CASE WHEN i % 4 > 0 THEN {'a': i, 'b': [i, NULL]} END AS nested
FROM range(${rows}) t(i) ORDER BY hash(i)\n`,
  'models/mart/keyless.sql': `-- @expose\nSELECT i % 5 AS v, 'x' || i AS t FROM range(${rows}) t(i) ORDER BY hash(i)\n`,
  'models/mart/seen.sql':
    '-- @kind: view\n-- @expose id\nSELECT id, now() AS at, random() AS r FROM mart.typed\n',
})

const requests = [
  '/',
  '/$metadata',
  '/$metadata?$format=json',
  '/mart_typed',
  '/mart_typed?$orderby=grp desc,text&$count=true',
  '/mart_typed?$orderby=ratio&$skip=3&$select=id,huge,nested',
  "/mart_typed?$filter=flag and price gt 20.5 and startswith(text,'Z1')",
  '/mart_typed?$apply=groupby((grp),aggregate(price with sum as total,huge with max as most))',
  '/mart_typed(5)',
  '/mart_typed(5)/text',
  '/mart_typed/$count',
  '/mart_typed?$format=csv',
  '/mart_typed?$format=csv&$orderby=grp',
  '/mart_typed?$format=parquet',
  '/mart_keyless',
  '/mart_keyless?$orderby=v',
  '/mart_keyless?$format=csv',
  '/mart_keyless?$format=parquet',
  '/mart_seen?$orderby=at,id',
  '/raw_orders',
  '/raw_orders?$format=csv',
  '/mart_typed?$apply=groupby((flag,grp),aggregate($count as n))&$orderby=n',
  '/no_such_set',
]

lakeTest('two services that have pulled one state answer the same bytes', async () => {
  await using lake = await withLake()
  await using runner = await lakeProject(lake, files(30))
  await using early = await lakeProject(lake, files(30))
  await using late = await lakeProject(lake, files(30))
  for (const batch of [0, 1]) {
    await collect(runner, batch)
    const changed = files(40 + batch)
    for (const [path, text] of Object.entries(changed)) await runner.write(path, text)
    await runner.ok(['run'])
    await early.ok(['pull'])
  }
  await runner.ok(['maintain'])
  await late.ok(['pull'])
  await using a = await early.start(['serve', '--port', '0'], { env })
  await using b = await late.start(['serve', '--port', '0'], { env })
  let pages = 0
  for (const request of requests)
    for (let path: string | undefined = request; path !== undefined; pages++) {
      const [one, other] = await Promise.all([a, b].map((service) => answerOf(service, path!)))
      assert.is(one!.status, path === '/no_such_set' ? 404 : 200, path + one!.body)
      assert.equal(other, one, path)
      path = /"@odata\.nextLink":"([^"]*)"/
        .exec(one!.body)?.[1]
        ?.replace(/^https?:\/\/[^/]*\/odata/, '')
    }
  assert.ok(pages > requests.length + 10, `${pages} pages`)
})

/** As behind a balancer: both are asked by one name. */
async function answerOf({ url }: Running, path: string) {
  const asked = get(url + path, { headers: { Host: HOST, Prefer: 'odata.maxpagesize=7' } })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const { statusCode: status, headers } = answer
  const named = ['etag', 'content-type', 'content-length', 'cache-control', 'odata-version', 'vary']
  const body = Buffer.concat(await answer.toArray()).toString('latin1')
  return { status, headers: named.map((name) => headers[name]), body }
}

async function collect(space: Workspace, batch: number): Promise<void> {
  await using daemon = await startDaemon(space)
  for (const part of [0, 1, 2]) {
    const ids = Array.from({ length: 5 }, (_, i) => 1000 - 100 * batch - 10 * part - i)
    const body = ids.map((id) => `{"id":${id}}\n`).join('')
    const headers = { 'Content-Type': 'application/x-ndjson' }
    const sent = { method: 'POST', headers, body }
    const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, sent)
    assert.is(answer.status, 202, await answer.text())
  }
}

test.run()
