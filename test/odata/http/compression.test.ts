// Accept-Encoding, on the ways that an answer can take.

import { get } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Answer, type Served, serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { shop } from '../../support/related-tables.ts'

const numbers = (rows: number): Table => ({
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, 'a name of some length ' || i AS name FROM range(${sql.value(rows)}) AS r(i)`,
})

const late: Table = {
  model: 'shop.late',
  isView: true,
  rows: sql`SELECT i AS id, CASE WHEN i = 500000 THEN CAST(CAST('secret' || i AS INTEGER) AS VARCHAR)
    ELSE 'some text' END AS name FROM range(1000000) AS r(i)`,
}

const decoders = { gzip: gunzipSync, br: brotliDecompressSync } as const
const codings = ['gzip', 'br'] as const

const decoded = ({ headers, bytes }: Answer): string => {
  const coding = headers['content-encoding']
  if (coding === undefined) return bytes.toString()
  return decoders[coding as 'gzip' | 'br'](bytes).toString()
}

test('whole and streamed answers, and what is served from memory, say the same in each coding', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(60_000), ...shop])
  const targets = [
    'shop_numbers?$top=500',
    'shop_numbers?$top=60000',
    '$metadata',
    'shop_numbers?$filter=id%20lt%20300&$count=true',
  ]
  for (const target of targets) {
    const prefer = { prefer: 'maxpagesize=60000' }
    const plain = await served.get(target, prefer)
    assert.is(plain.headers['content-encoding'], undefined)
    for (const coding of codings)
      for (let time = 0; time < 2; time++) {
        const answer = await served.get(target, { ...prefer, 'accept-encoding': coding })
        assert.is(answer.status, 200)
        assert.is(answer.headers['content-encoding'], coding, target)
        assert.match(answer.headers['vary']!, /\bAccept-Encoding\b/)
        assert.is(answer.headers['etag'], plain.headers['etag'])
        assert.ok(answer.bytes.length * 2 < plain.bytes.length, target)
        assert.is(decoded(answer), plain.text)
        const length = answer.headers['content-length']
        if (length !== undefined) assert.is(Number(length), answer.bytes.length)
      }
  }
})

test('what gains nothing is sent as it is, unless that is refused', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const target = 'shop_customers(1)'
  const small = await served.get(target, { 'accept-encoding': 'gzip' })
  assert.is(small.headers['content-encoding'], undefined)
  assert.is(small.json.name, 'Alice')
  const refused = await served.get(target, { 'accept-encoding': 'gzip, identity;q=0' })
  assert.is(refused.headers['content-encoding'], 'gzip')
  assert.is(decoded(refused), small.text)
  const none = await served.get(target, { 'accept-encoding': 'identity;q=0' })
  assert.is(none.status, 406)
  assert.is(none.json.error.code, 'not-acceptable')
  const nothing = await served.get('shop_customers(2)/city', { 'accept-encoding': 'gzip' })
  assert.equal([nothing.status, nothing.headers['content-encoding']], [204, undefined])
  const error = await served.get('nope', { 'accept-encoding': 'gzip' })
  assert.equal([error.status, error.headers['content-encoding']], [404, undefined])
})

test('HEAD has the headers of GET', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(60_000)])
  for (const target of ['shop_numbers?$top=1', 'shop_numbers?$top=500', 'shop_numbers?$top=60000'])
    for (const accept of ['identity', 'gzip', 'br']) {
      const headers = { 'accept-encoding': accept, prefer: 'maxpagesize=60000' }
      // In both orders, since the second one may be answered from memory.
      const head = await served.send({ target, method: 'HEAD', headers })
      const all = await served.send({ target, headers })
      const again = await served.send({ target, method: 'HEAD', headers })
      assert.is(head.bytes.length + again.bytes.length, 0)
      for (const name of ['content-encoding', 'content-type', 'etag', 'vary'])
        for (const answer of [head, again]) assert.is(answer.headers[name], all.headers[name], name)
      for (const { headers: shown } of [head, again])
        if (shown['content-length'] !== undefined)
          assert.is(Number(shown['content-length']), all.bytes.length)
    }
})

test('a compressed answer that fails in the middle is cut off', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [late])
  for (const coding of codings) {
    const headers = { prefer: 'maxpagesize=1000000', 'accept-encoding': coding }
    const answer = await served.get('shop_late', headers)
    assert.is(answer.status, 200)
    assert.is(answer.aborted, true)
    assert.ok(answer.bytes.length > 1_000)
    assert.throws(() => decoded(answer))
  }
})

test('a client that leaves a compressed stream leaves nothing behind', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(300_000)])
  for (let i = 0; i < 3; i++) await leaveEarly(served)
  const answer = await served.get('shop_numbers/$count')
  assert.is(answer.text, '300000')
  const errors = served.log.filter(({ level }) => level === 'error')
  assert.equal(errors, [])
})

function leaveEarly(served: Served): Promise<void> {
  const headers = { prefer: 'maxpagesize=300000', 'accept-encoding': 'gzip' }
  return new Promise((resolve, reject) => {
    const request = get(`${served.url}/shop_numbers`, { headers }, (response) => {
      response.once('data', () => {
        request.destroy()
        resolve()
      })
      response.on('error', () => {})
    })
    request.once('error', reject)
  })
}

test('a batch is compressed as a whole, its parts are not', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1_000)])
  const inner = { 'accept-encoding': 'br' }
  const body = JSON.stringify({
    requests: [{ id: '1', method: 'GET', url: 'shop_numbers', headers: inner }],
  })
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  const answer = await served.send({ target: '$batch', method: 'POST', headers, body })
  assert.is(answer.headers['content-encoding'], 'gzip')
  assert.match(answer.headers['vary']!, /\bAccept-Encoding\b/)
  const [response] = JSON.parse(decoded(answer)).responses
  assert.is(response.headers['content-encoding'], undefined)
  assert.is(response.body.value.length, 1_000)
})

test.run()
