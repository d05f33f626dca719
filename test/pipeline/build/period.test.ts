// Whole periods are made anew, and nothing else is touched.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../../src/core/failures.ts'
import { columnType } from '../../../src/core/relation.ts'
import { sql } from '../../../src/core/sql.ts'
import type { Model } from '../../../src/core/model.ts'
import { openStore } from '../../../src/store/open.ts'
import { modelName } from '../../support/model-name.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'

/** Rows such as `2024-01-05 N 20`. */
const orders = (...rows: readonly string[]) =>
  query(
    'raw.o',
    `select * from (values ${rows
      .map((row) => row.split(' '))
      .map(([day, region, amount]) => `(timestamp '${day} 10:00:00', '${region}', ${amount})`)
      .join()}) t(ts, region, amount)`,
  )

const DAILY = 'select ts::date as day, region, sum(amount)::integer as sum from raw.o group by all'

const daily = (options: QueryModelOptions = {}, text = DAILY) =>
  query('mart.d', text, {
    kind: 'period',
    period: 'day of day lookback 2 days',
    reads: ['raw.o'],
    ...options,
  })

const reader = query('mart.r', 'from mart.d', { reads: ['mart.d'] })

const rowsOf = async (space: TestProject) =>
  (
    await space.rows(sql`SELECT concat_ws(' ', day, region, sum) AS row FROM mart.d ORDER BY ALL`)
  ).map(({ row }) => row)

test('what a late row changes inside the lookback is made anew, a group that is gone goes, older days stay', async () => {
  await using space = await openProject()
  await space.ok([orders('2024-01-01 N 10', '2024-01-05 N 20', '2024-01-05 S 30'), daily()])
  const late = orders('2024-01-01 N 99', '2024-01-03 N 1', '2024-01-05 N 25')
  const summary = await space.ok([late, daily()])
  assert.is(resultOf(summary, 'mart.d').rows, 2)
  assert.equal(await rowsOf(space), ['2024-01-01 N 10', '2024-01-03 N 1', '2024-01-05 N 25'])
})

test('equal rows leave the table as it is, and nothing that reads it is built', async () => {
  await using space = await openProject()
  const rows = ['2024-01-01 N 10', '2024-01-05 N 20']
  await space.ok([orders(...rows), daily(), reader])
  const again = await space.ok([orders(...rows.toReversed()), daily(), reader])
  assert.is(resultOf(again, 'mart.d').status, 'built')
  assert.is(resultOf(again, 'mart.d').rows, 0)
  assert.is(resultOf(again, 'mart.r').status, 'unchanged')
})

test('a range is rounded outwards to whole periods and replaced, also where it has no rows any more', async () => {
  await using space = await openProject()
  const monthly = daily(
    { period: 'month of day' },
    `select date_trunc('month', ts)::date as day, region, sum(amount)::integer as sum from raw.o group by all`,
  )
  await space.ok([
    orders('2024-01-05 N 1', '2024-02-05 N 2', '2024-03-05 N 3', '2024-04-05 N 4'),
    monthly,
  ])
  const later = orders('2024-01-05 N 10', '2024-03-05 N 30', '2024-04-05 N 40')
  const range = { start: '2024-02-10', end: '2024-03-02' }
  const summary = await space.ok([later, monthly], { range })
  assert.is(resultOf(summary, 'mart.d').because, 'backfill of 2024-02-01 to 2024-04-01')
  assert.equal(await rowsOf(space), ['2024-01-01 N 1', '2024-03-01 N 30', '2024-04-01 N 4'])
})

test('NULL in the column is refused with the number of rows, wherever it is', async () => {
  await using space = await openProject()
  await space.ok([orders('2024-01-01 N 1', '2024-01-09 N 2'), daily()])
  const broken = query(
    'raw.o',
    `select * from (values (timestamp '2024-01-09', 'N', 3), (null, 'N', 1)) t(ts, region, amount)`,
  )
  const failed = await space.run([broken, daily()])
  assert.match(
    resultOf(failed, 'mart.d').because,
    /1 row has NULL in the period column "day"; filter or fill them in the SELECT$/,
  )
  assert.equal(await rowsOf(space), ['2024-01-01 N 1', '2024-01-09 N 2'])
})

test('a key is checked over the table where it does not name the period', async () => {
  await using space = await openProject()
  const lines = (...rows: readonly string[]) =>
    query('raw.l', `select * from (values ${rows.join()}) t(id, day)`)
  const model = query('mart.l', 'from raw.l', {
    kind: 'period',
    period: 'day of day',
    key: ['id'],
    reads: ['raw.l'],
  })
  const row = (id: number, day: string) => `(${id}, date '2024-01-${day}')`
  await space.ok([lines(row(1, '01'), row(2, '05')), model])
  const failed = await space.run([lines(row(2, '05'), row(1, '06')), model])
  assert.match(resultOf(failed, 'mart.l').because, /duplicate keys: id = 1 \(2 rows\)/)
  await space.ok([lines(row(2, '05'), row(3, '06')), model])
  const twice = await space.run([lines(row(4, '06'), row(4, '06')), model])
  assert.match(resultOf(twice, 'mart.l').because, /duplicate keys: id = 4 \(2 rows\)/)
})

test('periods of whole numbers begin at multiples, below zero and at the end of the type too', async () => {
  await using space = await openProject()
  const numbers = (...rows: readonly string[]) =>
    query('raw.n', `select * from (values ${rows.join()}) t(id, v)`)
  const model = query('mart.n', 'select id::tinyint as id, v from raw.n', {
    kind: 'period',
    period: '100 of id',
    reads: ['raw.n'],
  })
  const all = (v: number) => [-128, -101, -100, -1, 0, 99, 100, 120].map((id) => `(${id}, ${v})`)
  await space.ok([numbers(...all(1)), model])
  const made = async () =>
    (await space.rows(sql`SELECT id::INTEGER AS id FROM mart.n WHERE v = 2 ORDER BY id`)).map(
      ({ id }) => id,
    )
  await space.ok([numbers(...all(2)), model])
  assert.equal(await made(), [100, 120])
  await space.ok([numbers(...all(2)), model], { range: { start: '-100', end: '-99' } })
  assert.equal(await made(), [-100, -1, 100, 120])
  await space.ok([numbers(...all(2)), model], { range: { start: '-128', end: '-127' } })
  assert.equal(await made(), [-128, -101, -100, -1, 100, 120])
})

test('a range that has no period, or is none, is refused', async () => {
  await using space = await openProject()
  await space.ok([orders('2024-01-01 N 1'), daily()])
  const model = { ...daily(), columns: [{ name: 'day', type: columnType('DATE'), nullable: true }] }
  for (const [range, expected] of [
    [{ start: 'soon', end: '2024-01-02' }, /--start soon is not a valid value for "day" \(DATE\)/],
    [
      { start: '2024-01-03', end: '2024-01-02' },
      /--end 2024-01-02 is not after --start 2024-01-03/,
    ],
  ] as const) {
    const refused = space.run([orders('2024-01-01 N 5'), model], { range })
    const error = await refused.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    assert.instance(error, UsageError)
    assert.match((error as UsageError).message, expected)
  }
  assert.equal(await rowsOf(space), ['2024-01-01 N 1'])
})

test('an empty table, a lookback before all rows and a new column', async () => {
  await using space = await openProject()
  const none = query(
    'raw.o',
    `select timestamp '2024-01-01' as ts, 'N' as region, 1 as amount where false`,
  )
  await space.ok([none, daily()])
  await space.ok([orders('2024-01-01 N 1', '2024-01-09 N 2'), daily()])
  assert.equal(await rowsOf(space), ['2024-01-01 N 1', '2024-01-09 N 2'])
  const wide = daily(
    { period: 'day of day lookback 50 years' },
    `${DAILY.replace(' from', ', count(*) as n from')}`,
  )
  const summary = await space.ok([orders('2024-01-01 N 1', '2024-01-09 N 2'), wide])
  assert.is(resultOf(summary, 'mart.d').rows, 2)
  assert.equal(await space.rows(sql`SELECT DISTINCT n::INTEGER AS n FROM mart.d`), [{ n: 1 }])
})

/** Its ranges, with the number of the definition. */
async function remembered({ paths }: TestProject, ...models: readonly Model[]) {
  const { warehouse, state } = openStore(paths)
  await using database = await warehouse.openToRead({ memoryLimit: null, threads: 1 })
  await using connection = await database.connect()
  await state.read(connection, [])
  const slices = await state.readSlices(connection, [modelName('mart.d')])
  const of = (definition: string) => models.findIndex((model) => model.definition === definition)
  return slices.map(({ start, end, definition }) => `${start} ${end} ${of(definition)}`)
}

const WEEK = ['2024-01-01 N 1', '2024-01-02 N 2', '2024-01-03 N 3', '2024-01-09 N 4']

test('periods that were never built are built by the next run without a range', async () => {
  await using space = await openProject()
  await space.ok([orders(...WEEK), daily()], { range: { start: '2024-01-02', end: '2024-01-03' } })
  assert.equal(await rowsOf(space), ['2024-01-02 N 2'])
  const next = await space.ok([orders(...WEEK), daily()])
  assert.is(resultOf(next, 'mart.d').because, 'some periods were never built')
  assert.equal(await rowsOf(space), WEEK)
  const idle = await space.ok([orders(...WEEK), daily()])
  assert.is(resultOf(idle, 'mart.d').status, 'unchanged')
  assert.equal((await remembered(space, daily())).at(-1), 'null null 0')
})

test('ranges that adjoin are remembered as one', async () => {
  await using space = await openProject()
  const model = { ...daily(), columns: [{ name: 'day', type: columnType('DATE'), nullable: true }] }
  for (const day of [1, 2, 3])
    await space.ok([orders(...WEEK), model], {
      range: { start: `2024-01-0${day}`, end: `2024-01-0${day + 1}` },
    })
  assert.equal((await remembered(space, daily())).at(-1), '2024-01-01 2024-01-04 0')
})

test('the newest range that contains a value says which rule made its rows', async () => {
  await using space = await openProject()
  const [old, now] = [daily(), daily({}, DAILY.replace('sum(amount)', 'sum(amount) * 10'))]
  await space.ok([orders(...WEEK), old])
  await space.ok([orders(...WEEK), now])
  assert.equal(await rowsOf(space), [...WEEK.slice(0, 3), '2024-01-09 N 40'])
  const ranges = ['null null 0', '2024-01-07 null 1']
  assert.equal(await remembered(space, old, now), ranges)
  await space.ok([orders(...WEEK, '2024-01-09 N 1'), now])
  assert.equal(await remembered(space, old, now), ranges)
  await space.ok([orders(...WEEK), now], { range: { start: '2024-01-02', end: '2024-01-07' } })
  assert.equal(await remembered(space, old, now), [...ranges, '2024-01-02 null 1'])
})

test('an input that dries up takes no period away, and it is said', async () => {
  await using space = await openProject()
  await space.ok([orders('2024-01-01 N 10', '2024-01-08 N 1', '2024-01-09 N 2'), daily()])
  for (const amount of [1, 2]) {
    const summary = await space.ok([orders(`2024-01-02 N ${amount}`), daily()])
    const warnings = resultOf(summary, 'mart.d').warnings?.join() ?? ''
    assert.match(warnings, 'the SELECT gives no rows from 2024-01-07 on')
    assert.match(warnings, 'has 2 rows: they stay')
    assert.equal(await rowsOf(space), ['2024-01-01 N 10', '2024-01-08 N 1', '2024-01-09 N 2'])
  }
  await space.ok([orders('2024-01-03 N 1'), daily()], { allowEmpty: true })
  assert.equal(await rowsOf(space), ['2024-01-01 N 10'])
})

test('periods of numbers may end beyond what the column can hold', async () => {
  await using space = await openProject()
  const numbers = (type: string, ...ids: readonly number[]) =>
    query('raw.o', `select unnest([${ids.join()}])::${type} as id`)
  const counted = (type: string, period: string) =>
    query('mart.d', 'select id, count(*) as n from raw.o group by all', {
      kind: 'period',
      period,
      reads: ['raw.o'],
    })
  for (const [type, period, before, after] of [
    ['UINTEGER', '100 of id lookback 2000', [50], [50, 51]],
    ['SMALLINT', '10000 of id', [5, 31000], [5, 6, 31000, 32767]],
  ] as const) {
    await space.ok([numbers(type, ...before), counted(type, period)], { fullRefresh: true })
    await space.ok([numbers(type, ...after), counted(type, period)])
    await space.ok([numbers(type, ...after), counted(type, period)], {
      range: { start: '0', end: '32767' },
    })
    const rows = await space.rows(sql`SELECT count(*)::INTEGER AS n FROM mart.d`)
    assert.is(rows[0]?.['n'], after.length)
  }
})

test.run()
