// Alone in its process: it measures memory.
//
// EIDER_MCP_CALLS=10000 sends so many calls by each way, and EIDER_MCP_SEED=2 begins elsewhere.

import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../src/core/logger.ts'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { createCatalogReader } from '../../src/explorer/catalog.ts'
import { openDoor } from '../../src/mcp/over-http.ts'
import { serveStreams } from '../../src/mcp/over-stdio.ts'
import { openWithin } from '../../src/odata/service.ts'
import { fileReader } from '../../src/store/files/reader.ts'
import { hostileQueries } from '../support/hostile-queries.ts'
import { ask, serve, usualOptions } from '../support/odata-service.ts'
import { bearer, readerToken } from '../support/reader-token.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { Table } from '../support/snapshot-files.ts'
import { targets } from '../support/reader-targets.ts'

const CALLS = Number(process.env['EIDER_MCP_CALLS'] ?? 2000)
const SEED = Number(process.env['EIDER_MCP_SEED'] ?? 7)
const MOST_BYTES = 1.5 * 2 ** 30
/** In no row that the token may see, and in no answer. */
const SECRET = 'secret-7f3a'

const shop: readonly Table[] = [
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT i AS order_id, i % 5 AS customer_id, i AS id, i AS amount, 'n' || i AS name,
      CASE WHEN i % 2 = 0 THEN 'NO' ELSE ${sql.value(SECRET)} END AS country_id FROM range(1, 4001) r(i)`,
  },
  {
    model: 'shop.customers',
    key: ['customer_id'],
    rows: sql`SELECT i AS customer_id, CASE WHEN i < 3 THEN 'c' ELSE ${sql.value(SECRET)} END AS name FROM range(0, 5) r(i)`,
  },
  { model: 'hr.salaries', key: ['id'], rows: sql`SELECT 1 AS id, ${sql.value(SECRET)} AS pay` },
]

/** What an assistant is told of, and what must not go wrong. */
function assistantOptions(failures: unknown[]) {
  return {
    version: '1',
    catalogOf: createCatalogReader({ project: 'p', shows: 'project', find: async () => null }),
    onFailure: (error: unknown) => void failures.push(error),
  }
}

/** Throws for an answer that is not well formed, or that has what is in files or in messages of the engine. */
function requireGood(text: string, shown: string): void {
  assert.not.match(text, /root:x:|duckdb|binder error|node_modules|\/tmp\//i, shown)
  assert.ok(Buffer.byteLength(text) < 200_000, `${text.length} characters: ${shown}`)
  const { jsonrpc, result, error } = JSON.parse(text)
  assert.is(jsonrpc, '2.0', shown)
  assert.is(typeof result === 'object', error === undefined, shown)
  if (error !== undefined)
    assert.equal([typeof error.code, typeof error.message], ['number', 'string'])
}

const isRefusal = (text: string) => /"isError":true|"error":/.test(text)

test('hostile calls over HTTP show no row beyond the filter and no file, and leave the service at work', async () => {
  await using resources = new Resources()
  const failures: unknown[] = []
  const door = openDoor({ ...assistantOptions(failures), origins: [] })
  const rows = { shop_orders: "country_id = 'NO'", shop_customers: 'customer_id < 3' }
  const tokens = [readerToken('no', { sets: ['shop_*'], rows })]
  const served = await serve(resources, shop, { tokens, door })
  const url = new URL('/mcp', served.url).href
  const headers = { 'Content-Type': 'application/json', ...bearer('no') }
  const next = callsOf(seededRandom(SEED))
  let [answered, refused, peak] = [0, 0, 0]
  for (let i = 0; i < CALLS; i++) {
    const body = next()
    const answer = await ask(url, { method: 'POST', headers, body })
    const shown = `seed ${SEED}, call ${i}: ${body.slice(0, 300)}`
    assert.ok([200, 202, 413].includes(answer.status), `${answer.status}, ${shown}`)
    assert.not(answer.text.includes(SECRET), shown)
    if (answer.status === 200) requireGood(answer.text, shown)
    if (isRefusal(answer.text)) refused++
    else answered++
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  assert.equal(failures, [])
  assert.ok(answered > CALLS / 20 && refused > CALLS / 20, `${answered} answered, ${refused} not`)
  assert.ok(peak < MOST_BYTES, `${peak} bytes`)
  const call = { name: 'query', arguments: { request: 'shop_orders/$count' } }
  const body = message('tools/call', call)
  assert.match((await ask(url, { method: 'POST', headers, body })).text, /2000/)
  say({ answered, refused, peak })
})

test('hostile calls over a pipe are each answered with one line, and read no file', async () => {
  await using resources = new Resources()
  const failures: unknown[] = []
  const { dir } = await serve(resources, shop)
  const gone = new AbortController()
  const service = resources.use(
    await openWithin(
      {
        ...usualOptions,
        published: fileReader(dir),
        tempDir: join(dir, '..', 'temp-of-pipe'),
        logger: createLogger(() => {}, 'error'),
      },
      { root: 'http://127.0.0.1:8090/odata/', gone: gone.signal },
    ),
  )
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = serveStreams(assistantOptions(failures), service, {
    input,
    output,
    stop: gone.signal,
  }).finally(() => output.end())
  const next = callsOf(seededRandom(SEED + 1))
  const sent = (async () => {
    let expected = 0
    for (let i = 0; i < CALLS; i++) {
      const body = next()
      if (body.trim() !== '') expected++
      if (!input.write(`${body}\n`)) await once(input, 'drain')
    }
    input.end()
    return expected
  })()
  let [answered, refused, peak] = [0, 0, 0]
  for await (const line of createInterface({ input: output })) {
    requireGood(line, `seed ${SEED + 1}, answer ${answered + refused}: ${line.slice(0, 300)}`)
    if (isRefusal(line)) refused++
    else answered++
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  await ended
  assert.equal(failures, [])
  assert.is(answered + refused, await sent)
  assert.ok(answered > CALLS / 20 && refused > CALLS / 20, `${answered} answered, ${refused} not`)
  assert.ok(peak < MOST_BYTES, `${peak} bytes`)
  say({ answered, refused, peak })
})

/** Where many were asked for. */
function say(figures: object): void {
  if (process.env['EIDER_MCP_CALLS'] !== undefined)
    process.stdout.write(`${JSON.stringify(figures)}\n`)
}

/** Makes the bodies of requests, of which some are right. */
function callsOf(random: () => number): () => string {
  const whole = (below: number) => Math.floor(random() * below)
  const pick = <T>(all: readonly T[]): T => all[whole(all.length)]!
  const names = ['list_sets', 'describe_set', 'query', 'query', 'query', 'sql', '__proto__']
  const words = [
    'shop_orders',
    'shop_customers',
    'hr_salaries',
    'hr.salaries',
    '../../../etc/passwd',
    '/etc/passwd',
    'file:///etc/passwd',
    "read_text('/etc/passwd')",
    'shop_orders/../hr_salaries',
    'shop_orders%2f..%2fhr_salaries',
    '$all',
    '$crossjoin(shop_orders,hr_salaries)',
    '$entity?$id=hr_salaries(1)',
    '\0',
    '\ud800',
    '😀',
    '%',
    '#',
    '?',
    'x'.repeat(5000),
    'shop_orders(1)',
    'shop_orders(2)/customer',
    `country_id eq '${SECRET.slice(0, 3)}'`,
    "startswith(country_id,'secret')",
    '1 div (order_id sub 1) gt 0',
    'orders/any(o:o/amount gt 0)',
    'aggregate(amount with max as m)',
    'groupby((country_id),aggregate($count as n))',
    'concat(identity,identity)',
    'orders($expand=customer($expand=orders($expand=customer($expand=orders))))',
    'customer($expand=orders($expand=customer))',
    '*',
  ]
  const values: readonly (() => unknown)[] = [
    () => pick(words),
    () => pick(words),
    () => pick(words),
    () => whole(1e9),
    () => 2 ** 53,
    () => -1,
    () => 1.5,
    () => null,
    () => true,
    () => [pick(words)],
    () => ({ toString: 'x' }),
  ]
  const keys = [
    'set',
    'request',
    'select',
    'filter',
    'orderby',
    'top',
    'skip',
    'apply',
    'expand',
    'search',
    'count',
    'x',
  ]
  const request = () =>
    random() < 0.5
      ? pick(targets)
      : `${pick(['shop_orders', 'shop_customers', 'hr_salaries'])}?${pick(hostileQueries)[2]}`
  const someArguments = (): unknown => {
    const kind = random()
    if (kind < 0.4) return { request: request() }
    if (kind < 0.45) return pick(values)()
    const given = Array.from({ length: whole(4) }, () => [pick(keys), pick(values)()] as const)
    const set = random() < 0.7 ? { set: pick(words.slice(0, 4)) } : {}
    return { ...Object.fromEntries(given), ...set }
  }
  return () => {
    const kind = random()
    if (kind < 0.02)
      return pick(['', '{', '[]', '[[[[', 'null', '{"jsonrpc":"2.0"}', '['.repeat(200_000)])
    const uri = `eider://${pick(['sets/', 'catalog/', ''])}${pick(words)}`
    if (kind < 0.07)
      return message('resources/read', { uri: random() < 0.5 ? uri : pick(values)() })
    if (kind < 0.1) return message('prompts/get', { name: pick(words), arguments: pick(values)() })
    return message('tools/call', { name: pick(names), arguments: someArguments() })
  }
}

const message = (method: string, params: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

test.run()
