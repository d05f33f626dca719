// Files of Parquet answers: how many there are, how large they may be, and who keeps them.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { createAdmission } from '../../../src/odata/engine/admission.ts'
import { AnswerFiles, type AnswerFilesOptions } from '../../../src/odata/engine/answer-files.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { publish } from '../../support/snapshot-files.ts'
import { smallDisk, testOnDisk } from '../../support/small-disk.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'

const ROWS = sql`SELECT i AS id, hash(i) AS h FROM range(200000) AS r(i)`
const SMALL = sql`SELECT id FROM shop_t.main.rows`
/** Longer than any test waits. */
const ENDLESS = sql`SELECT count(*) AS n FROM range(1000000) AS a(i), range(1000000) AS b(j) WHERE i + j < 0`

async function open(resources: Resources, more: Partial<AnswerFilesOptions> = {}) {
  const { path: dir } = resources.use(await temporaryDirectory())
  await publish(join(dir, 'snapshots'), 'one', [{ model: 'shop.t', rows: sql`SELECT 1 AS id` }])
  const published = fileReader(join(dir, 'snapshots'))
  const snapshot = await (await published.current())!.read()
  const tempDir = join(dir, 'temp')
  const files = resources.use(
    new AnswerFiles({
      published,
      threads: 1,
      memoryLimit: null,
      tempDir,
      admission: createAdmission({ running: 4, large: 2, waiting: 10 }),
      timeLimitMs: 30_000,
      currentId: () => 'one',
      ...more,
    }),
  )
  const gone = new AbortController()
  const lease = (key: string, rows: Sql = SMALL, signal = gone.signal) =>
    files.lease(
      { snapshot, key, isTimed: false, written: { rows, options: sql`FORMAT parquet`, heads: 0 } },
      { gone: signal, onDamage() {} },
    )
  const names = async () => {
    const all = await readdir(tempDir).catch(() => [])
    return all.filter((name) => name.startsWith('answer-'))
  }
  return { lease, names, files }
}

const failed = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

async function statusOf(work: Promise<unknown>): Promise<number> {
  const error = await failed(work)
  assert.instance(error, RequestError, String(error))
  return (error as RequestError).status
}

test('a file that nobody reads makes room for others, one that is read does not', async () => {
  await using resources = new Resources()
  const { lease, names } = await open(resources, { maxFiles: 2 })
  for (const key of ['a', 'b', 'c']) await (await lease(key))[Symbol.asyncDispose]()
  await until(async () => (await names()).length === 2)
  const held = [await lease('d'), await lease('e')]
  assert.is(await statusOf(lease('f')), 503)
  for (const file of held) {
    assert.is(file.rows, 1)
    await file[Symbol.asyncDispose]()
  }
  await (await lease('f'))[Symbol.asyncDispose]()
})

test('a file above its size is 413, and more than all may have is 503', async () => {
  await using resources = new Resources()
  const small = await open(resources, { maxFileBytes: 10_000 })
  assert.is(await statusOf(small.lease('a', ROWS)), 413)
  assert.equal(await small.names(), [])
  const full = await open(resources, { maxBytes: 10_000 })
  assert.is(await statusOf(full.lease('a', ROWS)), 503)
  assert.equal(await full.names(), [])
  await (await full.lease('b'))[Symbol.asyncDispose]()
})

testOnDisk('a disk with no inodes left is 503, as a full one is', async () => {
  await using resources = new Resources()
  const disk = resources.use(await smallDisk(2 ** 20, 20))
  await disk.useUpInodes()
  const { lease } = await open(resources, { tempDir: disk.dir })
  assert.is(await statusOf(lease('a')), 503)
})

test('a file that takes too long is 504, and its query ends', async () => {
  await using resources = new Resources()
  const { lease, names } = await open(resources, { timeLimitMs: 500 })
  assert.is(await statusOf(lease('a', ENDLESS)), 504)
  assert.equal(await names(), [])
  await (await lease('b'))[Symbol.asyncDispose]()
})

test('a file is no longer made when nobody waits for it any more', async () => {
  await using resources = new Resources()
  const { lease, names } = await open(resources)
  const [first, second] = [new AbortController(), new AbortController()]
  const waiting = [lease('a', ENDLESS, first.signal), lease('a', ENDLESS, second.signal)].map(
    failed,
  )
  await until(async () => (await names()).length === 1)
  first.abort()
  assert.match(String(await waiting[0]), 'ClientGone')
  assert.is((await names()).length, 1, 'another waits for it')
  second.abort()
  assert.match(String(await waiting[1]), 'ClientGone')
  await until(async () => (await names()).length === 0)
})

test('a file is read to its end although its snapshot is gone', async () => {
  await using resources = new Resources()
  let current = 'one'
  const { lease, names } = await open(resources, { currentId: () => current })
  const file = await lease('a', ROWS)
  current = 'two'
  await (await lease('b'))[Symbol.asyncDispose]()
  let bytes = 0
  for await (const part of file.read(0, file.bytes)) bytes += part.length
  assert.is(bytes, file.bytes)
  await file[Symbol.asyncDispose]()
  await (await lease('c'))[Symbol.asyncDispose]()
  await until(async () => (await names()).length === 1)
})

test.run()
