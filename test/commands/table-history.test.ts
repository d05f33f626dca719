// `eider history core.orders`: what each run has changed in a table, in which way and by which rule.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const SEED = 'seeds/raw/orders.csv'
const rows = (...lines: readonly string[]) => ['id,day,v', ...lines, ''].join('\n')

const files = {
  'eider.yml': 'name: shop\nodata:\n  keep_snapshots: 10\n',
  [SEED]: rows('1,2026-01-01,a', '2,2026-01-02,b'),
  'models/core/merged.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT id, day, v FROM raw.orders\n',
  'models/core/mirror.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\nSELECT id, v FROM raw.orders\n',
  'models/core/added.sql':
    '-- @kind: append\n-- @incremental: day\nSELECT id, day, v FROM raw.orders\n',
  'models/core/versions.sql': '-- @kind: scd2\n-- @unique_key: id\nSELECT id, v FROM raw.orders\n',
  'models/core/days.sql':
    '-- @kind: period\n-- @period: day of day\nSELECT id, day, v FROM raw.orders\n',
  'models/core/seen.sql': '-- @kind: view\nSELECT id FROM raw.orders\n',
}

type Run = Readonly<Record<string, unknown>>

async function historyOf(space: Workspace, model: string): Promise<readonly Run[]> {
  const { stdout } = await space.ok(['history', model, '--json'])
  const lines = stdout.trim().split('\n')
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Run)
}

/** Newest first: way, in, changed, out, after. */
const changesOf = async (space: Workspace, model: string) =>
  (await historyOf(space, model)).map((run) =>
    ['way', 'rows_in', 'rows_changed', 'rows_out', 'rows_after'].map((name) => run[name]),
  )

test('rows that came, changed and went are counted for each kind', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write(SEED, rows('2,2026-01-02,B', '3,2026-01-03,c'))
  await space.ok(['run'])
  await space.ok(['run'])
  const none = [null, null, null, null, null]
  assert.equal(await changesOf(space, 'core.merged'), [
    none,
    ['update', 1, 1, 0, 3],
    ['rebuild', 2, null, null, 2],
  ])
  const found = async (model: string) => (await changesOf(space, model))[1]
  assert.equal(await found('core.mirror'), ['update', 1, 1, 1, 2])
  assert.equal(await found('core.added'), ['update', 2, 0, 0, 4])
  assert.equal(await found('core.versions'), ['update', 2, 2, 0, 4])
  assert.equal(await found('core.days'), ['update', 2, 0, 2, 2])
  assert.equal(await found('raw.orders'), ['rebuild', 2, null, 2, 2])
  assert.equal(await found('core.seen'), none, 'nobody counts the rows of a view')
})

test('rebuilds, ranges, erasures and what was changed by hand are told apart, with their rule', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const range = ['--start', '2026-01-01', '--end', '2026-01-04']
  await space.ok(['run', 'core.added', ...range])
  await space.ok(['run', 'core.added', ...range, '--by', 'day'])
  assert.equal((await changesOf(space, 'core.added')).slice(0, 2), [
    ['backfill', 2, 0, 2, 2],
    ['backfill', 2, 0, 2, 2],
  ])
  {
    await using database = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
    await using connection = await database.connect()
    await connection.run(sql`INSERT INTO core.merged VALUES (9, DATE '2026-01-09', 'by hand')`)
  }
  await space.ok(['publish', 'core.merged'])
  await space.write(
    'models/core/merged.sql',
    files['models/core/merged.sql'].replace('v FROM', 'upper(v) AS v FROM'),
  )
  await space.ok(['run', 'core.merged', '--full-refresh'])
  await space.ok(['erase', 'core.merged', 'id = 2'])
  const runs = await historyOf(space, 'core.merged')
  assert.equal(
    runs.map(({ status, way, because }) => [way ?? status, because]),
    [
      ['unchanged', 'nothing changed'],
      ['erase', 'rows were erased'],
      ['rebuild', 'definition changed'],
      ['publish', 'changed by hand'],
      ['rebuild', 'first build'],
    ],
  )
  const [, erased, rebuilt, byHand, first] = runs
  assert.equal([erased!['rows_out'], erased!['rows_after']], [1, 1])
  assert.equal([rebuilt!['rows_in'], rebuilt!['rows_out']], [2, 3])
  assert.equal([byHand!['rows_in'], byHand!['rows_after']], [null, 3])
  assert.is(byHand!['rule'], first!['rule'])
  assert.is.not(rebuilt!['rule'], first!['rule'])
  const { stdout } = await space.ok(['history', 'core.merged'])
  assert.match(
    stdout,
    /^run_id +started_at +status +way +in +changed +out +after +rule +kept +because\n/,
  )
  assert.match(stdout, /\n\S+ +\S+ +built +erase +0 +0 +1 +1 +[0-9a-f]{8} +rows were erased\n/)
  const list = await space.ok(['history', '--json'])
  assert.is(list.stdout.match(/"event":"run"/g)?.length, 7)
})

test('a state that is kept is marked, and only where the table is exposed', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write(SEED, rows('2,2026-01-02,B'))
  await space.ok(['run'])
  const kept = await historyOf(space, 'core.merged')
  for (const { run_id: id, state } of kept) {
    assert.match(String(state), /^[0-9a-f]{16}$/)
    const found = await space.ok(['query', '--at', String(id), 'FROM core.merged', '--json'])
    assert.match(found.stdout, String(id) === kept[0]!['run_id'] ? '"B"' : '"b"')
  }
  assert.match((await space.ok(['history', 'core_merged'])).stdout, /[0-9a-f]{8} +yes +first build/)
  assert.equal(
    (await historyOf(space, 'core.mirror')).map(({ state }) => state),
    [null, null],
  )
})

test('what another command did is not the run that --retry goes on with', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write('models/core/added.sql', "SELECT error('no') AS id, day FROM raw.orders\n")
  await space.ok(['run'], { exitCode: 1 })
  await space.ok(['publish', 'core.merged'])
  await space.write('models/core/added.sql', files['models/core/added.sql'])
  const { stdout } = await space.ok(['run', '--retry', '--json'])
  assert.match(stdout, /"model-finished","model":"core\.added"/)
})

test.run()
