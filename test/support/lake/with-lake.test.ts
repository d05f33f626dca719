import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeTest } from './lake-test.ts'
import { openRawEngine } from './raw-engine.ts'
import { withLake } from './with-lake.ts'

lakeTest('each lake has a database and a prefix of its own, by way of proxies', async () => {
  await using one = await withLake()
  await using other = await withLake()
  for (const [lake, value] of [
    [one, 1],
    [other, 2],
  ] as const) {
    await using engine = await openRawEngine(lake)
    const connection = await engine.connect()
    await connection.run(`CREATE TABLE t AS SELECT ${value} AS n`)
    assert.equal(await connection.rows('SELECT n FROM t'), [[value]])
    assert.ok(lake.catalog.queries.length > 5)
    assert.ok(lake.store.requests.some(({ method }) => method === 'PUT'))
    assert.equal(lake.store.deletions, [])
  }
  assert.is((await one.postgres('SELECT * FROM shop.ducklake_table')).length, 1)
})

lakeTest('a COMMIT whose answer is lost is carried out, one that is cut is not', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  await connection.run('CREATE TABLE t (n INTEGER)')
  const snapshots = async () => (await lake.postgres('SELECT * FROM shop.ducklake_snapshot')).length
  const before = await snapshots()

  const lost = lake.catalog.loseNextCommit()
  await connection.refusal('INSERT INTO t VALUES (1)')
  await lost
  assert.is(await snapshots(), before + 1)

  const cut = lake.catalog.cutNextCommit()
  await connection.refusal('INSERT INTO t VALUES (2)')
  await cut
  assert.is(await snapshots(), before + 1)
  assert.equal(await connection.rows('SELECT n FROM t'), [[1]])
})

lakeTest('a held COMMIT goes on when it is released', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  const other = await engine.connect()
  await connection.run('CREATE TABLE t (n INTEGER)')
  const held = lake.catalog.holdNextCommit()
  let isDone = false
  const insert = connection.run('INSERT INTO t VALUES (1)').then(() => (isDone = true))
  const { release } = await held
  assert.equal(await other.rows('SELECT n FROM t'), [])
  assert.not(isDone)
  release()
  await insert
  assert.equal(await other.rows('SELECT n FROM t'), [[1]])
})

lakeTest('a store that refuses, delays or is cut off', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  await connection.run('CREATE TABLE t AS SELECT 1 AS n')
  lake.store.refuseWith = 403
  assert.match(await connection.refusal('INSERT INTO t VALUES (2)'), /403/)
  lake.store.refuseWith = null
  lake.store.delayMs = 50
  const startedAt = performance.now()
  await connection.run('INSERT INTO t VALUES (3)')
  assert.ok(performance.now() - startedAt > 50)
  assert.equal(await connection.rows('SELECT n FROM t ORDER BY n'), [[1], [3]])
})

test.run()
