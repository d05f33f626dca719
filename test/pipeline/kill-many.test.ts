// Runs of 50 models, killed at moments of a seeded choice. After each kill every table is whole: all of one generation
// or all of another, nothing doubled. A run that is let finish completes what is left.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { isOnLake, openProject, type TestProject } from '../support/pipeline-project.ts'
import { kindOf, LAST, models, nameOf, ROWS } from '../support/many-models.ts'

/** EIDER_CRASH_POINTS=all kills more often. On a lake a run takes ten times as long. */
const KILLS = process.env['EIDER_CRASH_POINTS'] === 'all' ? 50 : isOnLake ? 5 : 10
const COMPLETE_EVERY = 5
const script = fileURLToPath(new URL('../support/many-models.js', import.meta.url))

test(`${KILLS} kills of a run of ${LAST + 1} models`, async () => {
  await using space = await openProject()
  const random = seededRandom(4)
  await space.ok(models(0))
  let interrupted = 0
  for (let generation = 1; generation <= KILLS; generation++) {
    const finished = await killedRun(space, generation, 1 + Math.floor(random() ** 2 * 2 * LAST))
    if (finished.length < LAST + 1) interrupted++
    const when = `kill ${generation}, after ${finished.length} models`
    await checkTables(space, when)
    await checkState(space, { generation, finished, when })
    if (generation % COMPLETE_EVERY !== 0) continue // the next one is killed on top of what this one left
    await space.ok(models(generation), { lockWaitMs: 10_000 })
    const current = await checkTables(space, `generation ${generation}`)
    assert.equal(current, [generation])
  }
  assert.ok(interrupted > KILLS / 2, `${interrupted} runs were cut off`)
})

/**
 * Kills the run a moment after it has told `count` times that a model begins or is finished; gives those that are finished
 * in the end. Many begin before the first is finished where they share a transaction, as on a lake.
 */
async function killedRun(
  space: TestProject,
  generation: number,
  count: number,
): Promise<readonly string[]> {
  const child = fork(script, [JSON.stringify(space.paths), String(generation)], {
    stdio: 'inherit',
  })
  const finished: string[] = []
  let told = 0
  child.on('message', (message) => {
    const { model, isFinished } = message as {
      readonly model: string
      readonly isFinished: boolean
    }
    if (isFinished) finished.push(model)
    if (++told === count) setTimeout(() => child.kill('SIGKILL'), generation % 5)
  })
  await once(child, 'exit')
  return finished
}

/** One row of state for each model, and each that was told of is committed, with the others of its transaction. */
async function checkState(
  space: TestProject,
  told: {
    readonly generation: number
    readonly finished: readonly string[]
    readonly when: string
  },
): Promise<void> {
  const { generation, finished, when } = told
  const state = await space.rows(
    sql`SELECT count(*)::INTEGER AS n, count(DISTINCT model)::INTEGER AS models FROM ${space.records}`,
  )
  assert.equal(state, [{ n: LAST + 1, models: LAST + 1 }], when)
  if (finished.length === 0) return
  const generations = finished.map((name) => {
    const [schema = '', table = ''] = name.split('.')
    return sql`SELECT ${sql.value(name)} AS name, max(generation)::INTEGER AS generation FROM ${sql.ident(schema, table)}`
  })
  for (const { name, generation: held } of await space.rows(
    sql.join(generations, sql` UNION ALL `),
  ))
    assert.is(held, generation, `${name as string}, ${when}`)
}

/** The generations that are current in any of the models. */
async function checkTables(space: TestProject, when: string): Promise<readonly number[]> {
  const counts = Array.from({ length: LAST }, (_, i) => {
    const [schema = '', table = ''] = nameOf(i).split('.')
    const relation = sql.ident(schema, table)
    const isCurrent =
      kindOf(i) === 'scd2'
        ? sql`is_current`
        : sql`generation = (SELECT max(generation) FROM ${relation})`
    return sql`
      SELECT ${sql.value(i)} AS i, generation, count(*)::INTEGER AS n, count(DISTINCT id)::INTEGER AS ids,
        bool_and(${isCurrent}) AS current, bool_or(${isCurrent}) AS any_current
      FROM ${relation} GROUP BY generation`
  })
  const rows = await space.rows(sql.join(counts, sql` UNION ALL `))
  for (const { i, generation, n, ids, current, any_current } of rows) {
    const what = `${kindOf(Number(i))} ${nameOf(Number(i))}, generation ${Number(generation)}, ${when}`
    assert.equal([n, ids], [ROWS, ROWS], what)
    assert.is(current, any_current, what)
  }
  for (let i = 0; i < LAST; i++) {
    const own = rows.filter((row) => row['i'] === i)
    const held = own.filter((row) => row['current'] === true)
    assert.is(held.length, 1, `${nameOf(i)} has one current generation, ${when}`)
    if (kindOf(i) !== 'append' && kindOf(i) !== 'scd2') assert.is(own.length, 1, nameOf(i))
  }
  const current = rows.filter((row) => row['current'] === true).map((row) => row['generation'])
  return [...new Set(current)].map(Number)
}

test.run()
