// What web pages of other origins may do: collect.cors_origins and collect.accept_text_plain. And the access log.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../src/core/failures.ts'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { RawClient, rawPost } from '../support/raw-client.ts'
import { openDaemon } from '../support/collect-daemon.ts'
import { post, send } from '../support/json-requests.ts'
import { until } from '../support/until.ts'

const EVENTS = '/collect/raw/page_views'
const EVENT = '{"event_name":"a"}'
const SHOP = 'https://shop.example'

const preflight = (url: string, origin: string, method = 'OPTIONS') =>
  send(method, url + EVENTS, undefined, {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'content-type',
  })

const allowed = (headers: Headers) => headers.get('access-control-allow-origin')

/** fetch() drops an Origin that it did not make, so this speaks for itself. */
async function postFrom(url: string, origin: string, body = EVENT) {
  await using client = await RawClient.open(url)
  const type = 'Content-Type: application/json'
  const answer = await client.send(rawPost(EVENTS, body, type, `Origin: ${origin}`)).answer()
  return { status: answer!.status, headers: new Headers([...answer!.headers]) }
}

test('E087 without the setting there is no CORS', async () => {
  await using fixture = await openDaemon()
  const { url } = fixture.daemon
  const asked = await preflight(url, SHOP)
  assert.equal([asked.status, allowed(asked.headers), asked.headers.get('vary')], [403, null, null])
  const posted = await postFrom(url, SHOP)
  assert.equal([posted.status, allowed(posted.headers)], [403, null])
})

test('E087 listed origins may ask, post and read answers, also refusals; others may not', async () => {
  const corsOrigins = [SHOP, 'http://localhost:5173']
  await using fixture = await openDaemon({ corsOrigins, token: 'secret' })
  const { url, adminUrl } = fixture.daemon
  for (const origin of corsOrigins) {
    const { status, headers } = await preflight(url, origin)
    assert.equal([status, allowed(headers), headers.get('vary')], [204, origin, 'Origin'])
    assert.match(headers.get('access-control-allow-methods')!, 'POST')
    assert.match(headers.get('access-control-allow-headers')!, /Authorization.*Idempotency-Key/)
  }
  const refused = await postFrom(url, SHOP)
  assert.equal([refused.status, allowed(refused.headers)], [401, SHOP])
  for (const origin of [
    'https://other.example',
    'https://shop.example.evil',
    'null',
    `${SHOP}:444`,
  ]) {
    const { status, headers } = await preflight(url, origin)
    assert.equal([status, allowed(headers), headers.get('vary')], [403, null, 'Origin'], origin)
  }
  const shown = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' }
  const plain = await post(url + EVENTS, EVENT, shown)
  assert.equal(
    [plain.status, allowed(plain.headers), plain.headers.get('vary')],
    [202, null, 'Origin'],
  )
  assert.is((await preflight(adminUrl, SHOP)).status, 403)
})

test('E087 "*" lets any page in, and not beside a token', async () => {
  await using fixture = await openDaemon({ corsOrigins: ['*'] })
  const posted = await postFrom(fixture.daemon.url, 'https://any.example')
  assert.equal([posted.status, allowed(posted.headers)], [202, '*'])
  assert.is(allowed((await postFrom(fixture.daemon.url, SHOP, '{}')).headers), '*')
  const cases = [
    { corsOrigins: ['*'], token: 'secret' },
    { corsOrigins: ['shop.example'] },
    { corsOrigins: [`${SHOP}/`] },
    { corsOrigins: ['https://*.example/x'] },
  ]
  for (const options of cases) {
    const error = await openDaemon(options).then(
      () => null,
      (reason: unknown) => reason,
    )
    assert.instance(error, UsageError, JSON.stringify(options))
  }
})

test('E087 text/plain is JSON when the setting says so', async () => {
  const beacon = { 'Content-Type': 'text/plain;charset=UTF-8' }
  await using fixture = await openDaemon({ acceptTextPlain: true })
  const { url } = fixture.daemon
  assert.is((await post(url + EVENTS, EVENT, beacon)).status, 202)
  assert.equal((await post(`${url}${EVENTS}/batch`, `[${EVENT}]`, beacon)).body, { accepted: 1 })
  assert.is((await post(`${url}${EVENTS}/batch`, `${EVENT}\n${EVENT}`, beacon)).status, 400)
  const latin = { 'Content-Type': 'text/plain;charset=latin1' }
  assert.is((await post(url + EVENTS, EVENT, latin)).status, 415)
  assert.is((await post(url + EVENTS, EVENT, { 'Content-Type': 'text/html' })).status, 415)
})

test('the access log has a line for each request, and none by default', async () => {
  const lines: LogLine[] = []
  const logger = createLogger((line) => lines.push(line))
  {
    await using fixture = await openDaemon({ logger })
    await post(fixture.daemon.url + EVENTS, EVENT)
    assert.equal(lines, [])
  }
  await using fixture = await openDaemon({ logger, accessLog: true })
  const { url, adminUrl } = fixture.daemon
  await post(url + EVENTS, EVENT)
  await post(url + EVENTS, '{}')
  await send('GET', `${url}/health?x=1`)
  await send('GET', `${adminUrl}/health`)
  await until(() => lines.length >= 3)
  assert.equal(
    lines.map(({ event, fields: { method, url: path, status, code } }) => [
      event,
      method,
      path,
      status,
      code,
    ]),
    [
      ['request', 'POST', EVENTS, 202, undefined],
      ['request', 'POST', EVENTS, 400, 'missing-field'],
      ['request', 'GET', '/health?x=1', 200, undefined],
    ],
  )
  for (const { fields } of lines) {
    assert.is(fields['remote'], '127.0.0.1')
    assert.ok((fields['ms'] as number) >= 0)
    assert.not('cut' in fields)
  }
})

test.run()
