// The page over HTTP: its routes, its policy, and what stays as it was for clients of OData.

import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { openExplorer } from '../../src/explorer/open-explorer.ts'
import type { ODataServiceOptions } from '../../src/odata/service.ts'
import { type Answer, ask, type Asked, serve, type Served } from '../support/odata-service.ts'
import type { Table } from '../support/snapshot-files.ts'
import { repository } from '../support/workspace.ts'

const orders: Table = { model: 'shop.orders', key: ['id'], rows: sql`SELECT 7 AS id` }
const pageDir = join(repository, 'dist', 'explorer')

interface Explored {
  readonly served: Served
  /** `path` is absolute. */
  readonly at: (path: string, asked?: Asked) => Promise<Answer>
}

async function explore(
  resources: Resources,
  options: Partial<ODataServiceOptions> = {},
): Promise<Explored> {
  const pages = await openExplorer({
    project: 'shop',
    shows: 'project',
    find: async () => null,
    pageDir,
  })
  const served = await serve(resources, [orders], { pages, ...options })
  const root = served.url.replace(/\/odata$/, '')
  return { served, at: (path, asked = {}) => ask(root + path, asked) }
}

test('every route has the page, whose links lead to its files', async () => {
  await using resources = new Resources()
  const { at } = await explore(resources)
  const routes = [
    '/',
    '/lineage',
    '/lineage?model=shop.orders',
    '/runs',
    '/runs/42',
    '/connect?set=shop_orders',
    '/sets/shop_orders',
    '/sets/shop_orders/',
    '/sets/shop_orders?$filter=id%20eq%207',
    '/sets/shop_orders/columns',
    '/sets/shop_orders/chart?x=id',
    '/sets/shop_orders(7)',
    '/sets/shop_orders(%27a%2Fb%27)',
  ]
  for (const route of routes) {
    const page = await at(route)
    assert.is(page.status, 200, route)
    assert.match(page.headers['content-type']!, 'text/html', route)
    assert.is(page.headers['cache-control'], 'no-cache', route)
    const links = Array.from(page.text.matchAll(/(?:src|href)="([^"]+)"/g), ([, link]) => link!)
    assert.ok(links.length >= 4, route)
    for (const link of links) {
      const { pathname } = new URL(link, `http://host${route}`)
      assert.is((await at(pathname)).status, 200, `${route}: ${link}`)
    }
  }
})

test('an unknown set is 404 with the page, another path with an error', async () => {
  await using resources = new Resources()
  const { at } = await explore(resources)
  for (const path of [
    '/sets/nope',
    '/sets/shop_orders/nope',
    '/sets/shop_orders/columns/more',
    '/sets/%ff',
    '/sets/nope(1)',
  ]) {
    const page = await at(path)
    assert.is(page.status, 404, path)
    assert.match(page.text, '<!doctype html>', path)
    assert.is(page.headers['etag'], undefined)
  }
  for (const path of [
    '/nope',
    '/sets',
    '/sets/a/b/c/d/e',
    '/explorer/',
    '/explorer/index.html',
    '/explorer/../package.json',
    '/explorer/%2e%2e/%2e%2e/package.json',
    '/runs/1/2',
  ]) {
    const answer = await at(path)
    assert.is(answer.status, 404, path)
    assert.is(answer.json.error.code, 'unknown-resource', path)
  }
})

test('the page runs its own script only, and browsers keep its files', async () => {
  await using resources = new Resources()
  const { at } = await explore(resources)
  const page = await at('/')
  const [, script] = /src="\.\/([^"]+)"/.exec(page.text)!
  for (const answer of [page, await at(`/${script}`)]) {
    const policy = answer.headers['content-security-policy']!
    assert.match(policy, "default-src 'none'; script-src 'self'; style-src 'self'")
    assert.not.match(policy, 'unsafe')
    assert.is(answer.headers['x-content-type-options'], 'nosniff')
    assert.is(answer.headers['referrer-policy'], 'no-referrer')
    assert.is(answer.headers['cross-origin-opener-policy'], 'same-origin')
    assert.is(answer.headers['cross-origin-resource-policy'], 'same-origin')
    assert.is(answer.headers['set-cookie'], undefined)
  }
  assert.not.match(page.text, /<script(?![^>]*\bsrc=)/)
  assert.not.match(page.text, /https?:/)
  assert.match(page.text, 'This page needs JavaScript. The data is at')
  const file = await at(`/${script}`)
  assert.match(file.headers['cache-control']!, 'immutable')
  assert.match(file.headers['content-type']!, 'text/javascript')
  const again = await at('/', { headers: { 'if-none-match': page.headers['etag']! } })
  assert.is(again.status, 304)
  const coded = await at(`/${script}`, { headers: { 'accept-encoding': 'br' } })
  assert.is(coded.headers['content-encoding'], 'br')
  assert.ok(coded.bytes.length < file.bytes.length / 2)
})

test('a browser that goes to the root of the service is shown the page, a program is not', async () => {
  await using resources = new Resources()
  const { at } = await explore(resources)
  const navigate = { 'sec-fetch-mode': 'navigate' }
  const before = await at('/odata')
  assert.is(before.status, 200)
  const went = await at('/odata', { headers: navigate })
  assert.is(went.status, 303)
  assert.is(went.headers['location'], './')
  assert.is((await at('/odata/', { headers: navigate })).headers['location'], '../')
  for (const path of ['/odata?$format=json', '/odata?%24format=json', '/odata/$metadata'])
    assert.is((await at(path, { headers: navigate })).status, 200, path)
  assert.is((await at('/odata', { headers: { 'sec-fetch-mode': 'cors' } })).text, before.text)
  assert.is((await at('/odata', { method: 'POST', headers: navigate })).status, 405)
})

test('the page is behind the token, the host check and the methods of the service', async () => {
  await using resources = new Resources()
  const { at } = await explore(resources, { token: 'secret' })
  for (const path of ['/', '/sets/shop_orders', '/explorer/page.js', '/catalog.json']) {
    const refused = await at(path)
    assert.is(refused.status, 401, path)
    assert.match(String(refused.headers['www-authenticate']), 'Basic')
  }
  const headers = { authorization: `Basic ${Buffer.from('any:secret').toString('base64')}` }
  assert.is((await at('/', { headers })).status, 200)
  assert.is((await at('/', { headers: { ...headers, host: 'evil.example' } })).status, 403)
  assert.is((await at('/', { headers, method: 'POST' })).status, 405)
  const head = await at('/', { headers, method: 'HEAD' })
  assert.is(head.status, 200)
  assert.is(head.text, '')
})

test('without the page all is as if there were none', async () => {
  await using resources = new Resources()
  const { at } = await explore(resources, { pages: null })
  for (const path of ['/', '/sets/shop_orders', '/runs', '/catalog.json'])
    assert.is((await at(path)).json.error.code, 'unknown-resource', path)
  assert.is((await at('/odata', { headers: { 'sec-fetch-mode': 'navigate' } })).status, 200)
})

test.run()
