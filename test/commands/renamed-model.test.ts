// What `eider mv` of a model leaves: nothing of its rollups, and a way back to states of before.

import { existsSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const orders = (value: number) => `-- @kind: merge
-- @unique_key: id
-- @expose id
-- @measure amount: sum(v)
-- @time d
-- @rollup month
SELECT * FROM (VALUES (1, ${value}, DATE '2026-01-01'), (2, 6, DATE '2026-02-01')) t(id, v, d)
`

test('tables of rollups go with the name of their model', async () => {
  await using space = await workspace({
    'eider.yml': 'name: k\n',
    'models/core/o.sql': orders(5),
    // A model that somebody has written under such a name stays.
    'models/core/o_by_hand.sql': 'SELECT 1 AS a\n',
  })
  await space.ok(['run'])
  await space.ok(['mv', 'core.o', 'core.orders'])
  assert.not.match((await space.ok(['ls'])).stdout, 'core.o_by_month')
  const { stdout } = await space.ok(['run'])
  assert.match(stdout, /built +core\.orders_by_month/)
  assert.not.match(stdout, 'no file creates')
  const tables =
    "SELECT string_agg(table_name, ' ' ORDER BY table_name) AS t FROM duckdb_tables() WHERE schema_name = 'core'"
  const { stdout: found } = await space.ok(['query', tables, '--json'])
  assert.is(found.trim(), '{"t":"o_by_hand orders orders_by_month"}')
})

test('a state from before a renaming says under which name it can be restored', async () => {
  await using space = await workspace({
    'eider.yml': 'name: k\nodata:\n  keep_minutes: 1000\n  keep_snapshots: 9\n',
    'models/core/o.sql': orders(5),
  })
  await space.ok(['run'])
  const { stdout: runs } = await space.ok(['history', '--limit', '1', '--json'])
  const { run_id: run } = JSON.parse(runs.split('\n')[0]!) as { run_id: string }
  await space.write('models/core/o.sql', orders(50))
  await space.ok(['run'])
  await space.ok(['mv', 'core.o', 'core.orders'])
  await space.ok(['run'])
  const { stderr } = await space.ok(['restore', 'core.orders', '--at', run], { exitCode: 2 })
  assert.match(stderr, 'does not have core.orders, but core.o, which no file makes any more')
  const hint = /eider mv core\.orders core\.o, (eider restore core\.o --at \S+ --yes), eider mv/
  assert.match(stderr, hint)
  await space.ok(['mv', 'core.orders', 'core.o'])
  assert.ok(existsSync(space.path('models/core/o.sql')))
  await space.ok(['restore', 'core.o', '--at', run, '--yes'])
  await space.ok(['mv', 'core.o', 'core.orders'])
  const rows = await space.ok(['query', 'SELECT v FROM core.orders ORDER BY id', '--json'])
  assert.is(rows.stdout, '{"v":5}\n{"v":6}\n')
})

test.run()
