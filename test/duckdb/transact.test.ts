import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newLine } from '../../src/core/in-turn.ts'
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

test('transactions that share a line begin and commit one at a time, and work at once', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  const connections = await Promise.all([database.connect(), database.connect()])
  const inTurn = newLine()
  let beginning = 0
  let working = 0
  const most = { beginning: 0, working: 0 }
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20))
  const first = async () => {
    most.beginning = Math.max(most.beginning, ++beginning)
    await pause()
    beginning--
  }
  const work = async () => {
    most.working = Math.max(most.working, ++working)
    await pause()
    await pause()
    working--
  }
  const fails = () => Promise.reject(new Error('no'))
  await Promise.all([
    connections[0]!.transact(work, { first, inTurn }),
    connections[1]!.transact(work, { first, inTurn }),
  ])
  assert.equal(most, { beginning: 1, working: 2 })
  await connections[0]!.transact(work, { first: fails, inTurn }).catch(() => {})
  await connections[1]!.transact(work, { first, inTurn })
})

test.run()
