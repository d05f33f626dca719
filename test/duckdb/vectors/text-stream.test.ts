import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { limits } from '../../../src/core/limits.ts'
import { columnType } from '../../../src/core/relation.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { type Connection, Database } from '../../../src/duckdb/database.ts'
import { DatabaseError } from '../../../src/duckdb/errors.ts'
import {
  type TextPart,
  TextStream,
  type TextStreamOptions,
} from '../../../src/duckdb/vectors/text-stream.ts'

const MODES = ['whole', 'streamed'] as const

interface Read {
  readonly text: string
  readonly pieces: number
  readonly stream: TextStream
}

async function read(
  connection: Connection,
  query: Sql,
  options: Partial<TextStreamOptions> = {},
): Promise<Read> {
  const all = { maxRows: Infinity, mode: 'streamed', ...options } as const
  const stream = await TextStream.open(connection, query, all)
  const pieces: Buffer[] = []
  for (let texts = await stream.next(); texts !== null; texts = await stream.next())
    pieces.push(texts.copy())
  return { text: Buffer.concat(pieces).toString('utf8'), pieces: pieces.length, stream }
}

/** What went wrong while `query` was read, and how many rows came before that. */
async function failureOf(
  connection: Connection,
  query: Sql,
  mode: TextStreamOptions['mode'],
): Promise<{ readonly error: unknown; readonly rows: number }> {
  let stream: TextStream | null = null
  try {
    stream = await TextStream.open(connection, query, { maxRows: Infinity, mode })
    while ((await stream.next()) !== null);
  } catch (error) {
    return { error, rows: stream?.rows ?? 0 }
  }
  throw new Error('the query did not fail')
}

/** Texts that would be more than a value if they were not written as one. */
const HOSTILE = [
  "a'b",
  "' OR TRUE --",
  "''; DROP TABLE t; --",
  "\\'; SELECT 1",
  '$1 ? :a $$x$$ /* "q" */ -- \n\r\t',
  "E'\\x41'",
  'a\0b',
  "\0'\0",
  'ü \u{1d11e} \u2028 \u02bc \uff07',
  "'".repeat(1_001),
]

for (const mode of MODES) {
  test(`${mode}: long texts come in pieces that are soon copied, one that is longer in parts`, async () => {
    await using database = await Database.open({ path: ':memory:', threads: 2 })
    await using connection = await database.connect()
    const most = limits.sendAheadBytes
    const query = sql`SELECT CASE WHEN i = 500 THEN repeat('0123456789', ${sql.value(most / 4)}) ELSE repeat('x', 4096) END
      FROM range(1001) AS r(i)`
    const stream = await TextStream.open(connection, query, { maxRows: 1_000, mode })
    const pieces: Buffer[] = []
    for (let texts = await stream.next(); texts !== null; texts = await stream.next()) {
      assert.is(stream.hasEnded && pieces.length < 4, false)
      pieces.push(texts.copy())
    }
    assert.is(stream.rows, 1_000)
    assert.is(stream.following?.length, 4_096)
    assert.ok(pieces.every(({ length }) => length <= most))
    const text = 'x'.repeat(500 * 4_096) + '0123456789'.repeat(most / 4) + 'x'.repeat(499 * 4_096)
    assert.ok(Buffer.concat(pieces).toString() === text)
  })

  test(`${mode}: of a long text behind the last one the beginning is kept`, async () => {
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const query = sql`SELECT repeat('x', ${sql.value(3 * limits.sendAheadBytes)}) FROM range(2)`
    const { text, stream } = await read(connection, query, { mode, maxRows: 1, isLong: true })
    assert.is(text.length, 3 * limits.sendAheadBytes)
    assert.is(stream.rows, 1)
    assert.is(stream.following?.length, limits.sendAheadBytes)
  })

  test(`${mode}: texts of every length arrive in order, over many chunks`, async () => {
    await using database = await Database.open({ path: ':memory:', threads: 2 })
    await using connection = await database.connect()
    // Lengths 0 to 39: inside the header (up to 12 bytes) and outside of it, next to each other.
    const query = sql`SELECT repeat('ä€𝄞x', CAST(i % 4 AS INTEGER)) || left('0123456789', CAST(i % 10 AS INTEGER)) || '|'
      FROM range(10000) AS r(i)`
    const expected = Array.from(
      { length: 10_000 },
      (_, i) => 'ä€𝄞x'.repeat(i % 4) + '0123456789'.slice(0, i % 10) + '|',
    ).join('')
    const { text, pieces, stream } = await read(connection, query, { mode })
    assert.ok(text === expected)
    assert.ok(pieces > 1)
    assert.is(stream.rows, 10_000)
    assert.is(stream.following, null)
  })

  test(`${mode}: no rows are an empty text`, async () => {
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const { text, stream } = await read(connection, sql`SELECT 'x' WHERE false`, { mode })
    assert.is(text, '')
    assert.is(stream.rows, 0)
    assert.is(stream.hasEnded, true)
  })

  test(`${mode}: more rows than wanted are noted, not given`, async () => {
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const five = sql`SELECT CAST(i AS VARCHAR) FROM range(5) AS r(i)`
    const cut = await read(connection, five, { mode, maxRows: 3 })
    assert.is(cut.text, '012')
    assert.ok(cut.stream.following !== null)
    const exact = await read(connection, five, { mode, maxRows: 5 })
    assert.is(exact.text, '01234')
    assert.is(exact.stream.following, null)
    const long = sql`SELECT CAST(i AS VARCHAR) FROM range(100000) AS r(i)`
    const third = await read(connection, long, { mode, maxRows: 2048 })
    assert.is(third.stream.rows, 2048)
    assert.ok(third.stream.following !== null)
  })

  test(`${mode}: values are what they are, whatever is in them`, async () => {
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    for (const value of HOSTILE) {
      const text = sql.value(value, columnType('VARCHAR'))
      const query = sql`SELECT concat(${sql.value(value)}, '-', ${text})`
      assert.is((await read(connection, query, { mode })).text, `${value}-${value}`)
    }
    const minus = sql`SELECT CAST(3 -${sql.value(-4)} -${sql.value(-5n)} AS VARCHAR)`
    assert.is((await read(connection, minus, { mode })).text, '12')
  })

  test(`${mode}: NULL is refused, not read from memory`, async () => {
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const query = sql`SELECT CASE WHEN i <> 70 THEN 'x' END FROM range(100) AS r(i)`
    const { error } = await failureOf(connection, query, mode)
    assert.match(String(error), /NULL/)
  })

  test(`${mode}: only a SELECT is run`, async () => {
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    await connection.run(sql`CREATE TABLE t (a VARCHAR)`)
    const put = sql`INSERT INTO t VALUES ('x')`
    for (const query of [put, sql`${put} RETURNING a`, sql`SELECT 'x'; ${put}`, sql`SUMMARIZE t`])
      assert.match(String((await failureOf(connection, query, mode)).error), /not one SELECT/)
    assert.equal(await connection.rows(sql`SELECT * FROM t`), [])
  })
}

const failsInRow = (row: number) => sql`
  SELECT CASE WHEN i = ${sql.value(row)} THEN CAST(CAST('x' || i AS INTEGER) AS VARCHAR)
    ELSE 'row ' || i || ' with some text' END
  FROM range(1000000) AS r(i)`

test('whole: a failure in any row is thrown before the first text', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 2 })
  await using connection = await database.connect()
  const { error, rows } = await failureOf(connection, failsInRow(900_000), 'whole')
  assert.is((error as DatabaseError).details.type, 'Conversion')
  assert.is(rows, 0)
})

test('streamed: a result that breaks off is never taken for a whole one', async () => {
  for (const threads of [1, 2]) {
    await using database = await Database.open({ path: ':memory:', threads })
    await using connection = await database.connect()
    const late = await failureOf(connection, failsInRow(500_000), 'streamed')
    assert.is((late.error as DatabaseError).details.type, 'Incomplete')
    assert.ok(late.rows > 0 && late.rows < 500_001, String(late.rows))
    const early = await failureOf(connection, failsInRow(10), 'streamed')
    assert.is((early.error as DatabaseError).details.type, 'Conversion')
    assert.is(early.rows, 0)
  }
})

test('texts may be copied once the next ones were made, each of them once', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const query = sql`SELECT 'row ' || i || ' with some text,' FROM range(20000) AS r(i)`
  const whole = (await read(connection, query)).text
  const options = { maxRows: Infinity, mode: 'streamed' } as const
  const stream = await TextStream.open(connection, query, options)
  const parts: TextPart[] = []
  for (let texts = await stream.next(); texts !== null; texts = await stream.next())
    parts.push(texts)
  assert.ok(parts.length > 1)
  assert.ok(Buffer.concat(parts.map((texts) => texts.copy())).toString('utf8') === whole)
  assert.throws(() => parts[0]!.copy(), /already been copied/)
})

test('streamed: an interrupted result is incomplete, and the connection lives on', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const query = sql`SELECT repeat('x', 100) FROM range(10000000) AS r(i)`
  const stream = await TextStream.open(connection, query, { maxRows: Infinity, mode: 'streamed' })
  await stream.next()
  connection.interrupt()
  let error: unknown = null
  try {
    while ((await stream.next()) !== null);
  } catch (thrown) {
    error = thrown
  }
  assert.instance(error, DatabaseError)
  assert.is((await read(connection, sql`SELECT 'again'`)).text, 'again')
})

test.run()
