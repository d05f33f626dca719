import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Answer, type Served, serve } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'

const send = (served: Served, body: string, headers: Readonly<Record<string, string>> = {}) =>
  served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'content-type': 'multipart/mixed; boundary=b-1', ...headers },
    body,
  })

/** The lines of a body with CRLF, as a client writes it. */
const lines = (...all: readonly string[]) => all.join('\r\n')

const part = (request: string, ...headers: readonly string[]) =>
  lines('--b-1', 'Content-Type: application/http', ...headers, '', request, '', '')

/** Status, headers and body of each part. */
function partsOf({ headers, text }: Answer) {
  const boundary = /boundary=(.+)$/.exec(headers['content-type'] ?? '')![1]!
  const [before, ...parts] = `\r\n${text}`.split(`\r\n--${boundary}`)
  assert.is(before, '')
  assert.is(parts.pop(), '--\r\n')
  return parts.map((all) => {
    const [own = '', http = '', ...body] = all.split('\r\n\r\n')
    return {
      own: own.trim().split('\r\n'),
      status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(http)![1]),
      http,
      body: body.join('\r\n\r\n'),
    }
  })
}

test('a batch as UI5 sends it: epilogue, headers of its own, Content-ID', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const body =
    part(
      lines(
        "GET shop_orders?$count=true&$filter=status%20eq%20'paid'&$top=1 HTTP/1.1",
        'Accept:application/json;odata.metadata=minimal;IEEE754Compatible=true',
        'Content-Type:application/json;charset=UTF-8;IEEE754Compatible=true',
        '',
        '',
      ),
      'Content-ID: 7',
    ) +
    part('GET shop_customers(1)/name/$value HTTP/1.1') +
    lines('--b-1--', 'Group ID: $auto', '--b-1', '')
  const answer = await send(served, body, { 'OData-MaxVersion': '4.0', accept: 'multipart/mixed' })
  assert.equal([answer.status, answer.headers['odata-version']], [200, '4.0'])
  const [orders, name, ...more] = partsOf(answer)
  assert.is(more.length, 0)
  assert.equal(orders!.own, [
    'Content-Type: application/http',
    'Content-Transfer-Encoding: binary',
    'Content-ID: 7',
  ])
  assert.match(orders!.http, /^OData-Version: 4\.0$/m)
  const { '@odata.count': count, value } = JSON.parse(orders!.body)
  assert.equal([count, value.length, value[0].amount], ['3', 1, '20.0000'])
  assert.is(name!.body, 'Alice')
  assert.match(name!.http, /^Content-Length: 5$/m)
  assert.equal(name!.own.length, 2)
})

test('absolute, host-relative and relative URLs; LF alone; a quoted boundary', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const urls = [
    `${served.url}/shop_customers(1)`,
    '/odata/shop_customers(1)',
    '/shop_customers(1)',
    'shop_customers(1)',
  ]
  const body = `${urls.map((url) => part(`GET ${url} HTTP/1.1`)).join('')}--b-1--`
  const answers = [
    await send(served, body),
    await send(served, body.replaceAll('\r\n', '\n')),
    await send(served, body, { 'content-type': 'Multipart/Mixed;boundary="b-1"' }),
    await send(served, `a preamble\r\n${body.replaceAll(' HTTP/1.1', '')}`),
  ]
  for (const answer of answers)
    assert.equal(
      partsOf(answer).map(({ status, body: text }) => [status, JSON.parse(text).name]),
      urls.map(() => [200, 'Alice']),
    )
})

test('a bad part is its own failure; change sets are refused', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const changeSet = lines(
    '--b-1',
    'Content-Type: multipart/mixed; boundary=c',
    '',
    '--c',
    'Content-Type: application/http',
    '',
    'POST shop_customers HTTP/1.1',
    '',
    '{}',
    '--c--',
    '',
  )
  const body =
    part('GET nope HTTP/1.1') +
    part('DELETE shop_customers(1) HTTP/1.1') +
    changeSet +
    part('hello') +
    lines('--b-1', 'Content-Type: text/plain', '', 'x', '') +
    part('GET shop_customers(2)/city HTTP/1.1') +
    part('GET shop_customers?$filter=matchesPattern(name,%27(%27) HTTP/1.1') +
    part('GET shop_customers/$count HTTP/1.1') +
    '--b-1--'
  const answer = await send(served, body, { prefer: 'odata.continue-on-error' })
  assert.is(answer.headers['preference-applied'], 'odata.continue-on-error=true')
  const parts = partsOf(answer)
  assert.equal(
    parts.map(({ status }) => status),
    [404, 405, 405, 400, 400, 204, 400, 200],
  )
  assert.is(JSON.parse(parts[0]!.body).error.code, 'unknown-entity-set')
  assert.is(parts[5]!.body, '')
})

test('the first failure ends a multipart batch, unless the client wants it to go on', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const [good, bad] = [part('GET shop_customers(1) HTTP/1.1'), part('GET nope HTTP/1.1')]
  const statuses = async (headers: Readonly<Record<string, string>> = {}) => {
    const answer = await send(served, `${good}${bad}${good}--b-1--`, headers)
    return partsOf(answer).map(({ status }) => status)
  }
  assert.equal(await statuses(), [200, 404])
  assert.equal(await statuses({ prefer: 'continue-on-error=false' }), [200, 404])
  assert.equal(await statuses({ prefer: 'continue-on-error' }), [200, 404, 200])
})

test('what is no multipart batch is 400; HEAD and OPTIONS are answered', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop, { maxBatchRequests: 2 })
  const one = part('GET shop_customers(1) HTTP/1.1')
  assert.is((await send(served, one)).status, 400)
  assert.is((await send(served, '')).status, 400)
  assert.is(
    (await send(served, `${one}--b-1--`, { 'content-type': 'multipart/mixed' })).status,
    400,
  )
  assert.is((await send(served, `${one}${one}${one}--b-1--`)).status, 413)
  assert.equal(partsOf(await send(served, `${one}${one}--b-1--`)).length, 2)
  const startedAt = performance.now()
  await send(served, `${part(`GET ${' '.repeat(2_000_000)}x`)}--b-1--`)
  assert.ok(performance.now() - startedAt < 5_000, 'a long line takes no long time')
  const head = await served.send({ target: '$batch', method: 'HEAD' })
  assert.equal([head.status, head.headers['odata-version'], head.text], [200, '4.01', ''])
  assert.is((await served.send({ target: '$batch', method: 'OPTIONS' })).status, 204)
  assert.is((await served.get('$batch')).status, 405)
})

test.run()
