// Files of a snapshot that are cut short, changed or gone: reported, and the last good snapshot is served.

import { mkdir, mkdtemp, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../../src/core/logger.ts'
import { Resources } from '../../../src/core/resources.ts'
import { MANIFEST_FILE, parseManifest } from '../../../src/core/snapshot.ts'
import { sql } from '../../../src/core/sql.ts'
import { DatabaseError } from '../../../src/duckdb/errors.ts'
import { ODataService } from '../../../src/odata/service.ts'
import { Snapshots } from '../../../src/odata/engine/current-snapshot.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { ask, type Served, serve } from '../../support/odata-service.ts'
import { publish, type Table, writeManifest, writeTable } from '../../support/snapshot-files.ts'
import { flipBit } from '../../support/flip-bit.ts'
import { until } from '../../support/until.ts'

const rows = (generation: number): Table => ({
  model: 'shop.rows',
  key: ['id'],
  rows: sql`SELECT i AS id, ${sql.value(generation)} AS generation, 'text ' || hash(i) AS text, hash(i, 1) AS number FROM range(60000) AS r(i)`,
})

const halve = async (path: string) => truncate(path, (await stat(path)).size / 2)

/** A third of the way into the file there are rows; at its head there is what is read first. */
const flipRows = async (path: string) => flipBit(path, Math.floor((await stat(path)).size / 3))

/** Publishes a second state whose file `damage` has met before anybody reads it. */
async function publishDamaged(dir: string, id: string, damage: (path: string) => Promise<void>) {
  await mkdir(dir, { recursive: true })
  const relation = await writeTable(dir, rows(2))
  await damage(join(dir, relation.file))
  // Later than all that is published in the same millisecond.
  const publishedAt = new Date(Date.now() + 1000)
  await writeManifest(dir, { id, publishedAt, runId: 'run', relations: [relation] })
}

const generationOf = async (served: Served): Promise<number> =>
  (await served.get('shop_rows(7)')).json.generation

const statusOf = async (served: Served): Promise<string> =>
  (await ask(served.url.replace(/\/odata$/, '/health'), {})).json.status

const refusals = (log: readonly LogLine[]) =>
  log.filter(({ event }) => event === 'snapshot-refused')

test('a file that is cut short, overwritten at its head or gone is not taken up', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [rows(1)])
  const damages: readonly ((path: string) => Promise<void>)[] = [
    (path) => truncate(path, 10),
    halve,
    (path) => flipBit(path, 100),
    (path) => rm(path),
  ]
  for (const [i, damage] of damages.entries()) {
    const before = refusals(served.log).length
    await publishDamaged(served.dir, `damaged-${i}`, damage)
    await until(async () => refusals(served.log).length > before)
    assert.is(await generationOf(served), 1, String(i))
    assert.is(await statusOf(served), 'stale', String(i))
  }
  await publish(served.dir, 'good', [rows(3)])
  await until(async () => (await statusOf(served)) === 'ok')
  assert.is(await generationOf(served), 3)
})

test('damage that a query meets is reported once, and the snapshot before is served', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [rows(1)])
  await publishDamaged(served.dir, 'damaged', flipRows)
  await until(async () => !((await served.get('')).headers['eider-snapshot'] !== 'damaged'))
  assert.is(await statusOf(served), 'ok')
  const broken = await served.get('shop_rows?$filter=generation%20eq%202&$orderby=text')
  assert.ok(broken.status === 500 || broken.aborted, String(broken.status))
  assert.not.ok(/checksum|Corrupt/.test(broken.text))
  await until(async () => (await statusOf(served)) === 'stale')
  // It is stale as soon as the damage is known, and the snapshot before is opened after that.
  await until(async () => (await generationOf(served)) === 1)
  const all = await served.get('shop_rows/$count?$filter=generation%20eq%201')
  assert.is(all.text, '60000')
  await sleep(1_200) // more than one look at the manifest
  assert.is(await generationOf(served), 1)
  assert.is(await statusOf(served), 'stale')
  assert.is(refusals(served.log).length, 1)
  assert.is(refusals(served.log)[0]!.fields['serving'], 'first')
  await publish(served.dir, 'good', [rows(3)])
  await until(async () => (await statusOf(served)) === 'ok')
  assert.is(await generationOf(served), 3)
})

test('a damaged file that is written anew is served, whether or not the manifest changes', async () => {
  await using resources = new Resources()
  for (const isFirst of [true, false]) {
    const served = await serve(resources, [rows(1)])
    const id = isFirst ? 'first' : 'second'
    if (!isFirst) await publish(served.dir, id, [rows(2)])
    await until(async () => (await served.get('')).headers['eider-snapshot'] === id)
    const { relations } = parseManifest(await readFile(join(served.dir, MANIFEST_FILE), 'utf8'))
    const path = join(served.dir, relations[0]!.file)
    const whole = await readFile(path)
    await flipRows(path)
    const broken = await served.get('shop_rows?$filter=generation%20gt%200&$orderby=text')
    assert.ok(broken.status === 500 || broken.aborted, String(broken.status))
    await until(async () => (await statusOf(served)) === 'stale')
    await until(async () => (await served.get('')).headers['eider-snapshot'] === 'first')
    await writeFile(`${path}.tmp`, whole)
    await rename(`${path}.tmp`, path)
    await until(async () => (await statusOf(served)) === 'ok')
    const healed = await served.get('shop_rows?$filter=generation%20gt%200&$orderby=text&$top=1')
    assert.is(healed.status, 200)
    assert.is(healed.headers['eider-snapshot'], id)
  }
})

test('files that are whole are read once, however often a query says that they are damaged', async () => {
  await using resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  await publish(dir, 'first', [rows(1)])
  const log: LogLine[] = []
  const logger = createLogger((line) => log.push(line))
  const engine = {
    published: fileReader(dir),
    threads: 1,
    memoryLimit: null,
    tempDir: join(dir, 'temp'),
  }
  const snapshots = resources.use(await Snapshots.open({ ...engine, logger }))
  const details = { type: 'IO', subtype: null, name: null, candidates: [], position: null }
  const error = new DatabaseError({ ...details, message: 'Corrupt database file' }, null)
  for (let i = 0; i < 3; i++) await snapshots.reportDamage(snapshots.published!, error)
  assert.is(snapshots.opened, 2, 'the engine is opened anew, once')
  assert.is(snapshots.isRefused, false)
  await publish(dir, 'second', [rows(2)])
  await snapshots.check()
  await flipRows(join(dir, snapshots.published!.relations[0]!.file))
  await snapshots.reportDamage(snapshots.published!, error)
  assert.is(snapshots.isRefused, true, 'a newer snapshot is looked at')
})

test('a service that starts on a damaged snapshot serves the one before', async () => {
  await using resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  await publish(join(dir, 'snapshots'), 'first', [rows(1)])
  await publishDamaged(join(dir, 'snapshots'), 'damaged', halve)
  const log: LogLine[] = []
  const service = resources.use(
    await ODataService.open({
      published: fileReader(join(dir, 'snapshots')),
      host: '127.0.0.1',
      port: 0,
      token: null,
      allowAnonymous: false,
      pageSize: 10,
      requestTimeoutMs: 30_000,
      maxBatchRequests: 100,
      tempDir: join(dir, 'temp'),
      logger: createLogger((line) => log.push(line)),
    }),
  )
  const answer = await ask(`${service.url}/shop_rows(7)`, {})
  assert.is(answer.headers['eider-snapshot'], 'first')
  assert.is(answer.json.generation, 1)
  const health = await ask(service.url.replace(/\/odata$/, '/health'), {})
  assert.is(health.json.status, 'stale')
  assert.is(refusals(log).length, 1)
})

test.run()
