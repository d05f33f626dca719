// A range in pieces: what is committed stays, and the next run of the same range goes on behind it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Model } from '../../../src/core/model.ts'
import { columnType } from '../../../src/core/relation.ts'
import type { Share } from '../../../src/core/report/progress.ts'
import { sql } from '../../../src/core/sql.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'
import { openStore } from '../../../src/store/open.ts'
import { modelName } from '../../support/model-name.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'

/** One row for each day of the first ten of January, with this value. */
const days = (value: string) =>
  query(
    'raw.o',
    `select (date '2024-01-01' + i::integer) as day, ${value} as v from range(10) t(i)`,
  )

const TEXT = 'select day, v::integer as v from raw.o'

function model(kind: 'period' | 'append', text = TEXT, options: QueryModelOptions = {}): Model {
  const made = query('mart.d', text, {
    kind,
    ...(kind === 'period' ? { period: 'day of day' } : { incremental: 'day' }),
    reads: ['raw.o'],
    ...options,
  })
  return { ...made, columns: [{ name: 'day', type: columnType('DATE'), nullable: true }] }
}

const range = { start: '2024-01-02', end: '2024-01-09' }
const byDay = { range, by: 'day' } as const

/** The run is aborted before it builds the piece of this number; gives the numbers of those it began with. */
async function run(
  space: TestProject,
  models: readonly Model[],
  { until = Infinity, ...options }: Partial<RunRequest> & { readonly until?: number } = {},
): Promise<readonly number[]> {
  const abort = new AbortController()
  const begun: number[] = []
  const onShare = ({ step, done }: Share) => {
    if (step !== 'pieces') return
    begun.push(done)
    if (done >= until) abort.abort(new Error('enough'))
  }
  const summary = await space.run(models, { ...byDay, ...options, onShare, signal: abort.signal })
  assert.ok(begun.length > 0, JSON.stringify(summary.models))
  return begun
}

const valuesOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT string_agg(v, ' ' ORDER BY day) AS v FROM mart.d`))[0]!['v']

for (const kind of ['period', 'append'] as const)
  test(`what an interrupted run has built stays, and the next one goes on: ${kind}`, async () => {
    await using space = await openProject()
    await space.ok([days('1'), model(kind)])
    const changed = model(kind, 'select day, (v + 1)::integer as v from raw.o')
    await run(space, [days('1'), changed], { until: 3 })
    assert.is(await valuesOf(space), '1 2 2 2 1 1 1 1 1 1')
    assert.equal(await run(space, [days('1'), changed], { until: 5 }), [3, 4, 5])
    assert.equal(await run(space, [days('1'), changed]), [5, 6])
    const { warehouse, state } = openStore(space.paths)
    {
      await using database = await warehouse.openToRead({ memoryLimit: null })
      await using connection = await database.connect()
      await state.read(connection, [])
      const slices = await state.readSlices(connection, [modelName('mart.d')])
      const ends = slices.filter(({ start }) => start === range.start).map(({ end }) => end)
      assert.equal(ends, [range.end], 'the pieces are one range')
    }
    assert.is(await valuesOf(space), '1 2 2 2 2 2 2 2 1 1')
    assert.equal(await run(space, [days('1'), changed]), [0, 1, 2, 3, 4, 5, 6], 'it had ended')
  })

test('it begins again where the SELECT or an input has changed meanwhile', async () => {
  await using space = await openProject()
  await space.ok([days('1'), model('period')])
  const changed = model('period', 'select day, (v + 1)::integer as v from raw.o')
  await run(space, [days('1'), changed], { until: 3 })
  const other = model('period', 'select day, (v + 2)::integer as v from raw.o')
  assert.equal((await run(space, [days('1'), other], { until: 3 }))[0], 0)
  assert.equal((await run(space, [days('5'), other]))[0], 0)
  assert.is(await valuesOf(space), '1 7 7 7 7 7 7 7 1 1')
})

test('a first build in pieces, one of which fails, and what reads it', async () => {
  await using space = await openProject()
  const failing = model(
    'period',
    `select day, (case when day = '2024-01-05' then v else '1' end)::integer as v from raw.o`,
  )
  const reader = query('mart.r', 'select count(*)::integer as n from mart.d', { reads: ['mart.d'] })
  const failed = await space.run([days("'x'"), failing, reader], byDay)
  assert.match(
    resultOf(failed, 'mart.d').because,
    /'x'.*; 3 of 7 pieces are built, and the same command continues there$/,
  )
  assert.is(resultOf(failed, 'mart.r').status, 'skipped')
  assert.is(await valuesOf(space), '1 1 1')
  const mended = await space.ok([days("'2'"), failing, reader], byDay)
  assert.is(resultOf(mended, 'mart.d').rows, 4, 'the others are as they were')
  assert.is(await valuesOf(space), '1 1 1 2 1 1 1')
  assert.equal(await space.rows(sql`FROM mart.r`), [{ n: 7 }])
  await space.ok([days("'2'"), failing, reader])
  assert.is(await valuesOf(space), '1 1 1 1 2 1 1 1 1 1')
})

test('pieces of months of weeks begin with a week, and pieces of numbers at multiples', async () => {
  await using space = await openProject()
  const weekly = model('period', TEXT, { period: 'week of day' })
  await space.ok([days('1'), weekly])
  const because = async (one: Model, options: Partial<RunRequest>, source = days('1')) =>
    resultOf(await space.run([source, one], options), 'mart.d').because
  const months = { range: { start: '2024-01-01', end: '2024-04-01' }, by: 'month' }
  assert.is(await because(weekly, months), 'backfill of 2024-01-01 to 2024-04-01 in 3 pieces')
  for (const by of ['1000', 'fortnight']) {
    const asked = space.run([days('1'), weekly], { range, by })
    const refused = await asked.then(() => 'nothing was refused', String)
    assert.match(refused, `--by ${by} does not fit "day" (DATE), the @period of mart.d`)
  }
})

test('rows that have come meanwhile are not lost by the next run without a range', async () => {
  await using space = await openProject()
  await space.ok([days('1'), model('period')])
  const more = query(
    'raw.o',
    `select (date '2024-01-01' + i::integer) as day, 1 as v from range(12) t(i)`,
  )
  await space.ok([more, model('period')], { range })
  await space.ok([more, model('period')])
  assert.is(await valuesOf(space), '1 1 1 1 1 1 1 1 1 1 1 1')
})

test.run()
