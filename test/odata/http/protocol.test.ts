// Headers, methods, errors, and who may ask.

import { connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../../src/core/failures.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Answer, ask, serve } from '../../support/odata-service.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'

const customers: Table = {
  model: 'shop.customers',
  key: ['id'],
  rows: sql`SELECT i AS id, 'name ' || i AS name FROM range(3) AS r(i)`,
}

function versionsOf({ rawHeaders }: Answer): readonly string[] {
  return rawHeaders.filter(
    (_, i) => /^odata-version$/i.test(rawHeaders[i - 1] ?? '') && i % 2 === 1,
  )
}

function assertError(answer: Answer, status: number, code?: string): void {
  assert.is(answer.status, status, answer.text)
  const { error } = answer.json
  assert.equal(Object.keys(answer.json), ['error'])
  assert.type(error.message, 'string')
  assert.ok(error.message !== '')
  if (code !== undefined) assert.is(error.code, code)
  assert.match(answer.headers['content-type']!, /^application\/json/)
  assert.is(answer.headers['content-language'], 'en')
  assert.is(versionsOf(answer).length, 1)
}

test('OData-Version is there once on every response, and never above what the client knows', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const targets = ['', '$metadata', 'shop_customers', 'shop_customers(1)', 'shop_customers/$count']
  const failures = ['shop_nope', 'shop_customers(77)', 'shop_customers?$nope=1', '$nope']
  for (const target of [...targets, ...failures]) {
    const newest = await served.get(target)
    assert.equal(versionsOf(newest), ['4.01'], target)
    const older = await served.get(target, { 'OData-MaxVersion': '4.0' })
    assert.equal(versionsOf(older), ['4.0'], target)
  }
  const outside = await ask(served.url.replace('/odata', '/elsewhere'), {})
  assertError(outside, 404, 'unknown-resource')
  assertError(await served.get('', { 'OData-MaxVersion': '3.0' }), 400, 'invalid-header')
  assert.match(await sendRaw(served.url, 'GET /odata/a?$filter=b eq 1 HTTP/1.1\r\n\r\n'), RAW_400)
})

const RAW_400 = /^HTTP\/1\.1 400 [\s\S]*\r\nOData-Version: 4\.01\r\n[\s\S]*\{"error":\{"code"/

/** All that comes back for bytes that no client library would send. */
async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(text)
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('write methods are 405 with Allow, whatever a header says', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  for (const target of ['', '$metadata', 'shop_customers', 'shop_customers(1)', 'nope'])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const headers = { 'X-HTTP-Method': 'GET', 'X-HTTP-Method-Override': 'GET' }
      const answer = await served.send({ target, method, headers, body: '{"id":9}' })
      assertError(answer, 405, 'method-not-allowed')
      assert.is(answer.headers['allow'], 'GET, HEAD, OPTIONS')
    }
  for (const method of ['GET', 'PATCH', 'PUT']) {
    const answer = await served.send({ target: '$batch', method })
    assert.is(answer.status, 405)
    assert.is(answer.headers['allow'], 'POST, HEAD, OPTIONS')
  }
  const options = await served.send({ method: 'OPTIONS', target: 'shop_customers' })
  assert.is(options.status, 204)
  assert.is(options.headers['allow'], 'GET, HEAD, OPTIONS')
  assert.is((await served.get('shop_customers/$count')).text, '3')
})

test('HEAD is GET without its body', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  for (const target of [
    '',
    '$metadata',
    'shop_customers',
    'shop_customers(1)',
    'shop_customers(77)',
  ]) {
    const get = await served.get(target)
    const head = await served.send({ method: 'HEAD', target })
    assert.is(head.text, '')
    assert.is(head.status, get.status)
    for (const name of ['content-type', 'content-length', 'etag', 'eider-snapshot'])
      assert.is(head.headers[name], get.headers[name], `${target} ${name}`)
  }
})

test('content types follow Accept and $format', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const typeOf = async (target: string, accept?: string) =>
    (await served.get(target, accept === undefined ? {} : { accept })).headers['content-type']
  assert.is(await typeOf('shop_customers'), 'application/json;odata.metadata=minimal')
  assert.is(await typeOf('$metadata', 'application/atom+xml'), 'application/xml')
  assert.is(await typeOf('$metadata', 'application/json'), 'application/json')
  assert.is(await typeOf('$metadata?$format=json'), 'application/json')
  assertError(await served.get('shop_customers', { accept: 'application/xml' }), 406)
  assertError(await served.get('shop_customers?$format=atom'), 406)
  assertError(await served.get('', { accept: 'image/png' }), 406)
})

test('an ETag saves the body until the next snapshot', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const first = await served.get('shop_customers?$top=2')
  const etag = first.headers['etag']!
  const again = await served.get('shop_customers?$top=2', { 'if-none-match': `"x", ${etag}` })
  assert.is(again.status, 304)
  assert.is(again.text, '')
  assert.is(again.headers['etag'], etag)
  assert.equal(versionsOf(again), ['4.01'])
  const others = [
    served.get('shop_customers?$top=1', { 'if-none-match': etag }),
    served.get('shop_customers?$top=2', { 'if-none-match': etag, 'OData-MaxVersion': '4.0' }),
    served.get('shop_customers?$top=2', {
      'if-none-match': etag,
      accept: 'application/json;odata.metadata=none',
    }),
    served.get('shop_customers?$top=2', { 'if-none-match': etag, prefer: 'maxpagesize=1' }),
  ]
  for (const other of await Promise.all(others)) assert.is(other.status, 200)
  await publish(served.dir, 'second', [customers])
  let after = again
  while (after.headers['eider-snapshot'] === 'first')
    after = await served.get('shop_customers?$top=2', { 'if-none-match': etag })
  assert.is(after.status, 200)
})

test('a token is asked for, as Bearer or as the password of Basic', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers], { token: 'sécret' })
  const basic = Buffer.from('anybody:sécret').toString('base64')
  assertError(await served.get(''), 401, 'unauthorized')
  assertError(await served.get('nope'), 401)
  assertError(await served.get('', { authorization: 'Bearer wrong' }), 401)
  const { rawHeaders } = await served.get('')
  const challenges = rawHeaders.filter((_, i) => /^www-auth/i.test(rawHeaders[i - 1] ?? ''))
  // Chromium, Olingo and java.net.http take no Basic that shares a line with another challenge.
  assert.equal(challenges, ['Bearer realm="eider"', 'Basic realm="eider", charset="UTF-8"'])
  assert.is((await served.get('', { authorization: `Basic ${basic}` })).status, 200)
  const health = await ask(served.url.replace('/odata', '/health'), {})
  assert.is(health.status, 200)
})

test('other machines are not let in without a token', async () => {
  await using resources = new Resources()
  const refused = await serve(resources, [], { host: '0.0.0.0' }).catch((error: unknown) => error)
  assert.instance(refused, EnvironmentError)
  assert.is((refused as EnvironmentError).code, 'open-without-token')
})

test('a service on loopback answers to loopback names only, and builds its URLs from them', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const { port } = new URL(served.url)
  for (const host of ['evil.example', `evil.example:${port}`, '10.0.0.1', '127.0.0.1.nip.io'])
    assertError(await served.get('', { host }), 403, 'host-not-allowed')
  for (const host of ['a b', 'a/b', '"', 'localhost:x'])
    assertError(await served.get('', { host }), 400, 'invalid-header')
  for (const host of [`localhost:${port}`, `LOCALHOST`, '[::1]:8090', '127.0.0.1'])
    assert.is(
      (await served.get('', { host })).json['@odata.context'],
      `http://${host}/odata/$metadata`,
    )
})

test('health tells what is served', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [])
  const health = () => ask(served.url.replace('/odata', '/health'), {})
  assert.equal((await health()).json, {
    status: 'ok',
    snapshot: null,
    published_at: null,
    run_id: null,
    fresh_at: null,
  })
  assert.equal((await served.get('')).json.value, [])
  assertError(await served.get('shop_customers'), 404, 'unknown-entity-set')
  await publish(served.dir, 'first', [customers])
  while ((await health()).json.snapshot === null);
  const { snapshot, published_at, run_id } = (await health()).json
  assert.is(snapshot, 'first')
  assert.is(run_id, 'run-of-first')
  assert.ok(Date.now() - Date.parse(published_at) < 60_000)
  assert.is((await served.get('shop_customers/$count')).text, '3')
})

test('one log line per request, without its query', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  await served.get("shop_customers?$filter=name%20eq%20'private'")
  await served.get('shop_customers')
  await served.get('nope')
  const lines = served.log.filter(({ event }) => event === 'request').map(({ fields }) => fields)
  assert.equal(
    lines.map(({ method, path, status, code, rows }) => [method, path, status, code, rows]),
    [
      ['GET', '/odata/shop_customers', 200, undefined, 0],
      ['GET', '/odata/shop_customers', 200, undefined, 3],
      ['GET', '/odata/nope', 404, 'unknown-entity-set', 0],
    ],
  )
})

test.run()
