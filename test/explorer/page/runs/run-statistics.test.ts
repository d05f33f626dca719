import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CatalogRun, CatalogState } from '../../../../src/core/catalog.ts'
import {
  median,
  runDetails,
  showMs,
  STRIP_RUNS,
  stripOf,
  stripSentence,
} from '../../../../src/explorer/page/runs/run-statistics.ts'

const run = (i: number, ms: number, failed = 0): CatalogRun => ({
  run_id: `run${i}`,
  started_at: `2026-01-01T00:00:${String(i % 60).padStart(2, '0')}Z`,
  ms,
  ok: failed === 0,
  built: 1,
  unchanged: 0,
  failed,
  skipped: 0,
  warned: 0,
  events: 0,
  rejected: 0,
})

const state = (run_id: string, at: string): CatalogState => ({
  run_id,
  at,
  status: 'built',
  because: 'first build',
  ms: 5,
  warnings: [],
  warned: 0,
  builds: [{ at, rows: 7, ms: 5 }],
})

test('times are said in the units that people say', () => {
  const cases = [0, 999, 1_000, 59_949, 60_000, 200_000, 3_600_000, 7_500_000]
  assert.equal(cases.map(showMs), [
    '0 ms',
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1 min 0 s',
    '3 min 20 s',
    '1 h 0 min',
    '2 h 5 min',
  ])
})

test('the strip has the last runs, oldest first, against the longest of them', () => {
  const runs = Array.from({ length: 80 }, (_, i) =>
    run(80 - i, i === 60 ? 9_999 : 100 * (1 + (i % 2))),
  )
  const strip = stripOf(runs)
  assert.is(strip.length, STRIP_RUNS)
  assert.is(strip.at(-1)!.run.run_id, 'run80')
  assert.is(Math.max(...strip.map(({ height }) => height)), 1)
  assert.equal(stripOf([]), [])
})

test('the strip says how it went', () => {
  assert.is(stripSentence([run(1, 140)]), 'The only run: none failed')
  assert.is(
    stripSentence([run(1, 140), run(2, 100, 2), run(3, 5_000)]),
    'The last 3 runs: 1 failed',
  )
  assert.is(median([]), 0)
})

test('of the last run all models are known, what went wrong first, what took long before what did not', () => {
  const models = [
    { model: 'a', status: 'unchanged', because: 'nothing changed', ms: 0 },
    { model: 'b', status: 'built', because: 'first build', ms: 3, rows: 9 },
    { model: 'c', status: 'built', because: 'first build', ms: 8, warnings: ['w'] },
    { model: 'd', status: 'failed', because: 'no', ms: 1 },
  ] as const
  const last = { run_id: 'run2', flushed: [{ model: 'a', events: 4, rejected: 1 }], models }
  const details = runDetails({ runs: [run(2, 9), run(1, 9)], last_run: last, states: {} }, 'run2')!
  assert.equal(
    details.models.map(({ model }) => model),
    ['d', 'c', 'b', 'a'],
  )
  assert.equal(details.models[1]!.warnings, ['w'])
  assert.ok(details.isWhole)
  assert.is(details.flushed.length, 1)
})

test('of an older run those models are known that no later run was about', () => {
  const runs = [run(2, 9), run(1, 9)]
  const states = { a: state('run2', runs[0]!.started_at), b: state('run1', runs[1]!.started_at) }
  const details = runDetails(
    { runs, last_run: { run_id: 'run2', flushed: [], models: [] }, states },
    'run1',
  )!
  assert.not.ok(details.isWhole)
  assert.equal(
    details.models.map(({ model, rows }) => [model, rows]),
    [['b', 7]],
  )
  assert.is(runDetails({ runs, last_run: null, states }, 'run9'), null)
})

test.run()
