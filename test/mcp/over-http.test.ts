// Alone in its process: the SDK keeps its schemas in globals.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { createCatalogReader } from '../../src/explorer/catalog.ts'
import { openDoor } from '../../src/mcp/over-http.ts'
import { overHttp, textOf } from '../support/mcp-client.ts'
import { ask, serve, type Served } from '../support/odata-service.ts'
import { bearer, readerToken } from '../support/reader-token.ts'
import type { Table } from '../support/snapshot-files.ts'

const tables: readonly Table[] = [
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT i AS order_id, CASE WHEN i % 2 = 0 THEN 'NO' ELSE 'SE' END AS country_id,
      CAST(i AS DECIMAL(38,10)) + 0.0123456789 AS amount FROM range(1, 2001) r(i)`,
  },
  { model: 'hr.salaries', key: ['id'], rows: sql`SELECT 1 AS id, 'secret-7f3a' AS pay` },
]

async function served(resources: Resources, origins: readonly string[] = []): Promise<Served> {
  const tokens = [
    readerToken('all', {}),
    readerToken('no', { sets: ['shop_*'], rows: { shop_orders: "country_id = 'NO'" } }),
  ]
  const door = openDoor({
    version: '1.2.3',
    origins,
    catalogOf: createCatalogReader({ project: 'shop', shows: 'project', find: async () => null }),
    onFailure: (error) => {
      throw error
    },
  })
  return await serve(resources, tables, { tokens, door, corsOrigins: origins })
}

const doorOf = ({ url }: Served) => new URL('/mcp', url).href

/** Initialized with a token, for one call. */
async function call(at: Served, token: string, name: string, args: object) {
  await using assistant = await overHttp(doorOf(at), bearer(token))
  const result = await assistant.callTool({ name, arguments: args })
  return { text: textOf(result), isError: result.isError === true }
}

test('the SDK initializes, lists and asks', async () => {
  await using resources = new Resources()
  const at = await served(resources)
  await using assistant = await overHttp(doorOf(at), bearer('all'))
  assert.equal(assistant.getServerVersion()?.version, '1.2.3')
  assert.match(assistant.getInstructions() ?? '', /describe_set/)
  await assistant.ping()
  const { tools } = await assistant.listTools()
  assert.equal(tools.map(({ name }) => name).toSorted(), ['describe_set', 'list_sets', 'query'])
  assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
  const { resources: listed } = await assistant.listResources()
  const uris = ['eider://catalog', 'eider://sets/hr_salaries', 'eider://sets/shop_orders']
  assert.equal(listed.map(({ uri }) => uri).toSorted(), uris)
  assert.is((await assistant.listResourceTemplates()).resourceTemplates.length, 1)
  const read = await assistant.readResource({ uri: 'eider://sets/shop_orders' })
  assert.match(read.contents[0]!.text, /amount Edm\.Decimal/)
  const { prompts } = await assistant.listPrompts()
  assert.equal(
    prompts.map(({ name }) => name),
    ['answer_question', 'explain_set'],
  )
  const prompt = await assistant.getPrompt({
    name: 'answer_question',
    arguments: { question: 'How much?' },
  })
  assert.match(prompt.messages[0]!.content.text, /How much\?/)
})

test('an answer is the one of the service, to the digit, with its proof', async () => {
  await using resources = new Resources()
  const at = await served(resources)
  const asked = { set: 'shop_orders', filter: 'order_id lt 4', select: 'amount', count: true }
  const { text } = await call(at, 'all', 'query', asked)
  const { snapshot, published_at, request, count } = JSON.parse(text)
  assert.is(snapshot, 'first')
  assert.ok(Date.parse(published_at) > 0)
  assert.is(count, 3)
  assert.match(text, /"rows":\[\{"amount":1\.0123456789\},\{"amount":2\.0123456789\},/)
  const repeated = await ask(request, { headers: bearer('all') })
  assert.is(repeated.status, 200)
  assert.ok(repeated.text.includes('"amount":3.0123456789}]'), repeated.text)

  const whole =
    'shop_orders?$apply=groupby((country_id),aggregate(amount with sum as total))&$orderby=total'
  const { rows } = JSON.parse((await call(at, 'all', 'query', { request: whole })).text)
  assert.equal(
    rows.map((row: { country_id: string }) => row.country_id),
    ['SE', 'NO'],
  )
  const counted = await call(at, 'all', 'query', { request: 'shop_orders/$count' })
  assert.is(JSON.parse(counted.text).value, '2000')
  const one = await call(at, 'all', 'query', { request: `${at.url}/shop_orders(7)/country_id` })
  assert.is(JSON.parse(one.text).value.value, 'SE')
})

test('more rows than an assistant can read are cut, which is said, and follow by "next"', async () => {
  await using resources = new Resources()
  const at = await served(resources)
  const first = JSON.parse((await call(at, 'all', 'query', { set: 'shop_orders', top: 5000 })).text)
  assert.is(first.rows.length, 500)
  assert.match(first.cut, /first 500 rows/)
  const second = JSON.parse((await call(at, 'all', 'query', { request: first.next })).text)
  assert.is(second.rows[0].order_id, 501)
  const last = JSON.parse((await call(at, 'all', 'query', { set: 'shop_orders', skip: 1900 })).text)
  assert.is(last.rows.length, 100)
  assert.is(last.cut, undefined)
})

test('a token sees its sets and rows, and no trace of others', async () => {
  await using resources = new Resources()
  const at = await served(resources)
  const listed = await call(at, 'no', 'list_sets', {})
  assert.match(listed.text, /^1 sets, .*\nshop_orders \(1000 rows\)/)
  for (const args of [{ set: 'shop_orders' }, { request: 'shop_orders?$top=400' }]) {
    const { text } = await call(at, 'no', 'query', args)
    // As a value: the signature of a link may have the two letters too.
    assert.not.match(text, /"SE"/)
    assert.ok(JSON.parse(text).rows.length > 300)
  }
  const counted = await call(at, 'no', 'query', { request: 'shop_orders/$count' })
  assert.is(JSON.parse(counted.text).value, '1000')
  const hidden = await call(at, 'no', 'query', { set: 'hr_salaries' })
  const missing = await call(at, 'no', 'query', { set: 'hr_salariez' })
  assert.ok(hidden.isError && missing.isError)
  assert.is(hidden.text.replaceAll('salaries', 'salariez'), missing.text)
  assert.ok((await call(at, 'no', 'describe_set', { set: 'hr_salaries' })).isError)
  await using assistant = await overHttp(doorOf(at), bearer('no'))
  const { resources: seen } = await assistant.listResources()
  assert.equal(
    seen.map(({ name }) => name),
    ['catalog', 'shop_orders'],
  )
  const read = assistant.readResource({ uri: 'eider://sets/hr_salaries' })
  const error = await read.then(JSON.stringify, (problem: Error) => problem.message)
  assert.match(error, /no set "hr_salaries"/)
})

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  },
})
const usual = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

test('a request that is no message of a program is refused by the rules of HTTP', async () => {
  await using resources = new Resources()
  const at = await served(resources, ['https://good.example'])
  const post = (headers: Readonly<Record<string, string>>, body = initialize, method = 'POST') =>
    ask(doorOf(at), { method, headers: { ...usual, ...bearer('all'), ...headers }, body })
  const statusOf = async (...asked: Parameters<typeof post>) => (await post(...asked)).status
  assert.is(JSON.parse((await post({})).text).result.protocolVersion, '2024-11-05')
  assert.is(await statusOf({ Origin: 'https://good.example' }), 200)
  assert.is(await statusOf({ Origin: 'https://evil.example' }), 403)
  assert.is(await statusOf({ Origin: 'null' }), 403)
  assert.is(await statusOf({ Host: 'evil.example' }), 403)
  assert.is(await statusOf(bearer('wrong')), 401)
  assert.is(await statusOf({}, '', 'GET'), 405)
  assert.is(await statusOf({}, '', 'DELETE'), 405)
  assert.is(await statusOf({ 'Content-Type': 'text/plain' }), 415)
  assert.is(await statusOf({ Accept: 'text/event-stream' }), 406)
  assert.is(await statusOf({ 'MCP-Protocol-Version': '1999-01-01' }), 400)
  assert.is(await statusOf({ 'MCP-Protocol-Version': '2025-06-18' }), 200)
  assert.is(await statusOf({}, `"${'x'.repeat(300_000)}"`), 413)
})

test('messages that are wrong are answered by the codes of JSON-RPC, notifications with 202', async () => {
  await using resources = new Resources()
  const at = await served(resources)
  const send = (body: string) =>
    ask(doorOf(at), { method: 'POST', headers: { ...usual, ...bearer('all') }, body })
  const code = async (message: object | string) => {
    const text = typeof message === 'string' ? message : JSON.stringify(message)
    return JSON.parse((await send(text)).text).error.code as number
  }
  const asks = (method: unknown, params: unknown = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    params,
  })
  assert.is(await code('{"jsonrpc"'), -32700)
  assert.is(await code('[]'), -32600)
  assert.is(await code({ id: 7, method: 'ping' }), -32600)
  assert.is(await code(asks(7)), -32600)
  assert.is(await code({ ...asks('ping'), id: {} }), -32600)
  assert.is(await code(asks('ping', [])), -32602)
  assert.is(await code(asks('constructor')), -32601)
  assert.is(await code(asks('sql/query')), -32601)
  assert.is(await code(asks('initialize')), -32602)
  assert.is(await code(asks('tools/call', { name: 'toString' })), -32602)
  assert.is(await code(asks('prompts/get', { name: '__proto__' })), -32602)
  assert.is(await code(asks('resources/read', { uri: 'file:///etc/passwd' })), -32002)
  assert.is(await code(asks('resources/read', { uri: 'eider://sets/../../etc/passwd' })), -32002)
  const newest = await send(JSON.stringify(asks('initialize', { protocolVersion: '2099-01-01' })))
  assert.is(JSON.parse(newest.text).result.protocolVersion, '2025-11-25')
  for (const body of [
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","method":"anything"}',
    '{"jsonrpc":"2.0","id":3,"result":{}}',
  ]) {
    const answer = await send(body)
    assert.equal([answer.status, answer.text], [202, ''], body)
  }
})

test('what is wrong with a call is a result, with words that help', async () => {
  await using resources = new Resources()
  const at = await served(resources)
  const wrong = async (name: string, args: object) => {
    const { text, isError } = await call(at, 'all', name, args)
    assert.ok(isError, text)
    return text
  }
  assert.match(await wrong('query', {}), /name a set/)
  assert.match(await wrong('query', { set: 7 }), /"set" must be a string/)
  assert.match(await wrong('query', { set: 'shop_orders', top: 1.5 }), /whole number/)
  assert.match(await wrong('query', { set: 'shop_orders', filtr: 'x' }), /did you mean "filter"/)
  assert.match(await wrong('query', { set: 'a', request: 'b' }), /not both/)
  assert.match(await wrong('query', { set: 'shop_order' }), /shop_orders/)
  assert.match(await wrong('query', { set: 'shop_orders', filter: 'amuont gt 1' }), /amount/)
  assert.match(await wrong('query', { set: 'shop_orders', top: -1 }), /\$top/)
  assert.match(await wrong('query', { request: 'shop_orders?%24format=parquet' }), /\$format/)
  assert.match(await wrong('query', { request: '$batch' }), /not-supported/)
  assert.match(await wrong('query', { request: 'http://evil.example/odata/shop_orders' }), /host/)
  assert.match(await wrong('query', { request: '../../etc/passwd' }), /\(unknown/)
  assert.match(await wrong('query', { request: '/catalog.json' }), /does not belong|no entity set/)
  assert.match(await wrong('describe_set', {}), /"set" is missing/)
  assert.match(await wrong('describe_set', { set: 'shop_order' }), /did you mean "shop_orders"/)
})

test('without the setting there is nothing at /mcp', async () => {
  await using resources = new Resources()
  const at = await serve(resources, tables)
  assert.is(
    (await ask(doorOf(at), { method: 'POST', headers: usual, body: initialize })).status,
    404,
  )
})

test.run()
