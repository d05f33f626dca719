import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { ConnectionPool } from '../../src/duckdb/connection-pool.ts'
import { Database } from '../../src/duckdb/database.ts'
import { isInterrupt } from '../../src/duckdb/errors.ts'
import { TextStream } from '../../src/duckdb/vectors/text-stream.ts'

async function openPool(size: number): Promise<ConnectionPool> {
  await using resources = new Resources()
  const database = resources.use(await Database.open({ path: ':memory:', threads: 1 }))
  const settings = [sql`SET streaming_buffer_size = '64KB'`]
  return new ConnectionPool(database, { size, settings, resources })
}

const BUFFER = sql`SELECT current_setting('streaming_buffer_size') AS size`
const MANY = sql`SELECT 'a text of some length ' || i FROM range(1000000) AS r(i)`

test('a connection is used again, with its settings', async () => {
  await using pool = await openPool(2)
  const seen = new Set<unknown>()
  for (let i = 0; i < 5; i++) {
    await using lent = await pool.take()
    seen.add(lent.connection)
    assert.is((await lent.connection.row(BUFFER))?.['size'], '62.5 KiB')
    assert.is(pool.free, 0)
  }
  assert.is(seen.size, 1)
  assert.is(pool.free, 1)
})

test('any number may be in use, and of the free ones no more stay open than the pool has', async () => {
  await using pool = await openPool(2)
  assert.is(pool.free, 0)
  const lent = await Promise.all([pool.take(), pool.take(), pool.take()])
  for (const { connection } of lent) assert.is((await connection.row(BUFFER))?.['size'], '62.5 KiB')
  for (const one of lent) await one[Symbol.asyncDispose]()
  assert.is(pool.free, 2)
  assert.equal(
    lent.map(({ connection }) => connection.isClosed),
    [false, false, true],
  )
})

test('a stream that was left in the middle leaves a connection that works', async () => {
  await using pool = await openPool(1)
  for (let i = 0; i < 3; i++) {
    await using lent = await pool.take()
    const options = { maxRows: Infinity, mode: 'streamed' } as const
    await using stream = await TextStream.open(lent.connection, MANY, options)
    assert.match(String((await stream.next())?.copy()), /^a text of some length 0a text/)
    void stream.next().catch(() => {}) // still at work when it is left
  }
  assert.is(pool.free, 1)
  await using lent = await pool.take()
  assert.equal(await lent.connection.row(sql`SELECT 2 AS two`), { two: 2 })
})

test('a connection that was interrupted works again; one that was closed is not given back', async () => {
  await using pool = await openPool(1)
  {
    await using lent = await pool.take()
    const slow = lent.connection.row(sql`SELECT count(*) FROM range(100000000000) AS r(i)`)
    const timer = setInterval(() => lent.connection.interrupt(), 5)
    const error = await slow.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    clearInterval(timer)
    assert.instance(error, Error)
    assert.equal(await lent.connection.row(sql`SELECT 1 AS one`), { one: 1 })
  }
  assert.is(pool.free, 1)
  {
    await using lent = await pool.take()
    await lent.connection[Symbol.asyncDispose]()
  }
  assert.is(pool.free, 0)
})

test('an engine that is closed while connections are made ends none of them, nor the process', async () => {
  for (let round = 0; round < 10; round++) {
    const database = await Database.open({ path: ':memory:', threads: 1 })
    const asked = Array.from({ length: 12 }, async () => {
      await using connection = await database.connect()
      return (await connection.row(sql`SELECT 1 AS one`))?.['one']
    })
    const closed = database[Symbol.asyncDispose]()
    const late = database.connect()
    const ended = await Promise.allSettled([...asked, late])
    await closed
    assert.ok(ended.every((one) => one.status === 'fulfilled' || isInterrupt(one.reason)))
    assert.is(ended.at(-1)!.status, 'rejected')
  }
})

test.run()
