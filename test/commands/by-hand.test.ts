// Rows that somebody changes in the warehouse with another program are noticed: their number by plans and runs, and all
// values by doctor.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { catalogStates } from '../support/catalog-states.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'seeds/raw/orders.csv': 'id,day,total\n1,2026-01-01,10\n2,2026-01-02,20\n3,2026-01-03,30\n',
  'models/core/orders.sql':
    '-- @kind: append\n-- @incremental: day\n-- @expose id\nSELECT id, day, total FROM raw.orders\n',
  'models/mart/sum.sql': '-- @expose\nSELECT sum(total) AS total FROM core.orders\n',
  'models/mart/days.sql': '-- @kind: view\n-- @expose id\nSELECT id, day FROM core.orders\n',
}

async function byHand(space: Workspace, statement: Sql): Promise<void> {
  await using database = await Database.open({ path: space.path('.eider', 'warehouse.duckdb') })
  await using connection = await database.connect()
  await connection.run(statement)
}

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly next?: string
}

async function tables(space: Workspace): Promise<Finding> {
  const { stdout } = await space.ok(['doctor', '--json'])
  const lines = stdout.trim().split('\n')
  const findings = lines.map((line) => JSON.parse(line) as Finding)
  return findings.find(({ check }) => check === 'tables')!
}

test('rows that somebody deletes are told by plan, by each run and by doctor, until they are published', async () => {
  await using space = await workspace(files)
  assert.match((await tables(space)).message, 'there is none')
  await space.ok(['run'])
  await space.ok(['run'])
  assert.equal((await tables(space)).status, 'ok')
  assert.not.match((await space.ok(['plan'])).stdout, /by hand/)
  await byHand(space, sql`DELETE FROM core.orders WHERE id = 2`)

  const text =
    'somebody has changed the table by hand, which has 2 rows, its set 3; to publish it: eider publish core.orders'
  const plan = await space.ok(['plan', '--json'])
  const step = plan.stdout
    .split('\n')
    .filter((line) => line.includes('"event":"step"') && line.includes('"core.orders"'))
    .map((line) => JSON.parse(line) as { readonly warnings: readonly string[] })
    .find(({ warnings }) => warnings.length > 0)
  assert.equal(step?.warnings, [text])
  // Each of them, though the second would have nothing to look at.
  for (const times of ['first', 'second', 'third']) {
    const { stdout } = await space.ok(['run'])
    assert.match(stdout.replaceAll(/\s+/g, ' '), `warning core.orders ${text}`, times)
  }
  const run = await space.ok(['run', '--json'])
  assert.match(
    run.stdout,
    '{"event":"changed-by-hand","model":"core.orders","rows":2,"published":3}',
  )
  const finding = await tables(space)
  assert.equal([finding.status, finding.next], ['warn', 'eider publish core.orders'])

  await space.ok(['publish', 'core.orders'])
  assert.not.match((await space.ok(['run'])).stdout, /by hand/)
  assert.equal((await tables(space)).status, 'ok')
})

test('what a warning finds in rows of somebody else is published with them', async () => {
  const { 'models/core/orders.sql': model } = files
  const warned = { 'models/core/orders.sql': `-- @warn: total < 40\n${model}` }
  await using space = await workspace({ ...files, ...warned })
  await space.ok(['run'])
  await byHand(space, sql`UPDATE core.orders SET total = 50 WHERE id = 2`)
  await space.ok(['publish', 'core.orders'])
  const { warnings } = (await catalogStates(space))['core.orders']!
  assert.match(warnings.join(), 'total < 40 does not hold for 1 row')
})

test('a value that somebody corrects is found by doctor, which compares all of them', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await byHand(space, sql`UPDATE core.orders SET total = 25 WHERE id = 2`)
  assert.not.match((await space.ok(['plan'])).stdout, /by hand/)
  const finding = await tables(space)
  assert.is(finding.status, 'warn')
  assert.match(finding.message, /^core\.orders: .*which has other values than its set$/)
  await space.ok(['publish', 'core.orders'])
  await space.ok(['run'])
  assert.equal((await tables(space)).status, 'ok')
})

test('a table that is built again, or waits to be, is nobody else’s', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await byHand(space, sql`DELETE FROM mart.sum`)
  await space.write(
    'models/mart/sum.sql',
    '-- @expose\nSELECT sum(total) + 0 AS total FROM core.orders\n',
  )
  assert.not.match((await space.ok(['plan'])).stdout, /by hand/)
  assert.not.match((await space.ok(['run'])).stdout, /by hand/)
  assert.equal((await tables(space)).status, 'ok')
})

test('events that somebody deletes are missed where models follow them', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/raw/hits.sql': '-- @kind: events\nid BIGINT NOT NULL,\nreceived_at TIMESTAMPTZ\n',
    'models/core/log.sql':
      '-- @kind: append\n-- @incremental: received_at\nSELECT id, received_at FROM raw.hits\n',
  })
  const daemon = await space.start(['collect', 'daemon', '--port', '0'])
  const body = JSON.stringify(
    [1, 2, 3].map((id) => ({ id, received_at: `2026-01-0${id}T00:00:00Z` })),
  )
  const headers = { 'Content-Type': 'application/json' }
  await fetch(`${daemon.url}/collect/raw/hits/batch`, { method: 'POST', headers, body })
  await daemon.stop()
  await space.ok(['run'])
  assert.not.match((await space.ok(['run'])).stdout, /by hand/)
  await byHand(space, sql`DELETE FROM raw.hits WHERE id < 3`)
  const text =
    /somebody has deleted 2 rows of the table by hand, or more; .*: eider publish raw\.hits/
  assert.match((await space.ok(['plan'])).stdout, text)
  assert.match((await space.ok(['run'])).stdout.replaceAll(/\s+/g, ' '), text)
  assert.is((await tables(space)).status, 'warn')
  await space.ok(['publish', 'raw.hits'])
  assert.not.match((await space.ok(['plan'])).stdout, /by hand/)
})

test.run()
