// Periods of which an input has changed are built again, however old they are, through several models.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunSummary } from '../../../src/core/report/progress.ts'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import {
  openProject,
  resultOf,
  runDefaults,
  type TestProject,
} from '../../support/pipeline-project.ts'

const daily = `-- @kind: period
-- @period: day of day lookback 2 days
SELECT ts::DATE AS day, region, sum(amount)::INTEGER AS sum FROM raw.o GROUP BY ALL`

const monthly = `-- @kind: period
-- @period: month of month
SELECT date_trunc('month', day)::DATE AS month, sum(sum)::INTEGER AS sum FROM mart.daily GROUP BY ALL`

/** Rows such as `2024-01-05 N 20`. */
const orders = (...rows: readonly string[]): string => {
  const values = rows
    .map((row) => row.split(' '))
    .map(([day, region, amount]) => `(TIMESTAMP '${day} 10:00:00', '${region}', ${amount})`)
  return `SELECT * FROM (VALUES ${values.join()}) t(ts, region, amount)`
}

async function run(space: TestProject, ...rows: readonly string[]): Promise<RunSummary> {
  const texts = { 'raw.o': orders(...rows), 'mart.daily': daily, 'mart.monthly': monthly }
  const project = await compileTexts(texts)
  const summary = await runPipeline({ ...runDefaults(space.paths), project, openClaims: null })
  assert.ok(summary.ok, JSON.stringify(summary.models))
  return summary
}

const rowsOf = async (space: TestProject, query: ReturnType<typeof sql>) =>
  (await space.rows(query)).map((row) => Object.values(row).map(String).join(' '))

const DAILY = sql`SELECT day::VARCHAR AS day, region, sum FROM mart.daily ORDER BY ALL`
const MONTHLY = sql`SELECT month::VARCHAR AS month, sum FROM mart.monthly ORDER BY ALL`

test('a correction and a cancellation of long ago arrive, and only their periods are written', async () => {
  await using space = await openProject()
  const old = ['2020-01-05 N 10', '2020-01-05 S 5', '2020-02-05 N 1', '2024-06-30 N 30']
  await run(space, ...old)
  const summary = await run(space, '2020-01-05 N 99', '2020-02-05 N 1', '2024-06-30 N 30')
  assert.equal(await rowsOf(space, DAILY), ['2020-01-05 N 99', '2020-02-05 N 1', '2024-06-30 N 30'])
  assert.equal(await rowsOf(space, MONTHLY), ['2020-01-01 99', '2020-02-01 1', '2024-06-01 30'])
  assert.is(resultOf(summary, 'mart.daily').rows, 2)
  assert.is(resultOf(summary, 'mart.monthly').rows, 1)
})

test('many days apart are built again, and no other one', async () => {
  await using space = await openProject()
  const days = Array.from({ length: 60 }, (_, i) => new Date(Date.UTC(2024, 0, 1 + i)))
  const rowOn = (day: Date, amount: number) => `${day.toISOString().slice(0, 10)} N ${amount}`
  await run(space, ...days.map((day) => rowOn(day, 1)))
  await space.alter(sql`UPDATE mart.daily SET sum = 5`)
  const summary = await run(space, ...days.map((day, i) => rowOn(day, i % 3 === 0 ? 2 : 1)))
  const isNewest = (i: number) => i >= 57
  assert.equal(
    await rowsOf(space, DAILY),
    days.map((day, i) => rowOn(day, i % 3 === 0 ? 2 : isNewest(i) ? 1 : 5)),
  )
  assert.is(resultOf(summary, 'mart.daily').rows, 22)
})

test('a new day before all others, and a day that loses its last row', async () => {
  await using space = await openProject()
  await run(space, '2020-01-05 N 10', '2020-03-05 N 3', '2024-06-30 N 30')
  await run(space, '2019-12-31 N 7', '2020-03-05 N 3', '2024-06-30 N 30')
  assert.equal(await rowsOf(space, DAILY), ['2019-12-31 N 7', '2020-03-05 N 3', '2024-06-30 N 30'])
  assert.equal(await rowsOf(space, MONTHLY), ['2019-12-01 7', '2020-03-01 3', '2024-06-01 30'])
})

const OTHERS =
  'changes of raw.o may touch rows of other periods, by a window, LIMIT or DISTINCT ON, and these stay as they were'

const looking: readonly {
  readonly what: string
  readonly select: string
  readonly lookback?: string
  readonly late: boolean
  readonly inOrder: boolean
}[] = [
  {
    what: 'the row before',
    select: 'lag(amount) OVER (PARTITION BY region ORDER BY ts) AS a FROM raw.o',
    late: true,
    inOrder: true,
  },
  {
    what: 'the row before, as far back as the lookback',
    select: 'lag(amount) OVER (PARTITION BY region ORDER BY ts) AS a FROM raw.o',
    lookback: ' lookback 9 days',
    late: true,
    inOrder: false,
  },
  {
    what: 'the newest row of each region, in a view',
    select: 'amount AS a FROM stage.newest',
    late: true,
    inOrder: true,
  },
  {
    what: 'rows of the same day',
    select: 'rank() OVER (PARTITION BY ts::DATE ORDER BY amount) AS a FROM raw.o',
    late: false,
    inOrder: false,
  },
  { what: 'no other row', select: 'amount AS a FROM raw.o', late: false, inOrder: false },
  {
    what: 'a table of the newest rows',
    select: 'amount AS a FROM core.newest',
    late: false,
    inOrder: false,
  },
]

for (const { what, select, lookback = '', late, inOrder } of looking)
  test(`what may touch rows of other periods is said: ${what}`, async () => {
    await using space = await openProject()
    const newest = 'FROM raw.o QUALIFY row_number() OVER (PARTITION BY region ORDER BY ts DESC) = 1'
    const said = async (...rows: readonly string[]) => {
      const project = await compileTexts({
        'raw.o': orders(...rows),
        'stage.newest': `-- @kind: view\n${newest}`,
        'core.newest': `-- @kind: table\n${newest}`,
        'mart.p': `-- @kind: period\n-- @period: day of day${lookback}\nSELECT ts::DATE AS day, ${select}`,
      })
      const summary = await runPipeline({ ...runDefaults(space.paths), project, openClaims: null })
      assert.ok(summary.ok, JSON.stringify(summary.models))
      const { warnings = [] } = resultOf(summary, 'mart.p')
      return warnings.some((text) => text.startsWith(OTHERS))
    }
    const first = ['2024-01-05 N 10', '2024-03-05 S 3', '2024-03-07 N 4']
    assert.is(await said(...first), false)
    assert.is(await said(...first, '2024-03-08 N 5'), inOrder)
    assert.is(await said(...first, '2024-03-08 N 5', '2024-02-01 N 7'), late)
  })

test('a range that is built first leaves the rest as never built, and not as unread', async () => {
  await using space = await openProject()
  const project = await compileTexts({
    'raw.o': orders('2024-01-05 N 1', '2024-01-20 N 2', '2024-02-05 N 3'),
    'mart.daily': daily,
  })
  const of = { ...runDefaults(space.paths), project }
  const only = (name: string) => ({ selection: { include: [name], exclude: [], retry: false } })
  await runPipeline({ ...of, ...only('raw.o') })
  const range = { start: '2024-01-15', end: '2024-01-25' }
  await runPipeline({ ...of, ...only('mart.daily'), range })
  assert.equal(await rowsOf(space, DAILY), ['2024-01-20 N 2'])
  const summary = await runPipeline(of)
  assert.is(resultOf(summary, 'mart.daily').warnings, undefined)
  assert.equal(await rowsOf(space, DAILY), ['2024-01-05 N 1', '2024-01-20 N 2', '2024-02-05 N 3'])
  // What changes inside the range is found from then on.
  await run(space, '2024-01-05 N 1', '2024-01-20 N 9', '2024-02-05 N 3')
  assert.equal(await rowsOf(space, DAILY), ['2024-01-05 N 1', '2024-01-20 N 9', '2024-02-05 N 3'])
})

test.run()
