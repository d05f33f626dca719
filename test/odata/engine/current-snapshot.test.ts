import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { createLogger, type LogLine } from '../../../src/core/logger.ts'
import { Resources } from '../../../src/core/resources.ts'
import { MANIFEST_FILE, parseManifest } from '../../../src/core/snapshot.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { DatabaseError } from '../../../src/duckdb/errors.ts'
import { readMemoryLimit } from '../../../src/duckdb/vectors/memory.ts'
import type { OpenSnapshot } from '../../../src/odata/engine/open-snapshot.ts'
import { memoryOfEach } from '../../../src/odata/service.ts'
import { Snapshots } from '../../../src/odata/engine/current-snapshot.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { publish, type Table, writeManifest } from '../../support/snapshot-files.ts'
import { until } from '../../support/until.ts'

async function open(resources: Resources) {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  const log: LogLine[] = []
  const logger = createLogger((line) => log.push(line))
  const snapshotsDir = join(dir, 'snapshots')
  const options = {
    published: fileReader(snapshotsDir),
    threads: 1,
    memoryLimit: null,
    tempDir: dir,
    logger,
  }
  return { dir: snapshotsDir, log, open: async () => resources.use(await Snapshots.open(options)) }
}

const orders = (rows: number): Table => ({
  model: 'shop.orders',
  key: ['id'],
  rows: sql`SELECT i AS id FROM range(${sql.value(rows)}) AS r(i)`,
})

async function countIn(snapshot: OpenSnapshot): Promise<number> {
  await using lent = await snapshot.connect()
  const row = await lent.connection.row(sql`SELECT count(*) AS n FROM shop_orders.main.rows`)
  return Number(row!['n'])
}

test('before the first publish there is nothing; then it appears by itself', async () => {
  await using resources = new Resources()
  const { dir, log, open: openSnapshots } = await open(resources)
  const snapshots = await openSnapshots()
  assert.is(snapshots.published, null)
  assert.ok(log.some(({ event }) => event === 'no-snapshot'))
  {
    await using nothing = snapshots.lease()
    assert.is(nothing.model.sets.size, 0)
  }
  await publish(dir, 'first', [orders(3)])
  await until(() => snapshots.published?.id === 'first')
  await using current = snapshots.lease()
  assert.is(await countIn(current), 3)
  assert.equal([...current.model.sets.keys()], ['shop_orders'])
})

test('a lease keeps its snapshot when newer ones come and its files go', async () => {
  await using resources = new Resources()
  const { dir, open: openSnapshots } = await open(resources)
  await publish(dir, 'first', [orders(1)])
  const snapshots = await openSnapshots()
  await using held = snapshots.lease()
  const [file] = parseManifest(await readFile(join(dir, MANIFEST_FILE), 'utf8')).relations
  for (let i = 0; i < limits.openEarlierSnapshots + 1; i++) {
    await publish(dir, `next-${i}`, [orders(i + 2)])
    await snapshots.check()
  }
  await rm(join(dir, file!.file))
  assert.is(await countIn(held), 1)
  assert.is(await snapshots.leaseById('first'), null)
  await using retained = (await snapshots.leaseById('next-0'))!
  assert.is(await countIn(retained), 2)
  await using current = snapshots.lease()
  assert.is(await countIn(current), limits.openEarlierSnapshots + 2)
})

test('a file of the snapshot before is not looked into again; one that is another now is', async () => {
  await using resources = new Resources()
  const { dir, open: openSnapshots } = await open(resources)
  await publish(dir, 'first', [orders(1)])
  const snapshots = await openSnapshots()
  await using first = snapshots.lease()
  const { relations } = parseManifest(await readFile(join(dir, MANIFEST_FILE), 'utf8'))
  await publish(dir, 'second', [
    orders(2),
    { model: 'shop.tiny', rows: sql`SELECT CAST(-1 AS TINYINT) AS t` },
  ])
  await snapshots.check()
  const both = parseManifest(await readFile(join(dir, MANIFEST_FILE), 'utf8'))
  await writeManifest(dir, { ...both, id: 'third', relations: [relations[0]!, both.relations[1]!] })
  await snapshots.check()
  await using third = snapshots.lease()
  const [tiny] = third.model.sets.get('shop_tiny')!.type.properties
  assert.is(tiny!.type.name, 'Edm.SByte')
  assert.is(third.snapshot.id, 'third')
  assert.is(third.facts.size, 2)
  assert.not([...third.facts.values()].some((facts) => [...first.facts.values()].includes(facts)))
  await writeManifest(dir, { ...both, id: 'fourth' })
  await snapshots.check()
  await using fourth = snapshots.lease()
  const kept = [...fourth.facts.values()].filter((facts) =>
    [...third.facts.values()].includes(facts),
  )
  assert.equal(
    kept.map(({ signedTinyints }) => [...signedTinyints]),
    [['t']],
  )
  // The same file, of which the manifest says something else.
  const wrong = { ...both.relations[0]!, rows: 7 }
  await writeManifest(dir, { ...both, id: 'fifth', relations: [wrong, both.relations[1]!] })
  await snapshots.check()
  assert.is(snapshots.isRefused, true)
  assert.is(snapshots.currentId, 'fourth')
})

test('engines of earlier snapshots are closed a moment later', async () => {
  await using resources = new Resources()
  const { dir, open: openSnapshots } = await open(resources)
  await publish(dir, 'first', [orders(1)])
  const snapshots = await openSnapshots()
  const first = snapshots.lease()
  await using lent = await first.connect()
  await first[Symbol.asyncDispose]()
  for (const id of ['second', 'third']) {
    await publish(dir, id, [orders(2)])
    await snapshots.check()
  }
  assert.is(lent.connection.isClosed, false)
  await until(() => lent.connection.isClosed)
})

test('snapshots that are open share the memory of the service', async () => {
  for (const [all, each] of [
    ['4GB', '1.8 GiB'],
    ['3 MiB', '1.5 MiB'],
    ['0.5GiB', '256.0 MiB'],
  ] as const) {
    await using database = await Database.open({
      path: ':memory:',
      memoryLimit: memoryOfEach(all).memoryLimit,
    })
    await using connection = await database.connect()
    assert.is(await readMemoryLimit(connection), each)
  }
  assert.is(memoryOfEach(null).memoryLimit, null)
  assert.equal(memoryOfEach('8GB', 2, 4), {
    memoryLimit: '2GB',
    sharing: { threads: 4, memoryLimit: '0.2GB' },
  })
})

test('a damaged manifest, a missing file or a wrong one is reported once, and the last good snapshot kept', async () => {
  await using resources = new Resources()
  const { dir, log, open: openSnapshots } = await open(resources)
  await publish(dir, 'first', [orders(1)])
  const snapshots = await openSnapshots()
  const good = parseManifest(await readFile(join(dir, MANIFEST_FILE), 'utf8'))
  const [relation] = good.relations
  const wrongs: readonly (() => Promise<void>)[] = [
    () => writeFile(join(dir, MANIFEST_FILE), '{"format":1,'),
    () => writeFile(join(dir, MANIFEST_FILE), '{"format":2}'),
    () => rm(join(dir, MANIFEST_FILE)),
    () => writeManifest(dir, { ...good, relations: [{ ...relation!, file: 'absent.duckdb' }] }),
    () => writeManifest(dir, { ...good, relations: [{ ...relation!, rows: 2 }] }),
    () =>
      writeManifest(dir, {
        ...good,
        relations: [{ ...relation!, columns: [{ ...relation!.columns[0]!, name: 'other' }] }],
      }),
  ]
  const reports = () => log.filter(({ event }) => event === 'snapshot-refused').length
  for (const [i, wrong] of wrongs.entries()) {
    const before = reports()
    await wrong()
    for (let look = 0; look < 3; look++) await snapshots.check()
    assert.is(snapshots.published?.id, 'first', String(i))
    assert.ok(reports() > before, String(i))
    assert.ok(reports() <= before + 2, String(i)) // a file event may find the file half changed
  }
  await using current = snapshots.lease()
  assert.is(await countIn(current), 1)
  await publish(dir, 'second', [orders(5)])
  await snapshots.check()
  assert.is(snapshots.published?.id, 'second')
})

test('a start without the manifest goes back to the youngest state that is kept, and says so', async () => {
  await using resources = new Resources()
  const { dir, log, open: openSnapshots } = await open(resources)
  await publish(dir, 'first', [orders(1)])
  await publish(dir, 'second', [orders(2)])
  await rm(join(dir, MANIFEST_FILE))
  const snapshots = await openSnapshots()
  assert.is(snapshots.published?.id, 'second')
  await snapshots.check()
  assert.is(snapshots.isRefused, true)
  assert.is(log.filter(({ event }) => event === 'snapshot-refused').length, 1)
  await publish(dir, 'third', [orders(3)])
  await snapshots.check()
  assert.is(snapshots.published?.id, 'third')
  assert.is(snapshots.isRefused, false)
})

test('damage that is not in the files has the same snapshot opened anew', async () => {
  await using resources = new Resources()
  const { dir, log, open: openSnapshots } = await open(resources)
  await publish(dir, 'first', [orders(1)])
  await publish(dir, 'second', [orders(2)])
  const snapshots = await openSnapshots()
  const { opened } = snapshots
  const damage = new Error('Corrupt database file')
  await Promise.all([
    snapshots.reportDamage(snapshots.published!, damage),
    snapshots.reportDamage(snapshots.published!, damage),
  ])
  assert.is(snapshots.opened, opened + 1)
  assert.is(snapshots.published?.id, 'second')
  assert.is(snapshots.isRefused, false)
  assert.not(log.some(({ event }) => event === 'snapshot-refused'))
  await using current = snapshots.lease()
  assert.is(await countIn(current), 2)
})

test('a connection to a snapshot reaches nothing but its tables', async () => {
  await using resources = new Resources()
  const { dir, open: openSnapshots } = await open(resources)
  await publish(dir, 'first', [orders(1)])
  const snapshots = await openSnapshots()
  await using current = snapshots.lease()
  await using lent = await current.connect()
  const manifest = sql.value(join(dir, MANIFEST_FILE))
  const attempts = [
    sql`SELECT * FROM read_text(${manifest})`,
    sql`SELECT * FROM glob(${sql.value(join(dir, '*'))})`,
    sql`SELECT * FROM ${sql.ident('/etc/passwd')}`,
    sql`ATTACH ${manifest} AS other`,
    sql`SET enable_external_access = true`,
    sql`DELETE FROM shop_orders.main.rows`,
  ]
  for (const attempt of attempts) {
    const error = await lent.connection.rows(attempt).catch((thrown: unknown) => thrown)
    assert.instance(error, DatabaseError, attempt.inline())
  }
  assert.is(await countIn(current), 1)
})

test('a TINYINT is signed when a value is negative', async () => {
  await using resources = new Resources()
  const { dir, open: openSnapshots } = await open(resources)
  const rows = sql`SELECT CAST(i AS TINYINT) AS positive, CAST(-i AS TINYINT) AS negative, CAST(NULL AS TINYINT) AS empty
    FROM range(3) AS r(i)`
  await publish(dir, 'first', [{ model: 'shop.tiny', rows }])
  const snapshots = await openSnapshots()
  await using current = snapshots.lease()
  const { properties } = current.model.sets.get('shop_tiny')!.type
  assert.equal(
    properties.map(({ type }) => type.name),
    ['Edm.Byte', 'Edm.SByte', 'Edm.Byte'],
  )
})

test('the log names keys that too many sets have for each to be led to', async () => {
  await using resources = new Resources()
  const { dir, log, open: start } = await open(resources)
  const rows = sql`SELECT 1 AS order_id`
  const tables = (count: number): Table[] =>
    Array.from({ length: count }, (_, i) => ({ model: `m${i}.set`, key: ['order_id'], rows }))
  await publish(dir, 'few', tables(2))
  const snapshots = await start()
  assert.not.ok(log.some(({ event }) => event === 'navigation-left-out'))
  await publish(dir, 'many', tables(limits.setsOfOneKey + 1))
  await snapshots.check()
  const { fields } = log.find(({ event }) => event === 'navigation-left-out')!
  assert.equal(fields['keys'], [`order_id of ${limits.setsOfOneKey + 1} sets`])
})

test.run()
