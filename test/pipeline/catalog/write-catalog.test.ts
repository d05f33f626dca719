// The catalog as runs write it: what is in it, how it goes on from run to run, and when it goes.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Catalog } from '../../../src/core/catalog.ts'
import { openProject } from '../../support/pipeline-project.ts'
import { query } from '../../support/handmade-models.ts'
import { type Workspace, workspace } from '../../support/workspace.ts'

type Written = Omit<Catalog, 'project' | 'shows' | 'is_whole'> & { readonly of: string }

const project = {
  'eider.yml': 'name: shop\n',
  'models/raw/orders.sql': `-- @kind: events
id INTEGER NOT NULL, amount DECIMAL(10,2)`,
  'models/stage/orders.sql': 'select id, amount * 2 as doubled from raw.orders',
  'models/mart/orders.sql': `-- @description: Orders of the shop
-- @kind: table
-- @owner: ana
-- @tags: daily
-- @expose: id
-- @warn: row_count(> 5)
select id, doubled as amount from stage.orders`,
  'models/mart/bad.sql': '-- @kind: table\nselect 1 / (select count(*) from nowhere) as x',
}

async function catalogs(space: Workspace): Promise<readonly string[]> {
  const names = await readdir(space.path('.eider', 'snapshots'))
  return names.filter((name) => name.startsWith('catalog-'))
}

async function read(space: Workspace): Promise<Written> {
  const dir = space.path('.eider', 'snapshots')
  const { id } = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8')) as { id: string }
  return JSON.parse(await readFile(join(dir, `catalog-${id}.json`), 'utf8')) as Written
}

test('a run writes what its sets and models are and how it went, and later runs go on from there', async () => {
  await using space = await workspace(project)
  await space.ok(['run'], { exitCode: 1 }) // mart.bad does not compile
  const first = await read(space)
  assert.equal(
    first.sets.map(({ name, model, rows, key }) => ({ name, model, rows, key })),
    [{ name: 'mart_orders', model: 'mart.orders', rows: 0, key: ['id'] }],
  )
  const modelOf = (name: string) => first.models.find((model) => model.name === name)!
  const { columns, ...mart } = modelOf('mart.orders')
  assert.equal(mart, {
    name: 'mart.orders',
    kind: 'table',
    description: 'Orders of the shop',
    owner: 'ana',
    tags: ['daily'],
    set: 'mart_orders',
    depends_on: ['stage.orders'],
    sources: [],
    checks: [{ severity: 'warn', text: 'row_count(> 5)' }],
    path: 'models/mart/orders.sql',
    sql: project['models/mart/orders.sql'],
  })
  assert.equal(columns[1], {
    name: 'amount',
    type: 'DECIMAL(18,2)',
    nullable: true,
    lineage: [{ model: 'stage.orders', column: 'doubled' }],
  })
  assert.is(modelOf('raw.orders').kind, 'events')
  assert.is(modelOf('mart.bad').set, null)
  assert.is(first.states['mart.orders']!.warned, 1)
  assert.match(first.states['mart.orders']!.warnings[0]!, 'row_count')
  assert.is(first.states['mart.bad']!.status, 'failed')
  assert.match(first.states['mart.bad']!.because, 'nowhere')
  assert.is(first.runs.length, 1)
  assert.is(first.runs[0]!.failed, 1)
  assert.is(first.last_run!.run_id, first.runs[0]!.run_id)

  await space.ok(['run'], { exitCode: 1 })
  const second = await read(space)
  assert.is(second.snapshot, first.snapshot)
  assert.is(second.runs.length, 2)
  assert.equal(second.runs[1], first.runs[0])
  assert.is(second.last_run!.run_id, second.runs[0]!.run_id)
  const state = second.states['mart.orders']!
  assert.is(state.status, 'unchanged')
  assert.is(state.warned, 1, 'what a check found stays until the next build')
  assert.is(state.builds.length, 1)

  await space.write('models/mart/orders.sql', `${project['models/mart/orders.sql']} limit 3`)
  await space.ok(['run', '--select', 'mart.orders'])
  const third = await read(space)
  assert.is(third.runs.length, 3)
  assert.is(third.states['mart.orders']!.builds.length, 2)
  assert.is(third.states['mart.bad']!.status, 'failed', 'the run was not about it')
})

test('a catalog that is damaged or gone is made again from what the warehouse has recorded', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/mart/t.sql': '-- @kind: table\n-- @expose: id\nselect 1 as id',
  })
  await space.ok(['run'])
  await space.ok(['run'])
  const [name] = await catalogs(space)
  const path = space.path('.eider', 'snapshots', name!)
  const whole = await read(space)
  for (const damaged of [
    '',
    whole.of,
    (await readFile(path, 'utf8')).slice(0, -9),
    '{"format":1,\n',
  ]) {
    await writeFile(path, damaged)
    await space.ok(['run'])
    const { runs, models, states } = await read(space)
    assert.equal(runs.slice(-2), whole.runs)
    assert.equal(models, whole.models)
    assert.is(states['mart.t']!.builds.length, 1)
  }
})

test('it goes with its state', async () => {
  await using space = await openProject()
  for (const value of [1, 2, 3, 4]) {
    const model = query('mart.t', `select ${value} as id`, { expose: ['id'] })
    await space.ok([model], { retention: { snapshots: 2, ms: 0 } })
  }
  const names = await readdir(space.path('.eider', 'snapshots'))
  const idsOf = (prefix: string) =>
    names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
  assert.is(idsOf('catalog-').length, 2)
  assert.equal(idsOf('catalog-').toSorted(), idsOf('manifest-').toSorted())
})

test('why models failed is said of runs of the past, until rows are erased', async () => {
  const people = (check: string) => `-- @kind: merge
-- @unique_key: id
-- @expose: id
${check}select 7 as id, 'Ada of Oslo' as name`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/people.sql': people(''),
  })
  await space.ok(['run'])
  await space.write('models/core/people.sql', people("-- @check: name = 'Bob'\n"))
  await space.ok(['run', 'core.people', '--full-refresh'], { exitCode: 1 })
  await space.write('models/core/people.sql', people(''))
  await space.ok(['run'])
  const [last, failed] = (await read(space)).runs
  assert.is(last!.failures, undefined)
  assert.is(failed!.failures!.length, 1)
  assert.is(failed!.failures![0]!.model, 'core.people')
  assert.match(failed!.failures![0]!.because, 'Ada of Oslo')
  await space.ok(['erase', 'core.people', 'id = 7', '--all'])
  await space.ok(['run'])
  const { runs } = await read(space)
  const said = runs.find(({ run_id: id }) => id === failed!.run_id)!.failures![0]!.because
  assert.is(said, 'this text was removed by eider erase')
})

test.run()
