// Until when all that had arrived is in a model, by what runs have made of it and of what it reads.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { NO_RUNS, type Results, withRuns } from '../../../src/pipeline/catalog/past-runs.ts'
import { modelName } from '../../support/model-name.ts'

/** `mart.sales` reads `core.orders`, which reads `raw.orders`; `mart.alone` reads nothing. */
const MODELS = new Map([
  ['raw.orders', { dependsOn: [] }],
  ['core.orders', { dependsOn: ['raw.orders'] }],
  ['mart.sales', { dependsOn: ['core.orders'] }],
  ['mart.alone', { dependsOn: [] }],
])

type Made = Readonly<Record<string, string>>

const ALL: Made = {
  'raw.orders': 'unchanged',
  'core.orders': 'unchanged',
  'mart.sales': 'unchanged',
  'mart.alone': 'unchanged',
}

function runAt(minute: number, made: Made, command?: string): Results {
  const models = Object.entries(made).map(([name, text]) => {
    const [status = '', because = 'nothing changed'] = text.split(': ')
    return { model: modelName(name), status: status as 'built', because, ms: 1 }
  })
  const run = {
    schema_version: 1,
    run_id: `run-${minute}`,
    started_at: at(minute),
    ms: 10,
    ok: true,
    flushed: [],
    models,
    snapshot: null,
  } as const
  return command === undefined ? run : Object.assign({ command }, run)
}

const at = (minute: number) => `2026-11-26T10:${minute}:00.000Z`

/** The minute of each model that has one. */
function freshAfter(...runs: readonly Results[]): Readonly<Record<string, number>> {
  const { states } = withRuns(NO_RUNS, runs, MODELS)
  return Object.fromEntries(
    Object.entries(states).flatMap(([name, { fresh_at: time }]) =>
      time === undefined ? [] : [[name, Number(time.slice(14, 16))]],
    ),
  )
}

const everywhere = (minute: number) => ({
  'raw.orders': minute,
  'core.orders': minute,
  'mart.sales': minute,
  'mart.alone': minute,
})

const CASES: Readonly<
  Record<string, readonly [readonly Results[], Readonly<Record<string, number>>]>
> = {
  'a run that finds nothing to do': [[runAt(10, ALL), runAt(20, ALL)], everywhere(20)],
  'a run that builds all': [
    [runAt(10, { ...ALL, 'core.orders': 'built', 'mart.sales': 'built' })],
    everywhere(10),
  ],
  'a model that fails, and one that is skipped for it': [
    [runAt(10, ALL), runAt(20, { ...ALL, 'core.orders': 'failed', 'mart.sales': 'skipped' })],
    { ...everywhere(20), 'core.orders': 10, 'mart.sales': 10 },
  ],
  'a first run in which one fails': [
    [runAt(10, { ...ALL, 'core.orders': 'failed', 'mart.sales': 'skipped' })],
    { 'raw.orders': 10, 'mart.alone': 10 },
  ],
  'a model that is built without what it reads': [
    [runAt(10, ALL), runAt(20, { 'mart.sales': 'built' })],
    everywhere(10),
  ],
  'a model that is built with a part of what it reads': [
    [
      runAt(10, ALL),
      runAt(20, { 'raw.orders': 'built', 'core.orders': 'built' }),
      runAt(30, { 'mart.sales': 'built' }),
    ],
    { ...everywhere(10), 'raw.orders': 20, 'core.orders': 20, 'mart.sales': 20 },
  ],
  'a range of a model': [
    [runAt(10, ALL), runAt(20, { ...ALL, 'mart.sales': 'built: backfill' })],
    { ...everywhere(20), 'mart.sales': 10 },
  ],
  'another command': [[runAt(10, ALL), runAt(20, ALL, 'publish')], everywhere(10)],
}

for (const [what, [runs, expected]] of Object.entries(CASES))
  test(`how fresh models are after ${what}`, () => assert.equal(freshAfter(...runs), expected))

test.run()
