// `eider flush` on a lake: collectors of several machines move their events into one table, each event once.

import { startDaemon } from '../support/daemon-process.ts'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

/** A machine: a checkout of the project with a buffer of its own. */
async function machine(lake: TestLake): Promise<Workspace> {
  const settings = Object.entries(lake.settings).map(([name, value]) => `  ${name}: '${value}'\n`)
  return workspace({
    'eider.yml': `name: shop\nlake:\n${settings.join('')}`,
    'models/raw/orders.sql': '-- @kind: events\nid bigint not null,\namount decimal(12,2)\n',
    'models/mart/total.sql': 'SELECT count(*) AS n, sum(id) AS ids FROM raw.orders\n',
  })
}

async function collect(space: Workspace, ids: readonly number[]): Promise<void> {
  await using daemon = await startDaemon(space)
  const body = ids.map((id) => `{"id":${id},"amount":1.5}\n`).join('')
  const headers = { 'Content-Type': 'application/x-ndjson' }
  const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers,
    body,
  })
  assert.is(answer.status, 202, await answer.text())
}

async function idsIn(space: Workspace, { env }: TestLake): Promise<readonly number[]> {
  const text = 'SELECT id::INTEGER AS id FROM raw.orders ORDER BY id'
  const { stdout } = await space.ok(['query', text, '--json'], { env })
  return stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id)
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

lakeTest('collectors of two machines flush into one table; the next run builds on it', async () => {
  await using lake = await withLake()
  const { env } = lake
  await using one = await machine(lake)
  await using other = await machine(lake)
  await collect(one, range(0, 20))
  await collect(other, range(20, 50))
  const [a, b] = await Promise.all([one.ok(['flush'], { env }), other.ok(['flush'], { env })])
  assert.match(a.stdout, /^flushed +raw\.orders +20 events/)
  assert.match(b.stdout, /^flushed +raw\.orders +30 events/)
  assert.equal(await idsIn(one, lake), range(0, 50))
  assert.match((await one.ok(['flush'], { env })).stdout, /nothing to flush/)
  await other.ok(['run'], { env })
  const { stdout } = await one.ok(['query', 'FROM mart.total', '--json'], { env })
  assert.equal(JSON.parse(stdout), { n: '50', ids: '1225' })
})

lakeTest(
  'a value that a lake would not give back is rejected with its reason, and no other',
  async () => {
    await using lake = await withLake()
    const { env } = lake
    await using space = await machine(lake)
    const model = '-- @kind: events\nid bigint not null,\nsize hugeint,\nspan interval[]\n'
    await space.write('models/raw/orders.sql', model)
    await space.write(
      'models/mart/total.sql',
      'SELECT count(*) AS n, sum(id) AS ids FROM raw.orders\n',
    )
    {
      await using daemon = await startDaemon(space)
      const body = [
        { id: 1, size: '99999999999999999999999999999999999999', span: ['1 month', '-30 days'] },
        { id: 2, size: '170141183460469231731687303715884105727', span: null },
        { id: 3, size: '-100000000000000000000000000000000000000', span: ['90 days 23:59:59'] },
        { id: 4, size: null, span: [null] },
      ]
      const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-ndjson' },
        body: body.map((event) => `${JSON.stringify(event)}\n`).join(''),
      })
      assert.is(answer.status, 202, await answer.text())
    }
    const plan = await space.eider(['plan', '--diff'], { env })
    assert.match(plan.stdout, /cannot store 1701\d+ as HUGEINT in this target/)
    const { stdout } = await space.ok(['flush'], { env })
    assert.match(stdout, /2 events, 2 rejected/)
    assert.equal(await idsIn(space, lake), [1, 4])
    const text = 'SELECT reason FROM _eider.rejected_events ORDER BY seq'
    const reasons = (await space.ok(['query', text, '--json'], { env })).stdout
    assert.match(reasons, /column \\"size\\": cannot store 1701\d+ as HUGEINT in this target/)
    assert.match(reasons, /cannot store -1000\d+ as HUGEINT/)
  },
)

lakeTest(
  'an answer to COMMIT that is lost, or a COMMIT that is cut off, loses and doubles nothing',
  async () => {
    await using lake = await withLake()
    const { env } = lake
    await using space = await machine(lake)
    await collect(space, range(0, 10))
    await space.ok(['flush'], { env })
    for (let round = 1; round <= 2; round++) {
      await collect(space, range(round * 10, round * 10 + 10))
      const lost = lake.catalog.loseNextCommit()
      await Promise.all([lost, space.eider(['flush'], { env })])
      await space.ok(['flush'], { env })
      assert.equal(await idsIn(space, lake), range(0, round * 10 + 10))
    }
    await collect(space, range(30, 40))
    await Promise.all([lake.catalog.cutNextCommit(), space.eider(['flush'], { env })])
    await space.ok(['flush'], { env })
    assert.equal(await idsIn(space, lake), range(0, 40))
    assert.equal(lake.store.deletions, [])
  },
)

test.run()
