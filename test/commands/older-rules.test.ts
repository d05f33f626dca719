// The SELECT of a model whose rows stay is edited: what is left of the rule before is said until somebody decides.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const orders = `order_id,amount,changed_at
1,10,2026-01-01
2,20,2026-01-02
7,30,2026-01-07
8,64,2026-01-08
`

const model = (factor: string, header = '', kind = 'append') =>
  `-- @kind: ${kind}\n-- @incremental: changed_at\n-- @expose order_id\n${header}SELECT order_id, amount * ${factor} AS v, changed_at FROM core.orders\n`

const FILE = 'models/hist/v.sql'

async function opened(): Promise<Workspace> {
  const space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/core/orders.csv': orders,
    [FILE]: model('1.50'),
  })
  await space.ok(['run'])
  return space
}

const SAID =
  /3 of 4 rows were made before the rule of \d{4}-\d\d-\d\d \d\d:\d\d: eider run hist\.v --full-refresh rebuilds them, with --start and --end a range of them, --forward-only keeps them/

const rowsOf = async (space: Workspace): Promise<readonly string[]> => {
  const query = 'SELECT order_id, v::VARCHAR AS v FROM hist.v ORDER BY ALL'
  const { stdout } = await space.ok(['query', query, '--format', 'csv'])
  return stdout.trim().split(/\r?\n/).slice(1)
}

test('an edit is planned, warned of in every run, and ends with a rebuild', async () => {
  await using space = await opened()
  await space.write(FILE, model('1.25'))
  const planned = await space.ok(['plan'])
  assert.match(
    planned.stdout,
    /build +hist\.v +definition changed\n +3 of 4 rows keep an older rule: eider run hist\.v --full-refresh/,
  )
  assert.match((await space.ok(['run'])).stdout, SAID)
  assert.equal(await rowsOf(space), ['1,15.00', '2,30.00', '7,45.00', '8,80.00'])
  // The first without a change opens the engine, the second goes by what was noted.
  for (let i = 0; i < 2; i++) {
    const { stdout } = await space.ok(['run'])
    assert.match(stdout, /unchanged +hist\.v +nothing changed\n/)
    assert.match(stdout, SAID)
    assert.match(stdout, /2 unchanged, 1 warning in /)
  }
  const listed = (await space.ok(['ls'])).stdout
  assert.match(listed, /nothing changed; 3 of 4 rows were made before/)
  assert.match(listed, /\nolder rows of hist\.v: eider run hist\.v --full-refresh rebuilds them, /)
  assert.match((await space.ok(['plan'])).stdout, SAID)
  const events = (await space.ok(['run', '--json'])).stdout.trim().split('\n')
  const result = events
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find((event) => event['event'] === 'model-finished' && event['model'] === 'hist.v')
  const older = result?.['older_rows'] as Record<string, unknown>
  assert.equal([older['rows'], older['of']], [3, 4])
  await space.ok(['run', 'hist.v', '--full-refresh'])
  assert.not.match((await space.ok(['run'])).stdout, /warning/)
  assert.equal(await rowsOf(space), ['1,12.50', '2,25.00', '7,37.50', '8,80.00'])
})

test('a backfill by the new rule leaves the rest, --forward-only accepts it', async () => {
  await using space = await opened()
  await space.write(FILE, model('1.25'))
  const range = ['--start', '2026-01-02', '--end', '2026-01-08']
  const some = await space.ok(['run', 'hist.v', ...range])
  assert.match(some.stdout, /2 of 4 rows were made before the rule of/)
  assert.match((await space.ok(['plan'])).stdout, /build +hist\.v +definition changed\n/)
  const all = await space.ok(['run', '--forward-only'], { exitCode: 2 })
  assert.match(all.stderr, /--forward-only needs the names of the models/)
  const kept = await space.ok(['run', 'hist.v', '--forward-only'])
  assert.match(kept.stdout, /built +hist\.v +\d rows?, .*\(forward only\)/)
  assert.not.match(kept.stdout, /warning/)
  // The row at the watermark, which each run reads again, is one of those that are there.
  assert.equal(await rowsOf(space), ['1,15.00', '2,25.00', '7,37.50', '8,96.00'])
  assert.not.match((await space.ok(['run', '--select', 'hist.v'])).stdout, /warning/)
  await space.write('seeds/core/orders.csv', `${orders}3,8,2026-01-03\n9,40,2026-01-09\n`)
  assert.match((await space.ok(['plan', '--diff'])).stdout, /hist\.v[^]* 4 -> 6 rows: 2 inserted/)
  assert.not.match((await space.ok(['run'])).stdout, /warning/)
  const kept6 = ['1,15.00', '2,25.00', '3,10.00', '7,37.50', '8,96.00', '9,50.00']
  assert.equal(await rowsOf(space), kept6)
  await space.write(FILE, model('1.75'))
  assert.match((await space.ok(['run'])).stdout, /3 of 6 rows were made before the rule of/)
  assert.equal(await rowsOf(space), [...kept6.slice(0, 5), '9,70.00'])
})

test('with a key, rows that --forward-only reads again stay, and new ones of their time come', async () => {
  await using space = await opened()
  const keyed = (factor: string) =>
    `-- @kind: append\n-- @unique_key: order_id\n${model(factor).split('\n').slice(1).join('\n')}`
  await space.write(FILE, keyed('1.50'))
  await space.ok(['run'])
  await space.write(FILE, keyed('1.25'))
  await space.write('seeds/core/orders.csv', `${orders}9,40,2026-01-08\n`)
  await space.ok(['run', 'core.orders'])
  const { stdout } = await space.ok(['run', 'hist.v', '--forward-only'])
  assert.not.match(stdout, /warning/)
  const kept = ['1,15.00', '2,30.00', '7,45.00', '8,96.00', '9,50.00']
  assert.equal(await rowsOf(space), kept)
  assert.not.match((await space.ok(['run'])).stdout, /warning/)
  assert.equal(await rowsOf(space), kept)
})

test('a comment, a check and another key are no other rule', async () => {
  await using space = await opened()
  await space.write(FILE, `${model('1.50', '-- @check: v > 0\n-- @description: new\n')}-- end\n`)
  assert.not.match((await space.ok(['plan'])).stdout, /rule/)
  assert.not.match((await space.ok(['run'])).stdout, /rule/)
})

test('periods that an older rule has made are said until they are built again', async () => {
  const sums = (factor: string) => `-- @kind: period
-- @period: day of changed_at
-- @expose changed_at
SELECT changed_at, sum(amount * ${factor}) AS v FROM core.orders GROUP BY ALL
`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/core/orders.csv': orders,
    [FILE]: sums('1.50'),
  })
  await space.ok(['run'])
  await space.write(FILE, sums('1.25'))
  assert.match((await space.ok(['run'])).stdout, SAID)
  for (let i = 0; i < 2; i++) assert.match((await space.ok(['run'])).stdout, SAID)
  const range = ['run', 'hist.v', '--start', '2026-01-01', '--end', '2026-01-03']
  assert.match((await space.ok(range)).stdout, /1 of 4 rows were made before the rule/)
  await space.ok(['run', 'hist.v', '--forward-only'])
  assert.not.match((await space.ok(['run'])).stdout, /before the rule/)
})

test('periods of numbers that begin below what the column can hold are counted', async () => {
  const sums = (factor: string) => `-- @kind: period
-- @period: 100 of id lookback 2000
SELECT id, n * ${factor} AS v FROM core.n
`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/n.sql': 'SELECT unnest([5, 50])::UINTEGER AS id, 1 AS n\n',
    [FILE]: sums('1.50'),
  })
  await space.ok(['run'])
  await space.write(FILE, sums('1.25'))
  const { stdout } = await space.ok(['run'])
  assert.match(stdout, /built +hist\.v +2 rows/)
  assert.not.match(stdout, 'before the rule')
})

test('of a merge that reads all of its input no range is offered, and no rebuild of what is gone', async () => {
  const merge = (factor: string) =>
    `-- @kind: merge\n-- @unique_key: order_id\nSELECT order_id, amount * ${factor} AS v FROM core.orders\n`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/core/orders.csv': orders,
    [FILE]: merge('1'),
  })
  await space.ok(['run'])
  await space.write('seeds/core/orders.csv', orders.replace('1,10,2026-01-01\n', ''))
  await space.write(FILE, merge('2'))
  const { stdout } = await space.ok(['run'])
  assert.match(
    stdout,
    /1 of 4 rows were made before .*: eider run hist\.v --full-refresh rebuilds what the source still has, --forward-only keeps them/,
  )
  const ranged = ['run', 'hist.v', '--start', '2026-01-01', '--end', '2026-01-03']
  await space.ok(ranged, { exitCode: 2 })
})

const named = (name: string, factor: string, header = '', kind = 'append') =>
  model(factor, header, kind).replace(' AS v,', ` AS ${name},`).replace('-- @expose order_id\n', '')

const OLDER = /older rule|were made before/

for (const kind of ['append', 'merge\n-- @unique_key: order_id'])
  test(`a column that only gets another name is no other rule, of kind ${kind.split('\n')[0]}`, async () => {
    await using space = await workspace({
      'eider.yml': 'name: shop\n',
      'seeds/core/orders.csv': orders,
      [FILE]: named('v', '1.50', '', kind),
    })
    await space.ok(['run'])
    const silent = async (text: string) => {
      await space.write(FILE, text)
      for (const command of ['plan', 'ls', 'run', 'plan', 'ls']) {
        const { stdout } = await space.ok([command])
        assert.not.match(stdout, OLDER)
      }
    }
    await silent(named('w', '1.50', '-- @renamed_from w: v\n', kind))
    await silent(named('x', '1.50', '-- @renamed_from x: w\n-- @renamed_from x: v\n', kind))
    // The line may go once the table has the name.
    await silent(named('x', '1.50', '', kind))
    await space.write(FILE, named('y', '1.25', '-- @renamed_from y: x\n', kind))
    assert.match((await space.ok(['plan'])).stdout, /3 of 4 rows keep an older rule/)
    assert.match((await space.ok(['run'])).stdout, SAID)
  })

test.run()
