// A range that is rebuilt in pieces and was cut off: the plan says where the same command goes on.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

test('a plan says how many pieces are built, and from where on the run goes on', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/core/orders.csv': 'order_id,day\n1,2026-01-01\n2,2026-01-02\n3,2026-01-03\n',
  })
  const write = (limit: number) =>
    space.write(
      'models/hist/v.sql',
      `-- @kind: append
-- @incremental: day
SELECT day, CASE WHEN order_id <= ${limit} THEN order_id ELSE error('not yet') END AS n
FROM core.orders
`,
    )
  await write(9)
  await space.ok(['run'])
  await write(2)
  const range = ['hist.v', '--start', '2026-01-01', '--end', '2026-01-05', '--by', 'day']
  const plan = async () => (await space.ok(['plan', ...range])).stdout
  assert.match(await plan(), /backfill in 4 pieces\n/)
  const failed = await space.ok(['run', ...range], { exitCode: 1 })
  assert.match(failed.stdout, /2 of 4 pieces are built, and the same command continues there/)
  assert.match(await plan(), /in 4 pieces, of which 2 are built: from 2026-01-03 on\n/)
  await write(9)
  assert.match(await plan(), /in 4 pieces\n/, 'another SELECT begins again')
})

test('what a check finds is said once, not for each piece, also of a file with a space in its name', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/core/orders.csv': 'order_id,day\n1,2026-01-01\n2,2026-01-02\n',
    'models/hist/v.sql':
      '-- @kind: append\n-- @incremental: day\nSELECT day, order_id FROM core.orders\n',
    'checks/first orders.sql': '-- @warn\nSELECT * FROM hist.v WHERE order_id = 1\n',
  })
  await space.ok(['run'])
  const range = ['hist.v', '--start', '2026-01-01', '--end', '2026-01-03', '--by', 'day']
  const { stdout } = await space.ok(['run', ...range])
  assert.match(stdout, /warning +checks\/first orders\.sql:2:1: .* finds 1 row/)
  assert.not.match(stdout, /2026-01-01 to 2026-01-02/)
})

test('pieces that the column does not have, or that are too many, are refused before anything is built', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/core/orders.csv': 'order_id,day\n1,2026-01-01\n',
    'models/hist/v.sql':
      '-- @kind: append\n-- @incremental: day\nSELECT day, order_id FROM core.orders\n',
    'models/hist/n.sql':
      '-- @kind: append\n-- @incremental: order_id\nSELECT order_id FROM core.orders\n',
  })
  await space.ok(['run'])
  const refused = async (model: string, start: string, end: string, by: string) => {
    const range = [model, '--start', start, '--end', end, '--by', by]
    const plan = await space.ok(['plan', ...range], { exitCode: 2 })
    const run = await space.ok(['run', ...range], { exitCode: 2 })
    assert.is(run.stderr, plan.stderr)
    return run.stderr
  }
  assert.match(
    await refused('hist.v', '2026-01-01', '2026-01-05', 'fortnight'),
    /--by fortnight does not fit "day" \(DATE\), the @incremental of hist\.v\n *hint: write hour, day, week, month, quarter, year/,
  )
  for (const by of ['day', '0', '-1', '1.5'])
    assert.match(
      await refused('hist.n', '1', '9', by),
      /does not fit "order_id" \([A-Z]+\), the @incremental of hist\.n\n *hint: write a number/,
    )
  assert.match(await refused('hist.n', '1', '1e9', '1'), /makes more than 10,000 pieces/)
  for (const by of ['hour', 'day'])
    assert.match(
      await refused('hist.v', '0001-01-01', '9999-12-31', by),
      new RegExp(`--by ${by} makes more than 10,000 pieces`),
    )
  assert.match(
    await refused('hist.v', '2026-01-01', 'infinity', 'day'),
    /--by day makes no end of pieces of a range from 2026-01-01 to infinity\n/,
  )
  const { stdout } = await space.ok(['history', '--json'])
  assert.is(stdout.match(/"run_id"/g)?.length, 1, 'nothing is recorded')
})

test.run()
