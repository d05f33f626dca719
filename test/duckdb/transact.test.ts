import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'

test('whatever statement of a transaction an interrupt meets, the connection works on', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  await connection.run(sql`CREATE TABLE t (i INTEGER)`)
  let isStorm = true
  const interrupt = () => {
    connection.interrupt()
    if (isStorm) setImmediate(interrupt)
  }
  for (let round = 0; round < 300; round++) {
    isStorm = true
    interrupt()
    const insert = () => connection.run(sql`INSERT INTO t VALUES (${sql.value(round)})`)
    await connection.transact(insert).catch(() => {})
    await connection.transact(() => Promise.reject(new Error('no'))).catch(() => {})
    isStorm = false
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    await connection.transact(insert)
  }
  assert.equal(await connection.row(sql`SELECT count(DISTINCT i)::INTEGER AS n FROM t`), { n: 300 })
})

test.run()
