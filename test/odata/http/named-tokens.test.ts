import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import type { StoredText } from '../../../src/explorer/catalog.ts'
import { openExplorer } from '../../../src/explorer/open-explorer.ts'
import { type Answer, ask, serve, type Served } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import { targets } from '../../support/reader-targets.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'
import { until } from '../../support/until.ts'
import { repository } from '../../support/workspace.ts'

const orders = (where: string, amount = 1) => sql`
  SELECT i AS order_id, i % 5 AS customer_id, CASE WHEN i % 2 = 0 THEN 'NO' ELSE 'SE' END AS country_id,
    CASE WHEN i = 7 THEN 0 ELSE i * ${sql.value(amount)} END AS amount
  FROM range(1, 41) r(i) WHERE ${where === '' ? sql`true` : sql`i % 2 = 0`}`
const tablesOf = (only: string, amount = 1): readonly Table[] => [
  { model: 'shop.orders', key: ['order_id'], rows: orders(only, amount) },
  {
    model: 'shop.customers',
    key: ['customer_id'],
    rows: sql`SELECT i AS customer_id, 'c' || i AS name FROM range(0, 5) r(i)`,
  },
]
const secret: Table = { model: 'hr.salaries', key: ['id'], rows: sql`SELECT 1 AS id, 9 AS pay` }
const rows = { 'shop.orders': "country_id = 'NO'" }
const linkSecret = '2'.repeat(64)

interface Both {
  readonly all: Served
  readonly few: Served
}

/** A token that sees a part of one service, and a service that has only that part. */
async function both(resources: Resources): Promise<Both> {
  const tokens = [
    readerToken('no', { sets: ['shop_*', 'shop.customers'], rows }),
    readerToken('part', { sets: ['shop_*'], rows }),
    readerToken('se', { sets: ['shop.*'], rows: { shop_orders: "country_id = 'SE'" } }),
    readerToken('all', {}),
    readerToken('old', { expiresAt: new Date('2020-01-01T00:00:00Z') }),
  ]
  const all = await serve(resources, [...tablesOf(''), secret], {
    tokens,
    token: 'plain',
    linkSecret,
  })
  const few = await serve(resources, tablesOf("country_id = 'NO'"), { linkSecret })
  return { all, few }
}

const own = ({ url }: Served, { text }: Answer) => text.replaceAll(url, '')

test('with filters of rows, a pattern opens only sets that a filter is for', async () => {
  await using resources = new Resources()
  const { all } = await both(resources)
  const setsOf = async (token: string) => {
    const { json } = await all.get('', bearer(token))
    return json.value.map(({ name }: { name: string }) => name)
  }
  assert.equal(await setsOf('part'), ['shop_orders'])
  assert.equal(await setsOf('no'), ['shop_orders', 'shop_customers'])
  assert.is((await all.get('shop_customers', bearer('part'))).status, 404)
  assert.is((await all.get('shop_orders?$expand=customer', bearer('part'))).status, 400)
})

test('a token is answered as by a service that has only its sets and rows, whatever is asked', async () => {
  await using resources = new Resources()
  const { all, few } = await both(resources)
  let answered = 0
  for (const [n, target] of targets.entries()) {
    const seen = await all.get(target, bearer('no'))
    const right = await few.get(target)
    assert.is(seen.status, right.status, `${target}: ${seen.text}`)
    assert.is(own(all, seen), own(few, right), target)
    if (right.status === 200) answered++
    if (n % 6 !== 0) continue
    // Cached for one, made for the other.
    await all.get(target, bearer('plain'))
    assert.is(own(all, await all.get(target, bearer('no'))), own(few, right), `${target}, again`)
  }
  assert.ok(answered > 20, `${answered} were answered`)
  const parquet = await all.get('shop_orders?$format=parquet', bearer('no'))
  const whole = await all.get('shop_orders?$format=parquet', bearer('plain'))
  assert.ok(parquet.bytes.length < whole.bytes.length)
  assert.not(parquet.bytes.includes('SE'))

  const requests = ['shop_orders/$count', 'hr_salaries', 'shop_orders(7)'].map((url, i) => {
    return { id: String(i), method: 'GET', url }
  })
  const batch = await all.send({
    target: '$batch',
    method: 'POST',
    headers: { ...bearer('no'), 'Content-Type': 'application/json' },
    body: JSON.stringify({ requests }),
  })
  const statuses = (batch.json.responses as readonly { readonly status: number }[]).map(
    (one) => one.status,
  )
  assert.equal(statuses, [200, 404, 404])
  assert.is(String(batch.json.responses[0].body), '20')
})

test('the page for people, long queries and batches of other forms show no more', async () => {
  await using resources = new Resources()
  const find = async (): Promise<StoredText> => {
    throw new Error('the catalog of the run was read')
  }
  const pageDir = join(repository, 'dist', 'explorer')
  const pages = await openExplorer({ project: 'shop', shows: 'project', find, pageDir })
  const tokens = [readerToken('no', { sets: ['shop_*', 'shop.customers'], rows })]
  const { url, ...all } = await serve(resources, [...tablesOf(''), secret], { tokens, pages })
  const catalog = await ask(new URL('/catalog.json', url).href, { headers: bearer('no') })
  assert.is(catalog.status, 200)
  assert.not.match(catalog.text, /salar|hr[._]/)
  const shown = catalog.json.sets as readonly { readonly name: string; readonly rows: number }[]
  assert.equal(
    shown.map((set) => [set.name, set.rows]),
    [
      ['shop_orders', 20],
      ['shop_customers', 5],
    ],
  )

  const post = (target: string, type: string, body: string) =>
    all.send({
      target,
      method: 'POST',
      headers: { ...bearer('no'), 'Content-Type': type },
      body,
    })
  const long = await post(
    'shop_orders/$query',
    'text/plain',
    '$filter=order_id le 8&$select=order_id',
  )
  assert.equal(
    (long.json.value as readonly { readonly order_id: number }[]).map((row) => row.order_id),
    [2, 4, 6, 8],
  )
  assert.is((await post('hr_salaries/$query', 'text/plain', '$top=1')).status, 404)
  const parts = ['shop_orders(7)', 'hr_salaries', 'shop_orders/$count'].map(
    (target) => `--b\r\nContent-Type: application/http\r\n\r\nGET ${target} HTTP/1.1\r\n\r\n\r\n`,
  )
  const batch = await post('$batch', 'multipart/mixed; boundary=b', `${parts.join('')}--b--\r\n`)
  assert.equal(batch.text.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 404'])
})

test('rows that come into the filter, leave it, or stay out of it are told as such by a delta link', async () => {
  await using resources = new Resources()
  const later = sql`SELECT order_id, customer_id,
      CASE order_id WHEN 2 THEN 'SE' WHEN 7 THEN 'NO' ELSE country_id END AS country_id, amount
    FROM (${orders('')}) WHERE order_id <> 4`
  const changed = (rowsNow: Sql): readonly Table[] => [
    { model: 'shop.orders', key: ['order_id'], rows: rowsNow },
    ...tablesOf('').slice(1),
  ]
  const { all, few } = await both(resources)
  const link = async (served: Served, headers = {}) =>
    String(
      (await served.get('shop_orders', { ...headers, Prefer: 'odata.track-changes' })).json[
        '@odata.deltaLink'
      ],
    )
  const links = [await link(all, bearer('no')), await link(few)] as const
  await publish(all.dir, 'second', [...changed(later), secret])
  await publish(few.dir, 'second', changed(sql`SELECT * FROM (${later}) WHERE country_id = 'NO'`))
  const changesBy = async (url: string) => {
    for (let i = 0; ; i++) {
      const { json } = await ask(url, { headers: bearer('no') })
      if (json.value.length > 0 || i > 200) return json.value
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const [seen, right] = [await changesBy(links[0]), await changesBy(links[1])]
  assert.is(seen.length, 3)
  assert.is(
    JSON.stringify(seen).replaceAll(all.url, ''),
    JSON.stringify(right).replaceAll(few.url, ''),
  )
})

test('of several filters of a set all count, by name or by pattern', async () => {
  await using resources = new Resources()
  const tokens = [
    readerToken('both', {
      rows: { 'shop_*': 'customer_id < 3', 'shop.orders': "country_id = 'NO' -- of Norway" },
    }),
    readerToken('none', { rows: { shop_orders: 'CAST(NULL AS BOOLEAN)' } }),
  ]
  const served = await serve(resources, tablesOf(''), { tokens })
  const count = async (target: string, token: string) =>
    Number((await served.get(`${target}/$count`, bearer(token))).text)
  assert.equal([await count('shop_orders', 'both'), await count('shop_customers', 'both')], [12, 3])
  assert.equal([await count('shop_orders', 'none'), await count('shop_customers', 'none')], [0, 5])
})

test('what one token was given is nothing to another: ETags, next links, delta links', async () => {
  await using resources = new Resources()
  const { all } = await both(resources)
  const first = await all.get('shop_orders', bearer('se'))
  const again = await all.get('shop_orders', {
    ...bearer('no'),
    'If-None-Match': first.headers['etag']!,
  })
  assert.is(again.status, 200)
  const same = await all.get('shop_orders', {
    ...bearer('se'),
    'If-None-Match': first.headers['etag']!,
  })
  assert.is(same.status, 304)

  const paged = await all.get('shop_orders?$count=true', {
    ...bearer('se'),
    Prefer: 'odata.maxpagesize=3',
  })
  const next = String(paged.json['@odata.nextLink'])
  const follow = (token: string, url: string) => ask(url, { headers: bearer(token) })
  assert.is((await follow('se', next)).json.value.length, 3)
  assert.is((await follow('no', next)).status, 400)
  assert.is((await follow('plain', next)).status, 400)

  const tracked = await all.get('shop_orders', { ...bearer('no'), Prefer: 'odata.track-changes' })
  const delta = String(tracked.json['@odata.deltaLink'])
  await publish(all.dir, 'second', [...tablesOf('', 2), secret])
  let changed = await follow('no', delta)
  for (let i = 0; i < 100 && changed.json.value?.length === 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    changed = await follow('no', delta)
  }
  const countries = (changed.json.value as readonly { readonly country_id: string }[]).map(
    (row) => row.country_id,
  )
  assert.equal([...new Set(countries)], ['NO'])
  assert.is(countries.length, 20)
  assert.is((await follow('se', delta)).status, 400)
})

test('tokens are told apart, an expired one is told so, and the log has names only', async () => {
  await using resources = new Resources()
  const { all } = await both(resources)
  const expired = await all.get('shop_orders', bearer('old'))
  assert.is(expired.status, 401)
  assert.is(expired.json.error.code, 'token-expired')
  assert.match(expired.json.error.message, 'the token has expired (2020-01-01T00:00:00Z)')
  for (const wrong of [{}, bearer('nobody'), bearer('')]) {
    const { status, json } = await all.get('shop_orders', wrong)
    assert.is(status, 401)
    assert.is(json.error.code, 'unauthorized')
  }
  const basic = { Authorization: `Basic ${Buffer.from('x:all').toString('base64')}` }
  assert.is((await all.get('hr_salaries', basic)).status, 200)
  assert.is((await all.get('hr_salaries', bearer('plain'))).status, 200)
  const metrics = new URL('/metrics', all.url).href
  assert.is((await ask(metrics, { headers: bearer('no') })).status, 403)
  assert.is((await ask(metrics, { headers: bearer('all') })).status, 200)
  const lines = all.log.map((line) => JSON.stringify(line))
  assert.ok(lines.some((line) => line.includes('"token":"all"')))
  assert.not(lines.join().includes('plain'))
})

test('a filter that does not fit, or a set that is not there, keeps the service from starting', async () => {
  await using resources = new Resources()
  const refused = async (filters: Readonly<Record<string, string>>, says: string) => {
    const tokens = [readerToken('t', { rows: filters })]
    const found = await serve(resources, tablesOf(''), { tokens }).then(
      () => null,
      (error: unknown) =>
        error as { readonly diagnostics: readonly { readonly message: string }[] },
    )
    assert.match(found?.diagnostics[0]?.message ?? 'it started', says)
  }
  await refused({ shop_orders: "contry = 'NO'" }, 'fits shop_orders')
  await refused({ shop_orders: "amount = 'many'" }, 'fits shop_orders')
  await refused({ shop_ordrs: 'true' }, 'no such set is published')
  for (const text of [
    'amount > (SELECT 1)',
    '1 = 1) OR (1 = 1',
    'amount > random()',
    "id IN (FROM read_csv('/etc/passwd'))",
    'true; DROP',
  ])
    assert.throws(() => readerToken('t', { rows: { shop_orders: text } }), 'condition that fits')
})

test('a filter that no longer fits what is published hides the set', async () => {
  await using resources = new Resources()
  const { all } = await both(resources)
  const table = {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT 1 AS order_id, 'x' AS land`,
  }
  await publish(join(all.dir), 'third', [table])
  let status = 200
  for (let i = 0; i < 100 && status === 200; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    status = (await all.get('shop_orders', bearer('no'))).status
  }
  assert.is(status, 404)
  assert.is((await all.get('shop_orders', bearer('plain'))).status, 200)
  const told = all.log.filter(({ event }) => event === 'row-filter-unbound')
  assert.is(told.length, 1)
  assert.match(JSON.stringify(told), '"token":"no","set":"shop_orders"')
})

test('a set with a filter that goes by another name is not shown without it', async () => {
  await using resources = new Resources()
  const tokens = [readerToken('no', { rows })]
  const all = await serve(resources, tablesOf(''), { tokens })
  assert.is((await all.get('shop_orders/$count', bearer('no'))).text, '20')
  const [, customers] = tablesOf('')
  const renamed: Table = { model: 'shop.sales', key: ['order_id'], rows: orders('') }
  await publish(all.dir, 'fourth', [renamed, customers!])
  await until(async () => (await all.get('shop_customers', bearer('no'))).status === 404)
  assert.is((await all.get('shop_sales', bearer('no'))).status, 404)
  assert.match(JSON.stringify(all.log), 'no such set is published')
})

test('tokens that are there before anything is published filter it all the same', async () => {
  await using resources = new Resources()
  const tokens = [
    readerToken('no', { rows }),
    readerToken('typo', { rows: { shop_ordrs: 'true' } }),
  ]
  const all = await serve(resources, [], { tokens, token: 'plain' })
  await publish(all.dir, 'first', tablesOf(''))
  await until(async () => (await all.get('shop_orders', bearer('plain'))).status === 200)
  assert.is((await all.get('shop_orders/$count', bearer('no'))).text, '20')
  assert.is((await all.get('shop_orders/$count', bearer('typo'))).status, 404)
})

test.run()
