// A group that is interrupted, since it has taken too long, fails no model of another.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { readEngineCatalog } from '../../../src/duckdb/catalog.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { ifRefused, refusalOf, toDatabaseError } from '../../../src/duckdb/errors.ts'
import { describeOnce } from '../../../src/pipeline/read-context.ts'
import { partsOnce } from '../../../src/pipeline/rules/recorded.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'
import {
  openProject,
  pathsOf,
  resultOf,
  statuses,
  type TestProject,
} from '../../support/pipeline-project.ts'

function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open() }
}

/** The first transaction that is interrupted stays open, as it is, until the one beside it has come to its end. */
function heldStore(space: TestProject): Store & { readonly interrupted: () => boolean } {
  const store = openStore(space.paths)
  const groups = { joinMs: 600_000, joinCommits: 0, heldMs: 20, apartMs: 0 }
  const [first, second] = [gate(), gate()]
  let [begun, isInterrupted] = [0, false]
  const change = store.state.change.bind(store.state)
  store.state.change = (connection, work) => {
    const turn = begun++
    return change(connection, async () => {
      if (turn > 1) return await work()
      if (turn === 1) {
        await first.passed
        return await work().finally(second.open)
      }
      const interrupt = connection.interrupt.bind(connection)
      connection.interrupt = () => {
        isInterrupted = true
        interrupt()
      }
      try {
        return await work()
      } catch (error) {
        first.open()
        await second.passed
        throw error
      } finally {
        first.open()
      }
    })
  }
  return { ...store, groups, interrupted: () => isInterrupted }
}

/** Longer than such a group may take. */
const BUSY = '(SELECT count(*) FROM range(50000000) t(x) WHERE hash(x) = 0)'

const projectAt = (value: number) =>
  compileTexts({
    'a.first': `SELECT ${value} AS v`,
    'a.slow': `SELECT v + 0 * ${BUSY} AS v FROM a.first`,
    'k.rows': `SELECT i AS id, i % 10 AS k, if(i = 7, ${value}, 1) AS v FROM range(100) t(i)`,
    'k.input': '-- @kind: merge\n-- @unique_key: id\nSELECT id, k, v FROM k.rows',
    'k.sums': 'SELECT k, sum(v) AS v FROM k.input GROUP BY k',
  })

test('a table that is kept up to date asks nothing of the connection of another group', async () => {
  await using space = await openProject()
  const run = async (value: number, options: Partial<RunRequest> = {}) =>
    await space.run([], { project: await projectAt(value), modelsAtOnce: 2, ...options })
  assert.ok((await run(1)).ok)
  const selection = { include: ['k.rows', 'k.input'], exclude: [], retry: false }
  assert.ok((await run(2, { selection })).ok)
  const store = heldStore(space)
  const summary = await run(2, { store })
  assert.is(store.interrupted(), true)
  const expected = {
    'a.first': 'built',
    'a.slow': 'built',
    'k.rows': 'unchanged',
    'k.input': 'unchanged',
    'k.sums': 'built',
  }
  assert.equal(statuses(summary), expected, resultOf(summary, 'k.sums').because)
  assert.is(resultOf(summary, 'k.sums').changes?.way, 'update')
  const sums = await space.rows(sql`SELECT v::INTEGER AS v FROM k.sums ORDER BY k`)
  assert.equal(
    sums.map(({ v }) => v),
    [10, 10, 10, 10, 10, 10, 10, 11, 10, 10],
  )
})

test('what a failed transaction refuses to tell is no answer, and is asked again', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using failed = await database.connect()
  await using other = await database.connect()
  await other.run(sql`CREATE SCHEMA s; CREATE VIEW s.seen AS SELECT 1 AS v`)
  const columnsBefore = describeOnce(await readEngineCatalog(other))
  await failed.run(sql`BEGIN`)
  assert.is((await refusalOf(failed.run(sql`SELECT error('no')`)))?.details.message, 'no')
  const problem = await problemOf(columnsBefore(failed, modelName('s.seen')))
  assert.match(problem, 'Current transaction is aborted')
  const columns = await columnsBefore(other, modelName('s.seen'))
  assert.equal(
    columns?.map(({ name }) => name),
    ['v'],
  )

  let asked = 0
  const store = openStore(pathsOf('/nowhere'))
  store.state.summarizeSlices = async (connection) => {
    asked++
    await connection.row(sql`SELECT 1`)
    return new Map()
  }
  store.state.olderRows.read = () => Promise.resolve(new Map())
  const partsBefore = partsOnce(store, [modelName('s.seen')])
  assert.match(await problemOf(partsBefore(failed)), 'Current transaction is aborted')
  for (const _ of [1, 2])
    assert.is((await partsBefore(other))(modelName('s.seen')).summary.isWhole, false)
  assert.is(asked, 2)
})

test('an interrupt is no refusal', async () => {
  const ended = (type: string, why: string) =>
    Promise.reject(toDatabaseError(new Error(errorOf(type, why))))
  assert.is(await ifRefused(ended('Binder', 'why'), () => null), null)
  assert.is(await ifRefused(ended('TransactionContext', 'conflict'), () => null), null)
  for (const [type, why] of [
    ['INTERRUPT', 'Interrupted!'],
    ['TransactionContext', 'Current transaction is aborted (please ROLLBACK)'],
  ] as const)
    assert.is(await problemOf(ifRefused(ended(type, why), () => null)), why)
})

const errorOf = (type: string, why: string) =>
  JSON.stringify({ exception_type: type, exception_message: why })

const problemOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  )

test.run()
