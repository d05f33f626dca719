// What a run remembers of the ranges of a model that it has built: kept with the table, forgotten with it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { catalogKey } from '../../../src/duckdb/catalog.ts'
import { dropRelation, type Opened } from '../../../src/pipeline/orphans.ts'
import { renameRelation } from '../../../src/pipeline/rename/rename-model.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Known, SliceRecord } from '../../../src/store/state.ts'
import { modelName } from '../../support/model-name.ts'
import { appended, appendedFrom } from '../../support/killed-range-project.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'

/** PostgreSQL sees only after a moment that a run is gone, and keeps its lock until then. */
const LOCK_WAIT_MS = 10_000

const days = appendedFrom('a', 1, 2, 3, 4)
const later = appendedFrom('b', 1, 2, 3, 4)

interface Remembered {
  readonly catalog: Known['catalog']
  readonly slices: readonly SliceRecord[]
}

async function known({ paths }: TestProject): Promise<Remembered> {
  const { warehouse, state } = openStore(paths)
  await using database = await warehouse.openToRead({ memoryLimit: null, threads: 1 })
  await using connection = await database.connect()
  const { catalog } = await state.read(connection, [])
  const names = ['mart.t', 'core.other'].map(modelName)
  return { catalog, slices: await state.readSlices(connection, names) }
}

/** Its model, and the days from which and to which it goes. */
async function slices(space: TestProject): Promise<readonly string[]> {
  const { slices: found } = await known(space)
  return found.map(({ model, start, end }) => `${model} ${start} ${end}`)
}

const range = (from: number, to: number) => ({ start: `2024-01-0${from}`, end: `2024-01-0${to}` })

const rowsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT id FROM mart.t ORDER BY ALL`)).map(({ id }) => id)

test('each range is remembered once, with the definition, the run and the time of the last', async () => {
  await using space = await openProject()
  await space.ok([days, appended])
  const before = await known(space)
  assert.equal(before.slices, [])
  assert.not(before.catalog.relations.has(catalogKey('_eider', 'slices')), 'made without need')
  const summary = await space.ok([later, appended], { range: range(2, 3) })
  assert.is(resultOf(summary, 'mart.t').because, 'backfill')
  const slice = (await known(space)).slices[0]!
  assert.is(slice.runId, summary.runId)
  assert.is(slice.definition, appended.definition)
  assert.ok(Math.abs(Date.parse(slice.builtAt) - summary.startedAt.getTime()) < 600_000)
  await space.ok([later, appended], { range: range(3, 4) })
  const again = await space.ok([days, appended], { range: range(2, 3) })
  assert.equal(await slices(space), [
    'mart.t 2024-01-03 2024-01-04',
    'mart.t 2024-01-02 2024-01-03',
  ])
  assert.is((await known(space)).slices[1]?.runId, again.runId)
  await space.ok([later, appended])
  assert.is((await slices(space)).length, 2)
  assert.equal(await rowsOf(space), ['a1', 'a2', 'a4', 'b3', 'b4'])
})

test('a model that takes no range is a whole step of the same run', async () => {
  await using space = await openProject()
  await space.ok([days, appended], { range: range(1, 3) })
  assert.equal(await slices(space), ['mart.t 2024-01-01 2024-01-03'])
  assert.equal(await rowsOf(space), ['a1', 'a2'])
})

test('a full refresh is one without limits and forgets the others, and what fails remembers nothing', async () => {
  await using space = await openProject()
  await space.ok([days, appended])
  await space.ok([days, appended], { range: range(1, 2) })
  const isEmpty = { is: 'row_count', comparison: '=', rows: 0 } as const
  const check = {
    severity: 'fail',
    text: 'none',
    span: { start: 0, end: 0 },
    test: isEmpty,
  } as const
  const failed = await space.run([later, { ...appended, checks: [check] }], { range: range(2, 3) })
  assert.is(resultOf(failed, 'mart.t').status, 'failed')
  assert.equal(await slices(space), ['mart.t 2024-01-01 2024-01-02'])
  await space.ok([days, appended], { fullRefresh: true })
  assert.equal(await slices(space), ['mart.t null null'])
  await space.ok([days, appended], { range: range(4, 5) })
  assert.equal(await slices(space), ['mart.t null null', 'mart.t 2024-01-04 2024-01-05'])
  await space.ok([days, appended], { fullRefresh: true, range: range(1, 3) })
  assert.equal(await slices(space), ['mart.t 2024-01-01 2024-01-03'])
})

test('they go with the table to another name, and with it', async () => {
  await using space = await openProject()
  await space.ok([days, appended])
  await space.ok([days, appended], { range: range(1, 2) })
  await change(space, async (opened) => {
    const [from, to] = [modelName('mart.t'), modelName('core.other')]
    await renameRelation(opened, from, to, { replace: false, file: null })
  })
  assert.equal(await slices(space), ['core.other 2024-01-01 2024-01-02'])
  await change(space, (opened) => dropRelation(opened, 'core.other'))
  assert.equal(await slices(space), [])
})

/** As a command does it. */
async function change(
  { paths }: TestProject,
  work: (opened: Opened) => Promise<unknown>,
): Promise<void> {
  const { warehouse, state, tables, lease } = openStore(paths)
  const { signal } = new AbortController()
  await using _lease = await lease.take({ waitMs: LOCK_WAIT_MS, signal })
  const options = { lockWaitMs: LOCK_WAIT_MS, signal, memoryLimit: null }
  await using database = await warehouse.open(options)
  await using connection = await database.connect()
  await work({ connection, state, tables })
  await warehouse.checkpoint(connection, 'much')
}

test('killed before its commit a range is neither built nor remembered, after it both', async () => {
  for (const [event, built] of [
    ['model-started', false],
    ['model-finished', true],
  ] as const) {
    await using space = await openProject()
    await space.ok([days, appended])
    const script = fileURLToPath(new URL('../../support/killed-range-child.js', import.meta.url))
    const child = fork(script, [JSON.stringify(space.paths), event])
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
    assert.is(signal, 'SIGKILL')
    assert.equal(await slices(space), built ? ['mart.t 2024-01-02 2024-01-04'] : [], event)
    assert.equal(await rowsOf(space), built ? ['a1', 'a4', 'b2', 'b3'] : ['a1', 'a2', 'a3', 'a4'])
    const next = await space.ok([later, appended], { range: range(2, 4), lockWaitMs: LOCK_WAIT_MS })
    assert.is(resultOf(next, 'mart.t').status, 'built')
    assert.equal(await slices(space), ['mart.t 2024-01-02 2024-01-04'])
    assert.equal(await rowsOf(space), ['a1', 'a4', 'b2', 'b3'])
  }
})

test.run()
