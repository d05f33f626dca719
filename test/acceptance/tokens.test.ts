// Both services with a token, as somebody meets them who does not have it: no header, path, method, cached answer or
// open connection gives anything away, and whoever waits for a challenge gets one line for each scheme.

import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'

const TOKEN = 'correct horse, battery'
const project = {
  'eider.yml': 'name: shop\n',
  'models/raw/orders.sql': '-- @kind: events\nid INTEGER NOT NULL',
  'models/mart/orders.sql': '-- @expose id\nSELECT 1 AS id',
}
const env = { COLLECT_TOKEN: TOKEN, ODATA_TOKEN: TOKEN }
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

const good: Readonly<Record<string, string>> = {
  bearer: `Bearer ${TOKEN}`,
  'bearer in capitals': `BEARER ${TOKEN}`,
  'basic with any user': basic(`anybody:${TOKEN}`),
  'basic without a user': basic(`:${TOKEN}`),
}

const bad: Readonly<Record<string, string | undefined>> = {
  none: undefined,
  empty: '',
  'the token alone': TOKEN,
  'no token after the scheme': 'Bearer',
  'a part of it': `Bearer ${TOKEN.slice(0, -1)}`,
  'more than it': `Bearer ${TOKEN}x`,
  'another case': `Bearer ${TOKEN.toUpperCase()}`,
  'another scheme': `Digest ${TOKEN}`,
  'basic that is not base64': `Basic ${TOKEN}`,
  'basic with it as the user': basic(`${TOKEN}:`),
  'basic without a colon': basic(TOKEN.slice(1)),
  'bearer in base64': `Bearer ${Buffer.from(TOKEN).toString('base64')}`,
  'two credentials': `Bearer wrong, Bearer ${TOKEN}`,
  'a very long one': `Bearer ${'x'.repeat(8000)}`,
  'bytes that are not UTF-8': 'Bearer \u00ff\u00fe',
  'a word of all objects': 'Bearer __proto__',
}

interface Asked {
  readonly method?: string
  readonly authorization?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly agent?: Agent
}

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly raw: readonly string[]
  readonly body: string
}

function ask(url: string, { method = 'GET', authorization, headers, body, agent }: Asked = {}) {
  return new Promise<Answered>((resolve, reject) => {
    const own = authorization === undefined ? {} : { authorization }
    const sent = request(url, { method, agent, headers: { ...headers, ...own } }, (response) => {
      const { statusCode = 0, headers: found, rawHeaders: raw } = response
      text(response).then(
        (all) => resolve({ status: statusCode, headers: found, raw, body: all }),
        reject,
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function requireRefusal({ status, raw, body }: Answered, what: string): void {
  assert.is(status, 401, what)
  const challenges = raw.filter((_, i) => raw[i - 1]?.toLowerCase() === 'www-authenticate')
  assert.equal(challenges, ['Bearer realm="eider"', 'Basic realm="eider", charset="UTF-8"'], what)
  assert.not.match(body, TOKEN, what)
}

async function serving(space: Workspace): Promise<Running> {
  await space.ok(['run'])
  return space.start(['serve', '--port', '0', '--quiet'], { env })
}

test('the service answers those who have the token, in either scheme, and nobody else', async () => {
  await using space = await workspace(project)
  const { url } = await serving(space)
  const set = `${url}/mart_orders`
  for (const [name, authorization] of Object.entries(good))
    assert.is((await ask(set, { authorization })).status, 200, name)
  // By now the answer is cached.
  for (const [name, authorization] of Object.entries(bad))
    requireRefusal(await ask(set, { authorization }), name)
  requireRefusal(await ask(`${set}?token=${encodeURIComponent(TOKEN)}`), 'in the query')
  requireRefusal(await ask(`${set}?access_token=${encodeURIComponent(TOKEN)}`), 'in the query')
  requireRefusal(await ask(url.replace('://', `://me:wrong@`)), 'in the URL')
})

test('no path and no method of the service goes around the token', async () => {
  await using space = await workspace(project)
  const { url } = await serving(space)
  const root = new URL(url).origin
  const { headers } = await ask(`${url}/mart_orders`, { authorization: good['bearer'] })
  const paths = [
    '/odata',
    '/odata/',
    '/odata/mart_orders',
    '/odata/mart_orders(1)',
    '/odata/mart_orders/$count',
    '/odata/$metadata',
    '/odata/%24metadata',
    '/odata/nothing',
    '//odata/mart_orders',
    '/odata/../odata/mart_orders',
    '/ODATA/mart_orders',
    '/metrics',
    '/catalog.json',
    '/nothing',
  ]
  for (const path of paths)
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE'])
      assert.is((await ask(root + path, { method })).status, 401, `${method} ${path}`)
  requireRefusal(
    await ask(`${url}/mart_orders`, { headers: { 'If-None-Match': String(headers['etag']) } }),
    'a known tag',
  )
  const inner = {
    requests: [
      { id: '1', method: 'GET', url: 'mart_orders', headers: { authorization: good['bearer'] } },
    ],
  }
  const batch = {
    method: 'POST',
    body: JSON.stringify(inner),
    headers: { 'Content-Type': 'application/json' },
  }
  requireRefusal(await ask(`${url}/$batch`, batch), 'a token within a batch')
  assert.is((await ask(`${root}/health`)).status, 200)
})

test('a connection that showed the token once has to show it again', async () => {
  await using space = await workspace(project)
  const { url } = await serving(space)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (const [name, authorization] of Object.entries(bad)) {
    assert.is(
      (await ask(`${url}/mart_orders`, { agent, authorization: good['bearer'] })).status,
      200,
    )
    requireRefusal(await ask(`${url}/mart_orders`, { agent, authorization }), name)
  }
  agent.destroy()
})

test('the daemon takes events of those who have the token, on each of its paths', async () => {
  await using space = await workspace(project)
  const args = ['collect', 'daemon', '--port', '0', '--admin-port', '0', '--quiet']
  const daemon = await space.start(args, { env })
  const { url } = daemon
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const post = (authorization: string | undefined, path = '', headers = {}) =>
    ask(`${url}/collect/raw/orders${path}`, {
      method: 'POST',
      agent,
      authorization,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: path === '' ? '{"id":1}' : '[{"id":1},{"id":2}]',
    })
  // Plain requests take a fast path, those with another header do not.
  for (const headers of [{}, { Expect: '100-continue' }, { 'X-Odd': 'yes' }])
    for (const path of ['', '/batch']) {
      for (const [name, authorization] of Object.entries(good))
        assert.is((await post(authorization, path, headers)).status, 202, name)
      for (const [name, authorization] of Object.entries(bad))
        requireRefusal(await post(authorization, path, headers), `${name} ${path}`)
    }
  assert.is((await ask(`${url}/health`)).status, 200)
  agent.destroy()
  await daemon.stop()
  await space.ok(['run'])
  const { stdout } = await space.ok([
    'query',
    'SELECT count(*)::INTEGER AS n FROM raw.orders',
    '--json',
  ])
  assert.equal(JSON.parse(stdout), { n: 3 * 3 * Object.keys(good).length })
})

test.run()
