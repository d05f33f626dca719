// `eider restore`: a table gets back the rows of an earlier published state, and what follows it reads them.

import { readFile, rm, truncate } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileOnce } from '../../src/compiler/compile-once.ts'
import { findModel } from '../../src/compiler/select.ts'
import { parseManifest, type Snapshot } from '../../src/core/snapshot.ts'
import { recordErasure } from '../../src/pipeline/erase/record.ts'
import { restoreTable } from '../../src/pipeline/restore.ts'
import { loadProject } from '../../src/project/load.ts'
import { findPastState, stateText } from '../../src/report/past-state.ts'
import { openStore } from '../../src/store/open.ts'
import { clientsOf } from '../../src/wiring/clients.ts'
import { changeWarehouse } from '../../src/wiring/change-warehouse.ts'
import { runOptionsOf } from '../../src/wiring/run-options.ts'
import { catalogStates } from '../support/catalog-states.ts'
import { holdDatabase } from '../support/hold-database.ts'
import { modelName } from '../support/model-name.ts'
import { pathsOf } from '../support/pipeline-project.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const SEED = 'seeds/raw/orders.csv'
const rows = (...lines: readonly string[]) => ['id,day,v', ...lines, ''].join('\n')
const FIRST = rows('1,2026-01-01,10', '2,2026-01-02,20')

const MERGE =
  '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT id, day, v FROM raw.orders\n'

const files = {
  'eider.yml': 'name: shop\nodata:\n  keep_snapshots: 20\n',
  [SEED]: FIRST,
  'models/core/orders.sql': MERGE,
  'models/mart/total.sql': '-- @expose\nSELECT sum(v)::INTEGER AS total FROM core.orders\n',
  'models/mart/copied.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\nSELECT id, day, v FROM core.orders\n',
}

async function run(space: Workspace, seed: string): Promise<Snapshot> {
  await space.write(SEED, seed)
  await space.ok(['run', '--quiet'])
  return current(space)
}

const current = async (space: Workspace) =>
  parseManifest(await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'))

async function valuesOf(space: Workspace, sql: string): Promise<unknown> {
  const { stdout } = await space.ok(['query', sql, '--json'])
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => Object.values(JSON.parse(line) as object)[0] as unknown)
}

const ordersIn = (space: Workspace, table = 'core.orders') =>
  valuesOf(space, `SELECT id || '=' || v FROM ${table} ORDER BY id`)

const restore = (space: Workspace, at: string, model = 'core.orders') =>
  space.ok(['restore', model, '--at', at, '--yes'])

const problem = async (space: Workspace, at: string, exitCode = 2, model = 'core.orders') =>
  (await space.ok(['restore', model, '--at', at, '--yes'], { exitCode })).stderr

test('the rows of then come back, are published, and what reads the table is built again', async () => {
  await using space = await workspace(files)
  const first = await run(space, FIRST)
  await run(space, rows('1,2026-01-01,-1', '3,2026-01-03,30'))
  const bad = ['1=-1', '2=20', '3=30']
  assert.equal(await ordersIn(space), bad)
  const asked = await space.ok(['restore', 'core.orders', '--at', first.runId], { exitCode: 2 })
  assert.match(asked.stdout, /would restore {2}core\.orders {2}1 row in, 2 out, 2 afterwards\n/)
  assert.match(asked.stderr, /nothing was changed\nhint: add --yes/)
  assert.equal(await ordersIn(space), bad)
  const when = first.publishedAt.toISOString()
  const { stdout } = await space.ok(['restore', 'core_orders', '--at', when, '--yes', '--json'])
  const said = JSON.parse(stdout) as Record<string, unknown>
  assert.equal(
    ['event', 'model', 'run_id', 'dry_run', 'rows_in', 'rows_out', 'rows_after'].map(
      (name) => said[name],
    ),
    ['restored', 'core.orders', first.runId, false, 1, 2, 2],
  )
  assert.match(String(said['next_run']), /the next run merges what its SELECT gives now/)
  assert.equal(await ordersIn(space), ['1=10', '2=20'])
  const now = await current(space)
  assert.is(now.id, said['snapshot'])
  assert.is(now.relations.find(({ model }) => model === 'core.orders')?.rows, 2)
  const before = await space.ok(['query', '--at', now.runId, 'FROM mart.total', '--json'])
  assert.is(before.stdout, '{"total":49}\n', 'what reads it waits for the next run')
  await space.write(SEED, rows('4,2026-01-04,40'))
  const { stdout: next } = await space.ok(['run'])
  assert.match(next, /core\.orders .*\(rows were restored\)/)
  assert.equal(await ordersIn(space), ['1=10', '2=20', '4=40'])
  assert.equal(await valuesOf(space, 'FROM mart.total'), [70])
  const copied = (await ordersIn(space, 'mart.copied')) as readonly string[]
  assert.equal(copied.slice(0, 2), ['1=10', '2=20'], 'a follower has read the older rows again')
  assert.match((await space.ok(['run'])).stdout, /4 unchanged/)
  const again = await space.ok(['restore', 'core.orders', '--at', (await current(space)).runId])
  assert.match(again.stdout, /core\.orders is as it was then\n/)
})

test('the history tells of it, with the rule that had made the rows', async () => {
  await using space = await workspace(files)
  const first = await run(space, FIRST)
  await space.write('models/core/orders.sql', MERGE.replace('v FROM', '-v AS v FROM'))
  await run(space, rows('1,2026-01-01,11', '3,2026-01-03,30'))
  await restore(space, first.runId)
  const runs = (await space.ok(['history', 'core.orders', '--json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const [restored, changed, built] = runs
  assert.equal(
    ['way', 'rows_in', 'rows_out', 'rows_after'].map((name) => restored![name]),
    ['restore', 1, 2, 2],
  )
  assert.is(restored!['rule'], built!['rule'])
  assert.is.not(restored!['rule'], changed!['rule'])
  const kept = await space.ok(['query', '--at', String(restored!['run_id']), 'FROM core.orders'])
  assert.match(kept.stdout, /20/)
  const plan = await space.ok(['run', 'core.orders'])
  assert.match(plan.stderr + plan.stdout, /1 of 3 rows .*(?:an older rule|before the rule)/)
  assert.equal(await ordersIn(space), ['1=-11', '2=20', '3=-30'])
})

test('each kind says what the next run does, and does it', async () => {
  await using space = await workspace({
    ...files,
    'models/core/made.sql': '-- @expose id\nSELECT id, v FROM raw.orders\n',
    'models/core/added.sql':
      '-- @kind: append\n-- @unique_key: id\n-- @incremental: day\n-- @expose id\nSELECT id, day, v FROM raw.orders\n',
    'models/core/days.sql':
      '-- @kind: period\n-- @period: day of day\n-- @unique_key: id\n-- @expose id\nSELECT id, day, v FROM raw.orders\n',
    'models/core/versions.sql':
      '-- @kind: scd2\n-- @unique_key: id\n-- @expose id, valid_from\nSELECT id, v FROM raw.orders\n',
  })
  const first = await run(space, FIRST)
  await run(space, rows('1,2026-01-01,-1', '2,2026-01-02,20', '3,2026-01-03,30'))
  const said = {
    'core.made': 'which undoes this',
    'core.added': 'continues from its newest row',
    'core.days': 'builds the newest periods again',
    'core.versions': 'versions that have begun or ended since are forgotten',
  }
  for (const [model, text] of Object.entries(said)) {
    assert.match((await restore(space, first.id, model)).stdout, text)
    assert.equal(await ordersIn(space, model), ['1=10', '2=20'])
  }
  await space.ok(['run'])
  assert.equal(await ordersIn(space, 'core.made'), ['1=-1', '2=20', '3=30'])
  assert.equal(await ordersIn(space, 'core.added'), ['1=10', '2=20', '3=30'])
  const days = (await ordersIn(space, 'core.days')) as readonly string[]
  assert.equal(days.slice(1), ['2=20', '3=30'])
  assert.equal(
    await valuesOf(
      space,
      'SELECT id || $$=$$ || v FROM core.versions WHERE is_current ORDER BY id',
    ),
    ['1=-1', '2=20', '3=30'],
  )
  assert.equal(await valuesOf(space, 'SELECT count(*)::INTEGER FROM core.versions'), [4])
  assert.match((await space.ok(['run'])).stdout, /8 unchanged/)
})

test('what a state cannot give back is refused, and nothing changes', async () => {
  await using space = await workspace({
    ...files,
    'models/core/hidden.sql': MERGE.replace('-- @expose id\n', ''),
    'models/core/seen.sql': '-- @kind: view\n-- @expose id\nSELECT id FROM core.orders\n',
    'models/raw/events.sql': '-- @kind: events\n-- @expose\nid BIGINT\n',
  })
  const first = await run(space, FIRST)
  await space.write(
    'models/core/orders.sql',
    MERGE.replace('id, day, v', "id, day, v, 'x' AS more").replace(
      'merge\n',
      'merge\n-- @on_schema_change: append\n',
    ),
  )
  await space.ok(['run'], { exitCode: 1 }).catch(() => undefined)
  await space.write(
    'models/core/orders.sql',
    MERGE.replace('id, day, v', "id, day, v, 'x' AS more"),
  )
  await space.ok(['run'])
  const columns = await problem(space, first.id)
  assert.match(
    columns,
    /had other columns then: the state has no "more", whose values would be lost/,
  )
  assert.match(await problem(space, first.id, 2, 'core.hidden'), /core\.hidden is not exposed, so/)
  assert.match(await problem(space, first.id, 2, 'core.seen'), /core\.seen is a view/)
  assert.match(await problem(space, first.id, 2, 'raw.events'), /raw\.events holds events/)
  assert.match(await problem(space, first.id, 2, 'core.order'), /did you mean "core\.orders"/)
  assert.match(await problem(space, '2020-01-01', 3), /no published state of 2020-01-01 is kept/)
  assert.match(await problem(space, '2999-01-01'), /is in the future/)
  await space.write('models/mart/new.sql', '-- @expose id\nSELECT 1 AS id\n')
  await space.ok(['run'])
  const notYet = await problem(space, first.id, 2, 'mart.new')
  assert.match(notYet, /does not have mart\.new\nhint: a state holds models that were exposed then/)
  const erasure = { model: modelName('core.orders'), begun_at: 'now', erased: [], deleting: [] }
  await recordErasure(pathsOf(space.dir), '0'.repeat(16), erasure)
  assert.match(await problem(space, first.id, 3), /an erasure in core\.orders .* is unfinished/)
})

test('rows that fail a check of today do not come back', async () => {
  await using space = await workspace({
    ...files,
    'checks/few.sql': '-- @check: up to 1 row\nSELECT id FROM core.orders WHERE v > 15\n',
  })
  const first = await run(space, FIRST)
  const cheap = rows('1,2026-01-01,1', '2,2026-01-02,2')
  await run(space, cheap)
  await space.write('models/core/orders.sql', `-- @check: v < 20\n${MERGE}`)
  await space.ok(['run'])
  const refused = await problem(space, first.id)
  assert.match(
    refused,
    /the rows of then fail a check: models\/core\/orders\.sql:1:4: v < 20 does not hold for 1 row: .*20.*\nhint: nothing was changed/,
  )
  assert.equal(await ordersIn(space), ['1=1', '2=2'])
  await space.write('models/core/orders.sql', `-- @warn: v < 20\n${MERGE}`)
  await space.write('checks/few.sql', 'SELECT id FROM core.orders WHERE v > 15\n')
  assert.match(await problem(space, first.id), /fail a check: checks\/few\.sql:1:1: /)
  await space.write('checks/few.sql', 'SELECT id FROM core.orders WHERE v > 25\n')
  await restore(space, first.id)
  assert.equal(await ordersIn(space), ['1=10', '2=20'])
  const { warnings } = (await catalogStates(space))['core.orders']!
  assert.match(warnings.join(), 'v < 20 does not hold for 1 row')
})

test('rows of before a rename come back under the new name, where the model has its line', async () => {
  const { 'eider.yml': settings, 'models/core/orders.sql': model } = files
  await using space = await workspace({ 'eider.yml': settings, 'models/core/orders.sql': model })
  const first = await run(space, FIRST)
  const rename = (line: string) =>
    space.write(
      'models/core/orders.sql',
      MERGE.replace('-- @expose', `${line}-- @expose`).replace('v FROM', 'v AS amount FROM'),
    )
  await rename('-- @renamed_from amount: v\n')
  await space.write(SEED, rows('1,2026-01-01,-1', '3,2026-01-03,30'))
  await space.ok(['run', '--accept', 'core.orders'])
  await rename('')
  const refused = await problem(space, first.id)
  assert.match(refused, 'no "amount", whose values would be lost; the table has no "v" any more')
  assert.match(refused, 'write -- @renamed_from new: old')
  await rename('-- @renamed_from amount: v\n')
  const { stdout } = await restore(space, first.id)
  assert.match(stdout, /restored {2}core\.orders {2}1 row in, 2 out, 2 afterwards\n/)
  const amounts = "SELECT id || '=' || amount FROM core.orders ORDER BY id"
  assert.equal(await valuesOf(space, amounts), ['1=10', '2=20'])
  await run(space, rows('4,2026-01-04,40'))
  assert.equal(await valuesOf(space, amounts), ['1=10', '2=20', '4=40'])
})

test('a damaged or missing file is met before a row goes', async () => {
  await using space = await workspace(files)
  const first = await run(space, FIRST)
  await run(space, rows('1,2026-01-01,-1'))
  const { file } = first.relations.find(({ model }) => model === 'core.orders')!
  await truncate(space.path('.eider/snapshots', file), 5000)
  assert.match(await problem(space, first.id, 3), /does not have the size/)
  await rm(space.path('.eider/snapshots', file))
  assert.match(await problem(space, first.id, 3), /is missing\nhint: nothing was changed/)
  assert.equal(await ordersIn(space), ['1=-1', '2=20'])
})

test('a person who was erased does not come back', async () => {
  await using space = await workspace(files)
  const first = await run(space, FIRST)
  const second = await run(space, rows('3,2026-01-03,30'))
  await space.ok(['erase', 'core.orders', 'id = 1'])
  for (const { id, runId, publishedAt } of [first, second]) {
    assert.match(await problem(space, id), /neither a time nor a run/)
    assert.match(await problem(space, runId, 3), /no longer kept/)
    assert.match(await problem(space, publishedAt.toISOString(), 3), /no published state of/)
  }
  assert.equal(await ordersIn(space), ['2=20', '3=30'])
})

async function restoreUntil(space: Workspace, at: string, last: 'written' | 'committed') {
  const project = await loadProject(space.dir, { env: process.env, flags: {}, target: null })
  const { paths, files: read } = project
  const compiled = await compileOnce(read, { ...paths, save: false })
  const engine = { memoryLimit: null }
  const store = openStore(paths)
  const state = await findPastState({ paths, store, engine, at, now: new Date() })
  const options = { waitMs: 1000, signal: new AbortController().signal }
  const { retention } = runOptionsOf(project)
  await changeWarehouse(project, options, (opened) =>
    restoreTable({
      opened,
      paths,
      project: compiled,
      model: findModel(compiled, 'core.orders'),
      state,
      stateText: stateText(state),
      dryRun: false,
      retention,
      logger: silentLogger,
      clients: clientsOf(new Set()),
      onStep: (step) => {
        if (step === last) throw new Error('killed')
      },
    }),
  )
}

test('one that is killed has done nothing, or is published by the next run', async () => {
  await using space = await workspace(files)
  const first = await run(space, FIRST)
  const second = await run(space, rows('1,2026-01-01,-1'))
  const killed = async (last: 'written' | 'committed') => {
    try {
      await restoreUntil(space, first.id, last)
    } catch (error) {
      return (error as Error).message
    }
    return 'not killed'
  }
  assert.is(await killed('written'), 'killed')
  assert.equal(await ordersIn(space), ['1=-1', '2=20'])
  assert.match((await space.ok(['run'])).stdout, /4 unchanged/)
  assert.is(await killed('committed'), 'killed')
  assert.equal(await ordersIn(space), ['1=10', '2=20'])
  assert.is((await current(space)).id, second.id)
  await space.write(SEED, rows('2,2026-01-02,20'))
  await space.ok(['run'])
  const { stdout } = await space.ok([
    'query',
    '--at',
    (await current(space)).id,
    'FROM core.orders',
  ])
  assert.match(stdout, /10/)
  assert.equal(await valuesOf(space, 'FROM mart.total'), [30])
})

test('it waits for the warehouse like a run', async () => {
  await using space = await workspace(files)
  const first = await run(space, FIRST)
  await run(space, rows('1,2026-01-01,-1'))
  await using _held = await holdDatabase(space.path('.eider/warehouse.duckdb'))
  const args = ['restore', 'core.orders', '--at', first.id, '--yes', '--wait', '0']
  assert.match(
    (await space.ok(args, { exitCode: 3 })).stderr,
    /process \d+ .*hint: stop that process or wait longer/s,
  )
})

test.run()
