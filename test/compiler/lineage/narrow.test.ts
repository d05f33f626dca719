// The SELECT of a period model that reads only the rows of a range gives what the whole one gives for it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ModelBody, type Sql, sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { type DatabaseError, refusalOf } from '../../../src/duckdb/errors.ts'
import { asWritten, narrowed } from '../../../src/compiler/lineage/narrow.ts'
import { stageStatement } from '../../../src/pipeline/build/materialize/stage.ts'
import { compileTexts, modelOf } from '../../support/compile-texts.ts'

/** Every 7 hours of 40 days around a change of the clock in Oslo, and the ends of days. */
const TIMES = `SELECT TIMESTAMP '2024-03-10' + to_hours(7 * i::INTEGER) AS ts, i % 3 AS region, i AS id
  FROM range(140) t(i)
  UNION ALL SELECT TIMESTAMP '2024-03-20' + to_days(i::INTEGER) - INTERVAL 1 MICROSECOND, 9, 1000 + i FROM range(9) t(i)`

const inputs = {
  'raw.o': `SELECT ts, ts::TIMESTAMPTZ AS tz, ts::DATE AS d, region, id::INTEGER AS id FROM (${TIMES})`,
  'raw.r': 'SELECT i AS region, i * 10 AS rate FROM range(2) t(i)',
}

const range = { start: '2024-03-25', end: '2024-04-03' }

/** SELECTs whose column "p" can be narrowed, then those where nothing may be left out. */
const narrow = {
  column: 'SELECT ts AS p, id FROM raw.o',
  cast: 'SELECT ts::DATE AS p, count(*) AS n FROM raw.o GROUP BY ALL',
  trunc:
    "SELECT date_trunc('day', ts)::DATE AS p, region, sum(id) AS n FROM raw.o AS o GROUP BY ALL",
  week: "SELECT date_trunc('week', o.ts) AS p, count(*) AS n FROM raw.o o GROUP BY 1",
  month:
    "SELECT CAST(date_trunc('month', d) AS TIMESTAMP) AS p, count(*) AS n FROM raw.o GROUP BY 1",
  bucket: "SELECT time_bucket(INTERVAL '36 hours', ts) AS p, count(*) AS n FROM raw.o GROUP BY 1",
  zone: "SELECT (tz AT TIME ZONE 'Europe/Oslo')::DATE AS p, count(*) AS n FROM raw.o GROUP BY 1",
  seconds: 'SELECT ts::TIMESTAMP_S AS p, id FROM raw.o',
  join: 'SELECT ts::DATE AS p, sum(rate) AS n FROM raw.o JOIN raw.r USING (region) GROUP BY 1',
  outer:
    'SELECT ts::DATE AS p, sum(rate) AS n FROM raw.o o LEFT JOIN raw.r r ON r.region = o.region GROUP BY 1',
  right:
    'SELECT o.ts::DATE AS p, count(*) AS n FROM raw.r r LEFT JOIN raw.o o ON r.region = o.region GROUP BY 1',
  comma:
    'SELECT ts::DATE AS p, count(*) AS n FROM raw.r, raw.o /* all */ WHERE r.region = o.region GROUP BY 1',
  nested:
    'WITH x AS (SELECT * FROM raw.o) SELECT p, count(*) AS n FROM (SELECT ts::DATE AS p FROM x) GROUP BY 1',
}

const whole = {
  window: 'SELECT ts::DATE AS p, sum(id) OVER (ORDER BY ts) AS n FROM raw.o',
  limit: 'SELECT ts::DATE AS p, id FROM raw.o ORDER BY id LIMIT 50',
  twice:
    'SELECT ts::DATE AS p, id FROM raw.o WHERE ts < (SELECT max(ts) - INTERVAL 2 DAY FROM raw.o)',
  aggregate: 'SELECT max(ts) AS p, region FROM raw.o GROUP BY region',
  qualified: 'SELECT raw.o.ts::DATE AS p, id FROM raw.o',
  computed: 'SELECT ts + INTERVAL 3 DAY AS p, id FROM raw.o',
}

const kind = '-- @kind: period\n-- @period: day of p\n'

async function compiled(text: string) {
  const project = await compileTexts({ ...inputs, 'mart.t': `${kind}${text}` })
  const model = modelOf(project, 'mart.t')
  if (model.kind !== 'period') throw new Error('another kind')
  return { project, model }
}

async function openInputs(): Promise<Database> {
  const database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  await connection.run(sql`SET TimeZone = 'UTC'`)
  await connection.run(sql`CREATE SCHEMA raw`)
  for (const name of ['raw.o', 'raw.r'] as const) {
    const source = { path: name, text: inputs[name] }
    const body = ModelBody.of(source, { start: 0, end: source.text.length })
    await connection.run(sql`CREATE TABLE ${sql.relation(name)} AS ${sql.body(body)}`)
  }
  return database
}

const inRange = (body: ModelBody): Sql => sql`
  SELECT * FROM (${sql.body(body)}) WHERE p >= ${sql.value(range.start)} AND p < ${sql.value(range.end)}`

for (const [name, text] of Object.entries(narrow))
  test(`less is read for the same rows: ${name}`, async () => {
    await using database = await openInputs()
    await using connection = await database.connect()
    await connection.run(sql`SET TimeZone = 'UTC'`)
    const { project, model } = await compiled(text)
    const body = await narrowed({ project, connection }, model, range)
    assert.ok(body !== null, 'not narrowed')
    const rows = (query: Sql) => connection.texts(sql`FROM (${query}) ORDER BY ALL`)
    const expected = await rows(inRange(model.body))
    assert.ok(expected.length > 0)
    assert.equal(await rows(inRange(body)), expected)
    const all = (one: ModelBody) => rows(sql`SELECT * FROM (${sql.body(one)})`)
    assert.not.equal(await all(body), await all(model.body), 'nothing is left out')
  })

for (const [name, text] of Object.entries(whole))
  test(`all is read where a row may depend on others: ${name}`, async () => {
    await using database = await openInputs()
    await using connection = await database.connect()
    const { project, model } = await compiled(text)
    assert.is(await narrowed({ project, connection }, model, range), null)
  })

test('an error has the place that it has in the file', async () => {
  await using database = await openInputs()
  await using connection = await database.connect()
  const text =
    "SELECT ts::DATE AS p, count(*) AS n FROM raw.o WHERE id < CAST('x' || region AS INTEGER) GROUP BY 1"
  const { project, model } = await compiled(text)
  const body = await narrowed({ project, connection }, model, range)
  assert.ok(body !== null)
  const [statement, original] = [stageStatement({ body }), stageStatement(model)]
  const errorOf = async (query: Sql): Promise<DatabaseError> => {
    const error = await refusalOf(connection.run(query))
    if (error === null) throw new Error('it works')
    return error
  }
  const expected = (await errorOf(original)).details.position
  const error = asWritten(await errorOf(statement), { statement, body, original, own: model.body })
  assert.ok(expected !== null)
  assert.is(error.details.position, expected)
})

test.run()
