// A store that refuses for a moment, one with a certificate of an authority of its own, and a proxy on the way to it.

// Its commands are processes: a proxy is found by the environment of the process.

import { createServer, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { requireWhole } from '../../src/core/lake.ts'
import { limits } from '../../src/core/limits.ts'
import { sql } from '../../src/core/sql.ts'
import { isConflict, refusalOf } from '../../src/duckdb/errors.ts'
import { LakeEngine } from '../../src/duckdb/open-lake.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { StoreProxy } from '../support/lake/store-proxy.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { selfSigned } from '../support/self-signed.ts'
import { until } from '../support/until.ts'

const models = { 'models/mart/one.sql': 'SELECT 1 AS n\n' }

lakeTest('a store that refuses each request six times is waited for', async () => {
  await using lake = await withLake()
  const changed = { s3_retry_seconds: '1' }
  await using space = await lakeProject(lake, models, lake.env, changed)
  await space.ok(['run'])
  await space.write('models/mart/one.sql', 'SELECT 2 AS n\n')
  lake.store.refuseWith = 503
  lake.store.refuseTimes = 6
  await space.ok(['run'])
  assert.is(lake.store.refuseTimes, 0)
  lake.store.refuseTimes = 6
  assert.match((await space.ok(['query', 'FROM mart.one'])).stdout, /\b2\b/)
  assert.is(lake.store.refuseTimes, 0)
})

lakeTest('a store that refuses everything for five seconds fails nothing', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, models)
  await space.ok(['run'])
  await space.write('models/mart/one.sql', 'SELECT 2 AS n\n')
  lake.store.forget()
  lake.store.refuseWith = 503
  const outage = async () => {
    await until(() => lake.store.requests.length > 0)
    await sleep(5_000)
    lake.store.refuseWith = null
  }
  await Promise.all([space.ok(['run']), outage()])
  assert.match((await space.ok(['query', 'FROM mart.one'])).stdout, /\b2\b/)
})

lakeTest('without patience a store that refuses fails a command at once', async () => {
  await using lake = await withLake()
  const changed = { s3_retry_seconds: '0' }
  await using space = await lakeProject(lake, models, lake.env, changed)
  await space.ok(['run'])
  lake.store.refuseWith = 503
  lake.store.refuseTimes = 6
  await space.ok(['query', 'FROM mart.one'], { exitCode: 3 })
  assert.is(lake.store.refuseTimes, 4, 'once, and once more')
})

lakeTest(
  'a commit that conflicts waits for no store, which it asks to delete in vain',
  async () => {
    await using lake = await withLake()
    await using space = await lakeProject(lake, models)
    await space.ok(['run'])
    const target = requireWhole(lakeSettingsOf(lake))
    assert.is(target.store.retrySeconds, limits.lakeRetrySeconds)
    const engine = await LakeEngine.open(target, { applicationName: 'test' })
    await using database = engine.database
    await engine.attach()
    const connect = () => database.connect()
    await using one = await connect()
    await using other = await connect()
    await one.run(sql`CREATE TABLE mart.t AS SELECT 1 AS n`)
    await one.run(sql`INSERT INTO mart.t VALUES (2)`)
    for (const connection of [one, other]) await connection.run(sql`BEGIN`)
    await one.run(sql`DELETE FROM mart.t WHERE n = 1`)
    await other.run(sql`INSERT INTO mart.t VALUES (3)`)
    await one.run(sql`COMMIT`)
    const startedMs = performance.now()
    assert.ok(isConflict(await refusalOf(other.run(sql`COMMIT`))))
    const ms = performance.now() - startedMs
    assert.ok(ms < (limits.lakeRetrySeconds * 1000) / 2, `${Math.round(ms)} ms`)
  },
)

lakeTest('doctor says at once that a store refuses', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, models)
  await space.ok(['run'])
  lake.store.refuseWith = 503
  lake.store.refuseTimes = 6
  const { stdout } = await space.ok(['doctor'], { exitCode: 1 })
  assert.match(stdout, /fail {2}warehouse {2}the store does not answer: .*\(HTTP 503/)
  assert.is(lake.store.refuseTimes, 4)
})

lakeTest('a store with a certificate of its own authority needs lake.s3_ca', async () => {
  await using lake = await withLake()
  const identity = selfSigned()
  await using store = await StoreProxy.open(lake.servers.storePort, identity)
  const address = `https://127.0.0.1:${store.port}`
  const project = (changed: Readonly<Record<string, string>>) => {
    const files = {
      ...models,
      'tls/store.pem': identity.certificate,
      'tls/other.pem': selfSigned().certificate,
    }
    const settings = { s3_endpoint: address, s3_retry_seconds: '0', ...changed }
    return lakeProject(lake, files, lake.env, settings)
  }
  const refusals = [
    [
      {},
      /^error: the TLS certificate of the store is not valid here: .*\nhint: set lake\.s3_ca to/m,
    ],
    [
      { s3_ca: 'tls/other.pem' },
      /^error: the TLS certificate of the store .*\nhint: .*lake\.s3_ca/m,
    ],
    [{ s3_ca: 'tls/none.pem' }, /^error: lake\.s3_ca cannot be read \(.*\/tls\/none\.pem\)/m],
    [
      { s3_endpoint: `https://127.0.0.1:${lake.store.port}` },
      /^error: the store does not speak TLS: .*\nhint: .*lake\.s3_endpoint/m,
    ],
  ] as const
  for (const [changed, says] of refusals) {
    await using space = await project(changed)
    assert.match((await space.ok(['run'], { exitCode: 3 })).stderr, says)
  }
  assert.equal(store.requests, [])
  await using space = await project({ s3_ca: 'tls/store.pem' })
  await space.ok(['run'])
  assert.match((await space.ok(['query', 'FROM mart.one'])).stdout, /\b1\b/)
  assert.ok(store.requests.length > 0)
})

lakeTest(
  'a proxy of the environment is on the way to the store, but not to those it leaves out',
  async () => {
    await using lake = await withLake()
    await using space = await lakeProject(lake, models)
    const asked: string[] = []
    const proxy = createServer((incoming, answer) => {
      const { method, url = '', headers } = incoming
      asked.push(url)
      const { port, pathname, search } = new URL(url)
      const path = `${pathname}${search}`
      const outgoing = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 500, response.headers)
        response.pipe(answer)
      })
      incoming.pipe(outgoing)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = proxy.address() as { port: number }
      const HTTP_PROXY = `http://127.0.0.1:${port}`
      await space.ok(['run'], { ownProcess: true, env: { HTTP_PROXY } })
      assert.ok(asked.some((url) => url.startsWith(`http://127.0.0.1:${lake.store.port}/`)))
      asked.length = 0
      const env = { HTTP_PROXY, NO_PROXY: '127.0.0.1' }
      const { stdout } = await space.ok(['query', 'FROM mart.one'], { ownProcess: true, env })
      assert.match(stdout, /\b1\b/)
      assert.equal(asked, [])
    } finally {
      proxy.close()
      proxy.closeAllConnections()
    }
  },
)

test.run()
