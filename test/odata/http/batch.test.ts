import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import { readMetrics } from '../../support/read-metrics.ts'
import type { Table } from '../../support/snapshot-files.ts'

const customers: Table = {
  model: 'shop.customers',
  key: ['id'],
  rows: sql`SELECT i AS id, 'name ' || i AS name, 9007199254740993 AS big FROM range(30) AS r(i)`,
}

const JSON_TYPE = { 'content-type': 'application/json' }

async function readMetric({ url }: Served, name: string): Promise<number> {
  const metrics = await readMetrics(url.replace(/\/odata$/, '/metrics'), 'eider_odata_')
  return metrics.get(name)!
}

const send = (
  served: Served,
  body: string,
  headers: Readonly<Record<string, string>> = JSON_TYPE,
) => served.send({ target: '$batch', method: 'POST', headers, body })

const sendRequests = (
  served: Served,
  requests: unknown,
  headers: Readonly<Record<string, string>> = JSON_TYPE,
) => send(served, JSON.stringify({ requests }), headers)

const get = (id: string, url: string, more = {}) => ({ id, method: 'GET', url, ...more })

interface Response {
  readonly id: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // eslint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

test('what one batch has asked is known to the next, and to no request that is alone', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const hits = () => readMetric(served, 'cache_hits_total')
  const requests = [get('a', 'shop_customers(1)'), get('b', 'shop_customers?$top=3')]
  const first = await sendRequests(served, requests)
  assert.is(await hits(), 0)
  const second = await sendRequests(served, requests)
  assert.is(await hits(), 2)
  assert.is(second.text, first.text)
  const { headers } = first.json.responses[0]
  const same = { headers: { 'if-none-match': headers.etag } }
  const third = await sendRequests(served, [get('a', 'shop_customers(1)', same)])
  assert.equal([await hits(), third.json.responses[0].status], [3, 304])
  await served.send({ target: 'shop_customers(1)' })
  assert.is(await hits(), 3)
})

test('every request has one response, in order; one that fails hurts no other', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const answer = await sendRequests(served, [
    get('a', 'shop_customers(1)'),
    get('b', 'shop_customers(99)'),
    get('c', 'shop_nope'),
    get('d', 'shop_customers?$filter=nope%20eq%201'),
    get('e', "shop_customers?$filter=name%20eq%20'name%202'&$select=id"),
    get('f', 'shop_customers/$count'),
    { id: 'g', method: 'DELETE', url: 'shop_customers(1)' },
    { id: 'h', method: 'get', url: 'shop_customers?$top=1' },
    get('i', '$batch'),
    get('j', '$metadata'),
    get('k', ''),
  ])
  assert.is(answer.status, 200)
  assert.is(answer.headers['content-type'], 'application/json')
  assert.is(answer.headers['eider-snapshot'], 'first')
  assert.ok(answer.text.includes('"big":9007199254740993'))
  const responses: readonly Response[] = answer.json.responses
  assert.equal(
    responses.map(({ id, status }) => `${id} ${status}`),
    [
      'a 200',
      'b 404',
      'c 404',
      'd 400',
      'e 200',
      'f 200',
      'g 405',
      'h 200',
      'i 405',
      'j 200',
      'k 200',
    ],
  )
  const [a, b, , , e, f, g, , , j, k] = responses
  assert.is(a!.body.name, 'name 1')
  assert.is(a!.body['@odata.context'], `${served.url}/$metadata#shop_customers/$entity`)
  assert.is(a!.headers['content-type'], 'application/json;odata.metadata=minimal')
  assert.is(b!.body.error.code, 'entity-not-found')
  assert.equal(e!.body.value, [{ id: 2 }])
  assert.is(f!.body, '30')
  assert.match(f!.headers['content-type']!, /^text\/plain/)
  assert.is(g!.headers['allow'], 'GET')
  assert.is(j!.headers['content-type'], 'application/xml')
  const xml = await served.get('$metadata')
  assert.is(Buffer.from(j!.body, 'base64url').toString(), xml.text)
  assert.is(k!.body.value[0].name, 'shop_customers')
  for (const { headers } of responses)
    assert.equal(
      Object.keys(headers).filter((name) => name !== name.toLowerCase()),
      [],
    )
})

test('a URL is relative to the root, an absolute path, or absolute', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const urls = [
    'shop_customers(1)',
    '/shop_customers(1)',
    '/odata/shop_customers(1)',
    `${served.url}/shop_customers(1)`,
  ]
  const answer = await sendRequests(
    served,
    [...urls, served.url.replace('odata', 'elsewhere/x')].map((url, i) => get(String(i), url)),
  )
  const statuses = answer.json.responses.map(({ status }: Response) => status)
  assert.equal(statuses, [200, 200, 200, 200, 404])
})

test('a URL or a Host header of another host is refused, in a batch and as $id', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const foreign = [
    'https://other.example/odata/shop_customers(1)',
    '//other.example/odata/shop_customers(1)',
    'file:///odata/shop_customers(1)',
    'http://127.0.0.1:1/odata/shop_customers(1)',
    served.url.replace('http://', 'http://x@') + '/shop_customers(1)',
  ]
  const answer = await sendRequests(served, [
    ...foreign.map((url, i) => get(String(i), url)),
    get('h', 'shop_customers(1)', { headers: { host: 'other.example' } }),
    get('own', served.url.replace('http', 'HTTPS') + '/shop_customers(1)'),
  ])
  assert.equal(
    answer.json.responses.map(({ status, body }: Response) => body.error?.code ?? status),
    [...foreign.map(() => 'invalid-url'), 'invalid-url', 200],
  )
  for (const url of foreign) {
    const { status, json } = await served.get(`$entity?$id=${encodeURIComponent(url)}`)
    assert.equal([status, json.error.code, json.error.target], [400, 'invalid-url', '$id'], url)
  }
  const own = encodeURIComponent(`${served.url}/shop_customers(1)`)
  assert.is((await served.get(`$entity?$id=${own}`)).json.id, 1)
})

test('$1 stands for the path of the request with that id', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const answer = await sendRequests(served, [
    get('1', '/odata/shop_customers(1)?$select=id'),
    get('2', '$1/name', { dependsOn: ['1'] }),
    get('3', '/%241?$select=name', { dependsOn: ['1'] }),
    get('4', '$2/$value', { dependsOn: ['2'] }),
    get('metadata', 'shop_customers(2)'),
    get('5', '$metadata'),
    get('6', 'shop_customers(99)'),
    get('7', '$6/name'),
    get('8', '$nobody/name'),
  ])
  const responses: readonly Response[] = answer.json.responses
  assert.equal(
    responses.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200, 404, 424, 404],
  )
  assert.is(responses[1]!.body.value, 'name 1')
  assert.is(responses[2]!.body.name, 'name 1')
  assert.is(responses[3]!.body, 'name 1')
  assert.is(responses[5]!.headers['content-type'], 'application/xml')
})

test('headers of a request are its own; the version of the batch is the default', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const headers = { ...JSON_TYPE, 'OData-MaxVersion': '4.0', accept: 'application/json' }
  const answer = await sendRequests(
    served,
    [
      get('a', 'shop_customers', { headers: { Prefer: 'odata.maxpagesize=2' } }),
      get('b', 'shop_customers(1)', {
        headers: { ACCEPT: 'application/json;IEEE754Compatible=true' },
      }),
      get('c', 'shop_customers(1)', { headers: { 'OData-MaxVersion': '4.01' } }),
      get('d', 'shop_customers(1)', { headers: { accept: 'image/png' } }),
    ],
    headers,
  )
  assert.is(answer.headers['odata-version'], '4.0')
  const [a, b, c, d]: readonly Response[] = answer.json.responses
  assert.is(a!.body.value.length, 2)
  assert.ok(a!.body['@odata.nextLink'].startsWith(`${served.url}/shop_customers?`))
  assert.is(a!.headers['preference-applied'], 'odata.maxpagesize=2')
  assert.is(b!.body.big, '9007199254740993')
  assert.equal(
    [a!, b!, c!, d!].map((response) => response.headers['odata-version']),
    ['4.0', '4.0', '4.01', '4.0'],
  )
  assert.is(d!.status, 406)
})

test('dependsOn: what depends on a failure is 424', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const answer = await sendRequests(served, [
    get('a', 'shop_customers(99)'),
    get('b', 'shop_customers(1)', { dependsOn: ['a'] }),
    get('c', 'shop_customers(1)', { dependsOn: ['b'] }),
    get('d', 'shop_customers(1)', { dependsOn: [] }),
  ])
  const statuses = answer.json.responses.map(({ status }: Response) => status)
  assert.equal(statuses, [404, 424, 424, 200])
})

test('continue-on-error=false ends the batch with the first failure', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const requests = [get('a', 'shop_customers(1)'), get('b', 'nope'), get('c', 'shop_customers(1)')]
  const ids = async (prefer: string) => {
    const answer = await sendRequests(served, requests, { ...JSON_TYPE, prefer })
    const found = answer.json.responses.map(({ id }: Response) => id).join(' ')
    return [found, answer.headers['preference-applied']]
  }
  assert.equal(await ids('odata.continue-on-error=false'), ['a b', 'odata.continue-on-error=false'])
  assert.equal(await ids('continue-on-error'), ['a b c', 'continue-on-error=true'])
  assert.equal(await ids('maxpagesize=5'), ['a b c', undefined])
})

test('atomicityGroup is given back, and dependsOn may name it', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const answer = await sendRequests(served, [
    get('a', 'shop_customers(1)', { atomicityGroup: 'g' }),
    get('b', 'shop_customers(99)', { atomicityGroup: 'g' }),
    get('c', 'shop_customers(1)', { dependsOn: ['g'] }),
  ])
  assert.equal(
    answer.json.responses.map(({ status, atomicityGroup }: Record<string, unknown>) => [
      status,
      atomicityGroup,
    ]),
    [
      [200, 'g'],
      [404, 'g'],
      [424, undefined],
    ],
  )
  assert.is((await sendRequests(served, [get('a', '', { atomicityGroup: 1 })])).status, 400)
})

test('a request fails with those before it in its group, which follow each other', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const inGroup = (id: string, url: string, atomicityGroup = 'g') =>
    get(id, url, { atomicityGroup })
  const answer = await sendRequests(served, [
    inGroup('a', 'shop_customers(99)'),
    inGroup('b', 'shop_customers(1)'),
    inGroup('c', 'shop_customers(1)', 'h'),
    get('d', 'shop_customers(1)', { dependsOn: ['h'] }),
  ])
  const statuses = answer.json.responses.map(({ status }: { status: number }) => status)
  assert.equal(statuses, [404, 424, 200, 200])
  const target = async (requests: readonly object[]) => {
    const refused = await sendRequests(served, requests)
    return `${refused.status} ${refused.json.error?.target}`
  }
  const [one, other] = [inGroup('a', 'shop_customers(1)'), get('b', 'shop_customers(1)')]
  assert.is(
    await target([one, other, inGroup('c', 'shop_customers(1)')]),
    '400 requests/2/atomicityGroup',
  )
  assert.is(await target([inGroup('g', 'shop_customers(1)')]), '400 requests/0/atomicityGroup')
  assert.is(await target([one, get('g', 'shop_customers(1)')]), '400 requests/1/id')
  assert.is(await target([get('g', 'shop_customers(1)'), one]), '400 requests/1/atomicityGroup')
})

test('Q106: a member of another type is a mistake of its own request alone', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers])
  const one = get('1', 'shop_customers(1)')
  const odd = [
    { ...one, id: '2', method: 7 },
    { ...one, id: '3', method: null },
    { id: '4', url: '' },
    { id: '5', method: 'GET' },
    { ...one, id: '6', url: ['shop_customers'] },
    { ...one, id: '7', headers: { accept: 1 } },
    { ...one, id: '8', headers: [] },
    { ...one, id: '9', dependsOn: ['2'] },
  ]
  const answer = await sendRequests(served, [...odd, one])
  assert.is(answer.status, 200)
  const statuses = answer.json.responses.map((response: { status: number }) => response.status)
  assert.equal(statuses, [400, 400, 400, 400, 400, 400, 400, 424, 200])
  assert.is(answer.json.responses[0].body.error.target, 'requests/0/method')
})

test('what is no batch is refused', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [customers], { maxBatchRequests: 3 })
  const one = get('1', 'shop_customers(1)')
  const malformed = [
    '',
    'null',
    '[]',
    '{"requests":',
    '{}',
    '{"requests":"x"}',
    '{"requests":[null]}',
    JSON.stringify({ requests: [{ method: 'GET', url: '' }] }),
    JSON.stringify({ requests: [{ id: 1, method: 'GET', url: '' }] }),
    JSON.stringify({ requests: [{ ...one, dependsOn: ['2'] }] }),
    JSON.stringify({ requests: [one, one] }),
  ]
  for (const body of malformed) {
    const answer = await send(served, body)
    assert.is(answer.status, 400, body)
    assert.type(answer.json.error.code, 'string')
  }
  const many = ['1', '2', '3', '4'].map((id) => get(id, 'shop_customers(1)'))
  assert.is((await sendRequests(served, many)).status, 413)
  assert.is((await sendRequests(served, many.slice(1))).status, 200)
  assert.is((await send(served, `{"requests":[]}${' '.repeat(5 * 1024 * 1024)}`)).status, 413)
  for (const type of ['text/plain', 'multipart/related; boundary=b', 'application/jsonx'])
    assert.is((await send(served, '{"requests":[]}', { 'content-type': type })).status, 415, type)
  assert.is((await send(served, '{"requests":[]}', {})).status, 415)
  assert.equal((await sendRequests(served, [])).json, { responses: [] })
  const charset = { 'content-type': 'application/json;charset=utf-8' }
  assert.is((await sendRequests(served, [one], charset)).json.responses[0].status, 200)
})

test.run()
