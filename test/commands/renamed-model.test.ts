// What `eider mv` of a model leaves: nothing of its rollups, what is recorded of it, and a way back to states of before.

import { rename } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { catalogStates } from '../support/catalog-states.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

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

const kept = 'name: k\nodata:\n  keep_minutes: 1000\n  keep_snapshots: 9\n'

interface Recorded {
  readonly run_id: string
  readonly rule: string
  readonly because: string
}

/** Newest first. */
async function historyOf(space: Workspace, ...args: readonly string[]): Promise<Recorded[]> {
  const { stdout } = await space.ok(['history', ...args, '--json'])
  return stdout
    .trim()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Recorded)
}

test('the history of a table goes on under its new names, and it can be restored to a state of before', async () => {
  await using space = await workspace({ 'eider.yml': kept, 'models/core/o.sql': orders(5) })
  await space.ok(['run'])
  const first = (await historyOf(space))[0]!.run_id
  await space.write('models/core/o.sql', orders(50))
  await space.ok(['run'])
  await space.ok(['mv', 'core.o', 'core.p'])
  await space.ok(['mv', 'core.p', 'core.orders'])
  // The name is that of another table now.
  await space.write('models/core/o.sql', orders(7))
  await space.ok(['run'])
  const reasons = async (name: string) =>
    (await historyOf(space, name)).map(({ because }) => because)
  const since = ['nothing changed', 'renamed from core.p', 'renamed from core.o']
  assert.equal(await reasons('core.orders'), [...since, 'definition changed', 'first build'])
  assert.equal(await reasons('core.o'), ['first build'])
  assert.equal(await reasons('core.p'), ['renamed from core.o'])

  const other = await space.ok(['restore', 'core.o', '--at', first, '--yes'], { exitCode: 2 })
  assert.match(
    other.stderr,
    /what the state of \S+, published by run \S+ has as core\.o is another/,
  )
  await space.ok(['restore', 'core.orders', '--at', first, '--yes'])
  const rows = await space.ok(['query', 'SELECT v FROM core.orders ORDER BY id', '--json'])
  assert.is(rows.stdout, '{"v":5}\n{"v":6}\n')
  const all = await historyOf(space, 'core.orders')
  assert.is(all[0]!.rule, all.at(-1)!.rule)
})

test('a state from before a file was renamed by hand says under which name it can be restored', async () => {
  await using space = await workspace({ 'eider.yml': kept, 'models/core/o.sql': orders(5) })
  await space.ok(['run'])
  const first = (await historyOf(space))[0]!.run_id
  await rename(space.path('models/core/o.sql'), space.path('models/core/orders.sql'))
  await space.ok(['run'])
  const { stderr } = await space.ok(['restore', 'core.orders', '--at', first], { exitCode: 2 })
  assert.match(stderr, 'does not have core.orders, but core.o, which no file makes any more')
  const hint =
    /eider mv core\.orders core\.o, eider restore core\.o --at \S+ --yes, eider mv core\.o/
  assert.match(stderr, hint)
})

test('what the last run has said of a model stays with it under its new name', async () => {
  const checked = '-- @expose\n-- @warn: a < 1\nSELECT 1 AS a\n'
  await using space = await workspace({ 'eider.yml': 'name: k\n', 'models/core/o.sql': checked })
  await space.ok(['run'])
  await space.ok(['mv', 'core.o', 'core.orders'])
  await space.ok(['run'])
  const [run] = await historyOf(space, 'core.orders')
  assert.is(run!.because, 'nothing changed')
  const state = (await catalogStates(space))['core.orders']!
  assert.is(state.warned, 1)
  assert.is(state.builds.length, 1)
})

test.run()
