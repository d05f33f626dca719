// Over the life of a project: pages and changes across runs and restarts, formats, retention.

import { readdir, readFile, stat } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { ask } from '../support/shop-service.ts'

const model = (rows: number, factor: number) => `-- @kind: table
-- @expose id
SELECT i::INTEGER AS id, i * ${factor} AS amount, CASE WHEN i % 2 = 0 THEN 'even' END AS name FROM range(${rows}) AS r(i)`

const projectOf = (odata: string) =>
  workspace({ 'eider.yml': `name: pages\nodata:\n${odata}`, 'models/mart/rows.sql': model(25, 1) })

const below = (base: string, url: unknown) => {
  const text = String(url)
  assert.ok(text.startsWith(`${base}/`), text)
  return text.slice(base.length + 1)
}

async function build(space: Workspace, rows: number, factor: number): Promise<void> {
  await space.write('models/mart/rows.sql', model(rows, factor))
  await space.ok(['run'])
}

test('Q126: links and changes outlive runs and a restart of the service', async () => {
  await using space = await projectOf('  page_size: 10\n')
  await space.ok(['run'])
  let link: string
  let deltaLink: string
  {
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    const first = await ask(service.url, 'mart_rows?$filter=amount ge 3&$count=true')
    assert.is(first.json['@odata.count'], 22)
    assert.is(first.json.value.length, 10)
    link = below(service.url, first.json['@odata.nextLink'])
    const all = await ask(service.url, 'mart_rows', {
      headers: { prefer: 'odata.track-changes, odata.maxpagesize=100' },
    })
    assert.is(all.headers.get('preference-applied'), 'odata.track-changes, odata.maxpagesize=100')
    deltaLink = below(service.url, all.json['@odata.deltaLink'])
  }
  await build(space, 26, 1)
  const secret = await stat(space.path('.eider/odata.secret'))
  assert.is(secret.mode & 0o777, 0o600)
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const ids: unknown[] = []
  for (let target: string | null = link; target !== null;) {
    const page = await ask(service.url, target)
    assert.is(page.status, 200, page.text)
    ids.push(...page.json.value.map(({ id }) => id))
    const next = page.json['@odata.nextLink']
    target = next === undefined ? null : below(service.url, next)
  }
  assert.equal(
    ids,
    Array.from({ length: 12 }, (_, i) => 13 + i),
  )
  const changes = await ask(service.url, deltaLink)
  assert.equal(changes.json.value, [{ id: 25, amount: 25, name: null }])
  const forged = await ask(
    service.url,
    link.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
  )
  assert.is(forged.status, 400)
  assert.is(forged.json.error.target, '$skiptoken')
})

test('Q126: a link is 410 when a run has deleted its snapshot by the settings', async () => {
  await using space = await projectOf('  page_size: 10\n  keep_snapshots: 2\n  keep_minutes: 0\n')
  await space.ok(['run'])
  let link: string
  {
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    const first = await ask(service.url, 'mart_rows')
    link = below(service.url, first.json['@odata.nextLink'])
  }
  await build(space, 25, 2)
  const kept = async () =>
    (await readdir(space.path('.eider/snapshots'))).filter((name) => name.startsWith('manifest-'))
      .length
  assert.is(await kept(), 2)
  await build(space, 25, 3)
  assert.is(await kept(), 2)
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const gone = await ask(service.url, link)
  assert.is(gone.status, 410)
  assert.is(gone.json.error.code, 'snapshot-gone')
})

test('Q113, Q138: metadata=full, CSV and omitted nulls; analysts read current.sql meanwhile', async () => {
  await using space = await projectOf('  page_size: 10\n')
  await space.ok(['run'])
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const full = await ask(service.url, 'mart_rows(2)', {
    headers: { accept: 'application/json;odata.metadata=full' },
  })
  assert.is(full.json['@odata.id'], 'mart_rows(2)')
  assert.is((await ask(service.url, String(full.json['@odata.id']))).status, 200)
  const csv = await ask(service.url, 'mart_rows?$format=csv&$filter=id lt 3')
  assert.is(csv.text, '"id","amount","name"\r\n0,0,"even"\r\n1,1,\r\n2,2,"even"\r\n')
  const sparse = await ask(service.url, 'mart_rows?$top=2', {
    headers: { prefer: 'omit-values=nulls' },
  })
  assert.equal(sparse.json.value, [
    { id: 0, amount: 0, name: 'even' },
    { id: 1, amount: 1 },
  ])
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  await connection.driver.run(await readFile(space.path('.eider/snapshots/current.sql'), 'utf8'))
  const counted = await connection.row(sql`SELECT count(*) AS n FROM mart.rows`)
  assert.equal(counted, { n: '25' })
  await build(space, 30, 1)
})

test.run()
