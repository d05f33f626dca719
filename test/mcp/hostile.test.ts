// Alone in its process: it measures memory.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { createCatalogReader } from '../../src/explorer/catalog.ts'
import { openDoor } from '../../src/mcp/over-http.ts'
import { hostileQueries } from '../support/hostile-queries.ts'
import { ask, serve } from '../support/odata-service.ts'
import { bearer, readerToken } from '../support/reader-token.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { targets } from '../support/reader-targets.ts'

const CALLS = 3000
/** In no row that the token may see, and in no answer. */
const SECRET = 'secret-7f3a'

test('thousands of hostile calls show no row beyond the filter and no file, and leave the service at work', async () => {
  await using resources = new Resources()
  const failures: unknown[] = []
  const door = openDoor({
    version: '1',
    origins: [],
    catalogOf: createCatalogReader({ project: 'p', shows: 'project', find: async () => null }),
    onFailure: (error) => failures.push(error),
  })
  const rows = { shop_orders: "country_id = 'NO'", shop_customers: 'customer_id < 3' }
  const tokens = [readerToken('no', { sets: ['shop_*'], rows })]
  const served = await serve(
    resources,
    [
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
    ],
    { tokens, door },
  )
  const url = new URL('/mcp', served.url).href
  const next = callsOf(seededRandom(7))
  let [answered, refused, peak] = [0, 0, 0]
  for (let i = 0; i < CALLS; i++) {
    const body = next()
    const headers = { 'Content-Type': 'application/json', ...bearer('no') }
    const answer = await ask(url, { method: 'POST', headers, body })
    const shown = body.slice(0, 300)
    assert.ok([200, 202, 413].includes(answer.status), `${answer.status}: ${shown}`)
    assert.not(answer.text.includes(SECRET), shown)
    assert.not.match(answer.text, /root:x:|duckdb|binder error|node_modules|\/tmp\//i, shown)
    assert.ok(answer.bytes.length < 200_000, `${answer.bytes.length} bytes: ${shown}`)
    if (/"isError":true|"error":/.test(answer.text)) refused++
    else answered++
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  assert.equal(failures, [])
  assert.ok(answered > 300 && refused > 300, `${answered} answered, ${refused} refused`)
  assert.ok(peak < 1.5 * 2 ** 30, `${peak} bytes`)
  const call = { name: 'query', arguments: { request: 'shop_orders/$count' } }
  const last = await ask(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...bearer('no') },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  })
  assert.match(last.text, /2000/)
})

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
