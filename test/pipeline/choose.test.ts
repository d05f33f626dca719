import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import {
  type TestProject,
  openProject,
  recordProgress,
  resultOf,
  statuses,
} from '../support/pipeline-project.ts'
import { query } from '../support/handmade-models.ts'

const only = (...include: readonly string[]) => ({
  selection: { include, exclude: [], retry: false },
})

const chain = (value: number) => [
  query('raw.a', `select ${value} as x`),
  query('mid.b', 'select x + 1 as x from raw.a', { reads: ['raw.a'], expose: ['x'] }),
  query('mart.c', 'select x + 1 as x from mid.b', { reads: ['mid.b'], expose: ['x'] }),
  query('mart.z', 'select 0 as x', { expose: ['x'] }),
]

async function published(space: TestProject): Promise<readonly string[]> {
  return (await space.published()).relations.map(({ model, file }) => `${model} ${file}`)
}

test('an input that was never built and is not selected is named, with the way to add it', async () => {
  await using space = await openProject()
  const summary = await space.run(chain(1), only('mart.c', 'mart.z'))
  assert.equal(statuses(summary), { 'mart.c': 'failed', 'mart.z': 'built' })
  assert.match(resultOf(summary, 'mart.c').because, /mid\.b.*--select \+mart\.c/)
  assert.equal(statuses(await space.ok(chain(1), only('+mart.c'))), {
    'raw.a': 'built',
    'mid.b': 'built',
    'mart.c': 'built',
  })
})

test('only what is selected is built, and the others stay published as they were', async () => {
  await using space = await openProject()
  await space.ok(chain(1))
  const before = await published(space)
  assert.equal(statuses(await space.ok(chain(2), only('raw.a'))), { 'raw.a': 'built' })
  assert.equal(await published(space), before)
  assert.equal(await space.rows(sql`FROM mart.c`), [{ x: 3 }])

  const one = await space.ok(chain(2), only('mid.b'))
  assert.is(resultOf(one, 'mid.b').because, 'upstream raw.a changed')
  const after = await published(space)
  assert.equal(
    after.map((relation, i) => relation === before[i]),
    [false, true, true],
  )
  const rest = await space.ok(chain(2))
  assert.equal(statuses(rest), {
    'raw.a': 'unchanged',
    'mid.b': 'unchanged',
    'mart.c': 'built',
    'mart.z': 'unchanged',
  })
  assert.equal(await space.rows(sql`FROM mart.c`), [{ x: 4 }])
})

test('a column of an input that was edited and left out fails with the selector that helps', async () => {
  await using space = await openProject()
  const shop = (column: string) => [
    query('raw.a', `select 1 as ${column}`),
    query('mid.b', `select ${column} from raw.a`, { reads: ['raw.a'] }),
  ]
  await space.ok(shop('x'))
  const left = resultOf(await space.run(shop('y'), only('mid.b')), 'mid.b')
  assert.match(left.because, /column "y" not found.*out of date: raw\.a; .*--select \+mid\.b$/)
  await space.ok(shop('y'), only('+mid.b'))
})

test('state:modified takes what was edited, not what reads it', async () => {
  await using space = await openProject()
  assert.is((await space.ok(chain(1), only('state:modified'))).models.length, 4)
  assert.equal(statuses(await space.ok(chain(1), only('state:modified'))), {})
  assert.equal(statuses(await space.ok(chain(2), only('state:modified'))), { 'raw.a': 'built' })
})

test('a retry takes up what failed or was skipped', async () => {
  await using space = await openProject()
  const retry = { selection: { include: [], exclude: [], retry: true } }
  assert.equal(statuses(await space.ok(chain(1), retry)), {})
  const [raw, mid, ...others] = chain(1)
  const broken = query('mid.b', "select error('no') as x from raw.a", { reads: ['raw.a'] })
  await space.run([raw!, broken, ...others])
  const mended = await space.ok([raw!, mid!, ...others], retry)
  assert.equal(statuses(mended), { 'mid.b': 'built', 'mart.c': 'built' })
  assert.equal(statuses(await space.ok([raw!, mid!, ...others], retry)), {})
})

test('a retry takes up what was edited before it, and what lies between', async () => {
  await using space = await openProject()
  const retry = { selection: { include: [], exclude: [], retry: true } }
  const models = (x: string) => [
    query('raw.a', `select ${x} as x`),
    query('mid.b', 'select x from raw.a', { reads: ['raw.a'] }),
    query('mart.c', 'select x::integer as x from mid.b', { reads: ['mid.b'] }),
    query('mart.z', 'select x from raw.a', { reads: ['raw.a'] }),
  ]
  assert.is((await space.run(models("'no'"))).ok, false)
  const mended = await space.ok(models("'1'"), retry)
  assert.equal(statuses(mended), { 'raw.a': 'built', 'mid.b': 'built', 'mart.c': 'built' })
  assert.equal(statuses(await space.ok(models("'1'"), retry)), {})
})

test('several models are built at a time, each after all that it reads', async () => {
  await using space = await openProject()
  const slow = 'select count(*) as n from range(20000000) t(i) where hash(i) % 7 = 3'
  const sides = Array.from({ length: 6 }, (_, i) =>
    query(`s${i}.side`, `${slow} and i <> ${i}`, { reads: ['raw.a'] }),
  )
  const last = query('mart.all', 'select s.n from s0.side s, s5.side', {
    reads: sides.map(({ name }) => name),
  })
  const { seen, progress } = recordProgress()
  const models = [query('raw.a', 'select 1 as x'), ...sides, last]
  const summary = await space.ok(models, { modelsAtOnce: 3, progress })
  assert.equal(
    summary.models.map(({ model }) => model),
    models.map(({ name }) => name),
  )
  const steps = seen.flatMap((event) =>
    event.event === 'model-started' || event.event === 'model-finished' ? [event] : [],
  )
  let running = 0
  let most = 0
  for (const { event } of steps) {
    running += event === 'model-started' ? 1 : -1
    most = Math.max(most, running)
  }
  // On a fast machine another one joins the transaction of the first.
  assert.ok(most >= 3, `${most} at a time`)
  const started = (model: string) =>
    steps.findIndex((step) => step.event === 'model-started' && step.model === model)
  for (const { name } of sides) assert.ok(started(name) < started('mart.all'), name)
  // Those of its own transaction, which it sees, are told to be finished together with it.
  assert.is(steps.at(-1)?.model, 'mart.all')
  const rows = await space.rows(sql`SELECT count(*)::INTEGER AS n FROM mart.all WHERE n > 0`)
  assert.equal(rows, [{ n: 1 }])
})

test('many small models in one schema do not get into each other’s way', async () => {
  await using space = await openProject()
  const models = (value: number) =>
    Array.from({ length: 60 }, (_, i) =>
      query(`one.m${i}`, `select ${value} as x`, { kind: i % 3 === 0 ? 'view' : 'table' }),
    )
  for (const value of [1, 2, 3]) await space.ok(models(value), { modelsAtOnce: 8 })
  const state = await space.rows(sql`SELECT count(*)::INTEGER AS n FROM ${space.records}`)
  assert.equal(state, [{ n: 60 }])
})

test('--fail-fast starts nothing after a failure', async () => {
  await using space = await openProject()
  const models = [
    query('a.bad', "select error('no') as x"),
    query('a.good', 'select 1 as x'),
    query('a.later', 'select x from a.good', { reads: ['a.good'] }),
  ]
  const { seen, progress } = recordProgress()
  const summary = await space.run(models, { failFast: true, progress })
  assert.equal(statuses(summary), { 'a.bad': 'failed', 'a.good': 'skipped', 'a.later': 'skipped' })
  assert.is(resultOf(summary, 'a.good').because, 'stopped after the first failure')
  assert.equal(
    seen.filter(({ event }) => event === 'model-finished'),
    summary.models.map((result) => ({ event: 'model-finished', ...result })),
  )
})

test.run()
