// A step that runs elsewhere: another program makes and commits its rows, and the run checks and records them afterwards.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kinds } from '../../../src/core/kinds.ts'
import type { Check, TableModel } from '../../../src/core/model.ts'
import { sql } from '../../../src/core/sql.ts'
import { materializations } from '../../../src/pipeline/build/materialize/kinds.ts'
import type { Materialization } from '../../../src/pipeline/build/materialize/materialization.ts'
import { query } from '../../support/handmade-models.ts'
import {
  openProject,
  resultOf,
  statuses,
  type TestProject,
} from '../../support/pipeline-project.ts'

const { table } = materializations

/** Until it is disposed, `program` makes the rows of all models of kind table. */
function runElsewhere(program: Pick<Materialization<TableModel>, 'build'>): Disposable {
  const { table: traits } = kinds
  Object.assign(kinds, { table: { ...traits, runs: 'elsewhere' } })
  Object.assign(materializations, { table: { ...table, ...program } })
  return {
    [Symbol.dispose]() {
      Object.assign(kinds, { table: traits })
      Object.assign(materializations, { table })
    },
  }
}

/** Its rows stand with the end of its statement, whatever the run does then. */
const program = (calls: string[]): Pick<Materialization<TableModel>, 'build'> => ({
  async build({ connection }, { name }) {
    calls.push(name)
    const id = sql.value(calls.length)
    await connection.run(sql`CREATE OR REPLACE TABLE ${sql.relation(name)} AS SELECT ${id} AS id`)
    return { changed: true, rows: 1 }
  },
})

const models = (...checks: readonly Check[]) => [
  { ...query('ext.rows', 'select 0 as id'), checks },
  query('mart.before', 'select 7 as id', { kind: 'merge', key: ['id'] }),
  query('mart.sum', 'select sum(id)::INTEGER as sum from ext.rows', {
    kind: 'view',
    reads: ['ext.rows'],
  }),
]

const recorded = async (space: TestProject) =>
  (await space.rows(sql`SELECT model FROM ${space.records} ORDER BY model`)).map(
    ({ model }) => model,
  )

test('what reads it is built on its rows, and it is left alone until something changes', async () => {
  await using space = await openProject()
  const calls: string[] = []
  using _program = runElsewhere(program(calls))
  const { models: results } = await space.ok(models(), { modelsAtOnce: 2 })
  assert.equal(results.find(({ model }) => model === 'ext.rows')?.rows, 1)
  assert.equal(await space.rows(sql`FROM mart.sum`), [{ sum: 1 }])
  assert.equal(await recorded(space), ['ext.rows', 'mart.before', 'mart.sum'])
  const again = await space.ok(models())
  assert.ok(again.models.every(({ status }) => status === 'unchanged'))
  assert.equal(calls, ['ext.rows'])
})

test('rows that a check refuses stay, and nothing is recorded of them', async () => {
  await using space = await openProject()
  const calls: string[] = []
  using _program = runElsewhere(program(calls))
  const isEmpty = { is: 'row_count', comparison: '=', rows: 0 } as const
  const span = { start: 0, end: 0 }
  const failed = await space.run(
    models({ severity: 'fail', text: 'row_count(= 0)', span, test: isEmpty }),
  )
  assert.equal(statuses(failed), {
    'ext.rows': 'failed',
    'mart.before': 'built',
    'mart.sum': 'skipped',
  })
  assert.match(resultOf(failed, 'ext.rows').because, /row_count\(= 0\)/)
  assert.equal(await space.rows(sql`FROM ext.rows`), [{ id: 1 }])
  assert.equal(await recorded(space), ['mart.before'])
  await space.run(models(), { fullRefresh: true })
  assert.equal(calls, ['ext.rows', 'ext.rows'])
})

test.run()
