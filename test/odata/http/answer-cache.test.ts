// Answers from memory: the same as made anew, and never one that is another's.

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { AnswerCache } from '../../../src/odata/http/answer-cache.ts'
import { madeAnswers } from '../../../src/odata/http/answers.ts'
import { WHOLE } from '../../../src/access/reader.ts'
import type { ODataServiceOptions } from '../../../src/odata/service.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { readMetrics } from '../../support/read-metrics.ts'
import { type Answer, ask, type Served, serve } from '../../support/odata-service.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'

const numbers = (generation: number): Table => ({
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, ${sql.value(generation)} AS generation, CAST(i AS DECIMAL(9,2)) AS price,
    'name ' || i AS name FROM range(20000) AS r(i)`,
})

/** So many rows that the engine takes a while to look at the texts of all. */
const slow: Table = {
  model: 'shop.slow',
  isView: true,
  rows: sql`SELECT i AS id, CAST(hash(i) AS VARCHAR) AS name FROM range(3000000) AS r(i)`,
}
const SLOW = "shop_slow/$count?$filter=contains(name,'99')"

async function cacheOf({ url }: Served) {
  const metrics = await readMetrics(new URL('/metrics', url).href, 'eider_odata_')
  const of = (name: string) => metrics.get(name)!
  return {
    hits: of('cache_hits_total'),
    misses: of('cache_misses_total'),
    entries: of('cache_entries'),
    bytes: of('cache_bytes'),
  }
}

/** What must not differ between an answer that was made and one that was cached. */
function shown({ status, headers, text }: Answer) {
  const { date, connection, 'keep-alive': _, 'transfer-encoding': __, ...others } = headers
  assert.ok(date !== undefined && connection !== undefined)
  const { 'content-length': ___, ...rest } = others // a stream that was cached has a length
  return { status, headers: rest, text }
}

test('the second answer is the first one', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  const targets = [
    '',
    '$metadata',
    'shop_numbers',
    'shop_numbers(7)',
    'shop_numbers(7)/name/$value',
    'shop_numbers/$count',
    "shop_numbers?$filter=contains(name,'77')&$count=true",
  ]
  const first = []
  for (const target of targets) first.push(shown(await served.get(target)))
  assert.equal(await cacheOf(served).then(({ hits, misses }) => [hits, misses]), [0, 7])
  const second = []
  for (const target of targets) second.push(shown(await served.get(target)))
  assert.equal(second, first)
  assert.equal(await cacheOf(served).then(({ hits, misses }) => [hits, misses]), [7, 7])
})

test('requests that differ in what an answer depends on have answers of their own', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  const target = 'shop_numbers?$top=2&$count=true'
  const variants: readonly Readonly<Record<string, string>>[] = [
    {},
    { accept: 'application/json;odata.metadata=none' },
    { accept: 'application/json;IEEE754Compatible=true' },
    { 'odata-maxversion': '4.0' },
    { prefer: 'maxpagesize=1' },
    { prefer: 'maxpagesize=2' },
    { host: 'localhost:1' },
  ]
  const made = []
  for (const headers of variants) made.push(shown(await served.get(target, headers)))
  assert.is(new Set(made.map((answer) => JSON.stringify(answer))).size, variants.length)
  const cached = []
  for (const headers of variants) cached.push(shown(await served.get(target, headers)))
  assert.equal(cached, made)
})

test('a header that is empty is not one that is not there', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  for (const name of ['accept', 'odata-maxversion']) {
    const empty = await served.get('shop_numbers(1)', { [name]: '' })
    assert.ok(empty.status >= 400, name)
    assert.is((await served.get('shop_numbers(1)')).status, 200)
    assert.equal(shown(await served.get('shop_numbers(1)', { [name]: '' })), shown(empty))
  }
})

test('an answer is another one after a start with another page size or another secret', async () => {
  await using resources = new Resources()
  const shared = { linkSecretPath: join(tmpdir(), `eider-${randomUUID()}`) }
  resources.defer(() => rm(shared.linkSecretPath))
  const served = await serve(resources, [numbers(1)], shared)
  const etagOf = async (settings: Partial<ODataServiceOptions>) => {
    await using started = new Resources()
    const { url } = await serve(started, [], { published: fileReader(served.dir), ...settings })
    const { headers } = await ask(`${url}/shop_numbers`, { headers: { host: 'localhost' } })
    return headers['etag']
  }
  const etag = await etagOf(shared)
  assert.is(await etagOf(shared), etag)
  assert.is.not(await etagOf({ ...shared, pageSize: 100 }), etag)
  assert.is.not(await etagOf({ ...shared, conventions: { keyAsSegment: true } }), etag)
  assert.is.not(await etagOf({}), etag)
})

test('errors and what asks for the time are made each time', async () => {
  await using resources = new Resources()
  let time = 0
  const now = () => new Date(Date.UTC(2024, 0, 1) + 1_000 * time++)
  const served = await serve(resources, [numbers(1)], { now })
  for (const call of ['now()', 'now%28%29', '%6Eow()', 'N%6f%57()']) {
    const clock = `shop_numbers?$top=1&$compute=${call}%20as%20at&$select=at`
    const answers = [await served.get(clock), await served.get(clock)]
    assert.is(new Set(answers.map(({ json }) => json.value[0].at)).size, 2, call)
    assert.ok(answers.every(({ headers }) => headers['etag'] === undefined))
  }
  for (const target of ['shop_numbers(-1)', 'nope', 'shop_numbers?$filter=x']) {
    const answers = [await served.get(target), await served.get(target)]
    assert.ok(answers.every(({ status }) => status >= 400))
    assert.equal(shown(answers[1]!), shown(answers[0]!))
  }
  assert.equal(await cacheOf(served).then(({ hits, entries }) => [hits, entries]), [0, 0])
})

test('HEAD and 304 are answered from memory', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  const target = 'shop_numbers?$top=100'
  const first = await served.get(target)
  const etag = first.headers['etag']!
  const head = await served.send({ target, method: 'HEAD' })
  assert.equal(shown(head), { ...shown(first), text: '' })
  assert.is(head.headers['content-length'], String(first.bytes.length))
  for (const tag of [etag, `"other", ${etag}`, etag.replace('W/', '')]) {
    const unchanged = await served.get(target, { 'if-none-match': tag })
    assert.is(unchanged.status, 304)
    assert.is(unchanged.headers['etag'], etag)
    assert.is(unchanged.headers['content-type'], undefined)
    assert.is(unchanged.bytes.length, 0)
  }
  const changed = await served.get(target, { 'if-none-match': 'W/"other"' })
  assert.equal(shown(changed), shown(first))
  assert.equal(await cacheOf(served).then(({ hits, misses }) => [hits, misses]), [5, 1])
})

test('If-None-Match: * is 304 for what there is, before and after it is cached', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  const any = { 'if-none-match': '*' }
  for (const target of ['shop_numbers(3)', 'shop_numbers', '$metadata'])
    for (const headers of [any, {}, any]) {
      const answer = await served.get(target, headers)
      assert.is(answer.status, headers === any ? 304 : 200, target)
      if (headers === any) assert.is(answer.text, '')
    }
  assert.is((await served.get('shop_numbers(-1)', any)).status, 404)
})

test('a request for what has changed does not keep "unchanged" for the next one', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  const target = 'shop_numbers(3)'
  const { etag } = (await served.get(target)).headers
  await publish(served.dir, 'second', [numbers(1)])
  await untilServed(served, 'second')
  await publish(served.dir, 'first', [numbers(1)])
  await untilServed(served, 'first')
  const headers = { 'if-none-match': etag! }
  assert.is((await served.get(target, headers)).status, 304)
  assert.is((await served.get(target)).status, 200)
  assert.is((await served.get(target, headers)).status, 304)
})

test('a new snapshot empties the memory', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  const target = 'shop_numbers(3)'
  await served.get(target)
  assert.is((await served.get(target)).json.generation, 1)
  await publish(served.dir, 'second', [numbers(2)])
  await untilServed(served, 'second')
  assert.is((await served.get(target)).json.generation, 2)
  assert.is((await cacheOf(served)).entries, 1)
})

async function untilServed(served: Served, id: string): Promise<void> {
  const deadline = Date.now() + 10_000
  const root = new URL('/health', served.url)
  while (((await (await fetch(root)).json()) as { snapshot: string }).snapshot !== id) {
    if (Date.now() > deadline) throw new Error(`${id} was not taken up in 10 s`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('equal requests at the same time are one query', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [slow])
  const answers = await Promise.all(Array.from({ length: 20 }, () => served.get(SLOW)))
  assert.is(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
  assert.equal(await cacheOf(served).then(({ hits, misses }) => [hits, misses]), [19, 1])
})

test('who waits for the query of a client that leaves gets an answer all the same', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [slow])
  const leaving = get(`${served.url}/${SLOW}`, { agent: false })
  leaving.on('error', () => {})
  const isAtWork = async () => (await openRequests(served)) > 1
  while (!(await isAtWork())) await new Promise((resolve) => setTimeout(resolve, 1))
  const waiting = [served.get(SLOW), served.get(SLOW)]
  leaving.destroy()
  const answers = await Promise.all(waiting)
  for (const answer of answers) assert.is(answer.status, 200)
  assert.is(answers[0]!.text, answers[1]!.text)
})

const openRequests = async ({ url }: Served): Promise<number> =>
  (await readMetrics(new URL('/metrics', url).href, 'eider_odata_')).get('open_requests')!

test('memory is bounded, and what was used last stays', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)], { cacheBytes: 20_000 })
  for (let i = 0; i < 40; i++) {
    await served.get('shop_numbers(0)')
    await served.get(`shop_numbers(${i})`)
    assert.ok((await cacheOf(served)).bytes <= 20_000)
  }
  const { hits, entries } = await cacheOf(served)
  assert.is(hits, 40) // of number 0 each time but the first, and once by i = 0
  assert.ok(entries > 3 && entries < 40)
  await served.get('shop_numbers?$top=1000') // larger than the memory
  assert.ok((await cacheOf(served)).bytes <= 20_000)
})

test('an answer that is cached holds no result of the engine', async () => {
  const cache = new AnswerCache(madeAnswers, 1_000_000)
  const gone = new AbortController().signal
  const headers = { host: 'localhost' }
  const asked = { snapshotId: 'first', url: '/odata/it', headers, reader: WHOLE, gone }
  let rows = 7
  const made = { ETag: 'W/"x"', 'Eider-Snapshot': 'first' }
  const body = Buffer.from('{}')
  await cache.answer(asked, async () => ({ status: 200, headers: made, body, rows: () => rows }))
  rows = 0
  assert.is(cache.find(asked)!.rows(), 7) // known without what made it
})

test('without memory nothing is cached', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)], { cacheBytes: 0 })
  for (const target of ['shop_numbers(0)', 'shop_numbers'])
    for (let i = 0; i < 2; i++) assert.is((await served.get(target)).status, 200)
  assert.equal(await cacheOf(served), { hits: 0, misses: 4, entries: 0, bytes: 0 })
})

test('a token is asked for before the memory is', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)], { token: 'secret' })
  const headers = { authorization: 'Bearer secret' }
  assert.is((await served.get('shop_numbers(1)', headers)).status, 200)
  assert.is((await served.get('shop_numbers(1)', headers)).status, 200)
  for (const wrong of [{}, { authorization: 'Bearer other' }])
    assert.is((await served.get('shop_numbers(1)', wrong)).status, 401)
})

test.run()
