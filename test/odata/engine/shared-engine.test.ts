import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../../src/core/logger.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { Snapshots } from '../../../src/odata/engine/current-snapshot.ts'
import { createAdmission, createOpenStreams } from '../../../src/odata/engine/admission.ts'
import { type EngineAccess, Query } from '../../../src/odata/engine/query.ts'
import type { OpenSnapshot } from '../../../src/odata/engine/open-snapshot.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { publish } from '../../support/snapshot-files.ts'
import { until } from '../../support/until.ts'

async function open(
  resources: Resources,
  sharingThreads: number,
  memoryLimit: string | null = null,
): Promise<OpenSnapshot> {
  const tempDir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(tempDir, { recursive: true }))
  const dir = join(tempDir, 'snapshots')
  const rows = sql`SELECT i AS id FROM range(10) AS r(i)`
  await publish(dir, 'first', [{ model: 'shop.orders', key: ['id'], rows }])
  const logger = createLogger(() => {})
  const sharing = sharingThreads === 1 ? null : { threads: sharingThreads, memoryLimit }
  const options = { threads: 1, sharing, memoryLimit: null, tempDir, logger }
  const snapshots = await Snapshots.open({ ...options, published: fileReader(dir) })
  return resources.use(resources.use(snapshots).lease())
}

async function threads(snapshot: OpenSnapshot, isShared: boolean): Promise<number> {
  await using lent = await snapshot.connect(isShared)
  const row = await lent.connection.row(
    sql`SELECT current_setting('threads') AS threads, count(*) AS rows FROM shop_orders.main.rows`,
  )
  assert.is(Number(row!['rows']), 10)
  return Number(row!['threads'])
}

test('threads share a large query as soon as there is an engine for it, which is locked too', async () => {
  await using resources = new Resources()
  const snapshot = await open(resources, 3)
  assert.is(await threads(snapshot, true), 1)
  await until(async () => (await threads(snapshot, true)) === 3)
  assert.is(await threads(snapshot, false), 1)
  await using lent = await snapshot.connect(true)
  const refused = lent.connection.rows(sql`SELECT * FROM read_text(${sql.value('/etc/hostname')})`)
  const message = await refused.then(
    () => 'it was read',
    (error: Error) => error.message,
  )
  assert.match(message, 'disabled by configuration')
})

test('where there is one processor, there is no such engine', async () => {
  await using resources = new Resources()
  const snapshot = await open(resources, 1)
  for (let i = 0; i < 5; i++) assert.is(await threads(snapshot, true), 1)
})

test('a query for which the threads have not enough memory is answered by the other engine', async () => {
  await using resources = new Resources()
  const snapshot = await open(resources, 2, '30MB')
  await until(async () => (await threads(snapshot, true)) === 2)
  const asked: boolean[] = []
  const connect = (isShared = false) => {
    asked.push(isShared)
    return snapshot.connect(isShared)
  }
  const access: EngineAccess = {
    snapshot: { connect },
    admission: createAdmission({ running: 2, large: 1, waiting: 1 }),
    streams: createOpenStreams(1),
    onDamage: () => {},
    clock: { remainingMs: 60_000 },
    gone: new AbortController().signal,
  }
  // Such a list cannot spill.
  const texts = sql`SELECT CAST(len(list(repeat('x', 1000) || i)) AS VARCHAR) FROM range(100000) AS r(i)`
  const options = { mode: 'whole', maxRows: 1, effort: 'shared' } as const
  await using found = await Query.open(access, texts, options)
  assert.is(String(found.whole), '100000')
  assert.equal(asked, [true, false])
})

test.run()
