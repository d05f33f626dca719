import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { EnvironmentError } from '../../src/core/failures.ts'
import { createLogger } from '../../src/core/logger.ts'
import { readBody } from '../../src/http/body.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { sendJson, sendText } from '../../src/http/respond.ts'
import { type Handler, HttpServer } from '../../src/http/server.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { type RawAnswer, RawClient, rawPost } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const MAX_BODY = 1000

/** /echo answers the length of its body, late; /refuse answers before it reads one; /crash has a bug. */
const handle: Handler = async (request, response) => {
  if (request.url === '/refuse') throw new RequestError(404, 'refused', 'no')
  if (request.url === '/crash') throw new Error('a secret of the inside')
  const body = await readBody(response, MAX_BODY)
  if (request.url === '/late') await sleep(50)
  sendJson(response, 200, { length: body.length })
}

const open = (options: Partial<Parameters<typeof HttpServer.open>[0]> = {}) =>
  HttpServer.open({ host: '127.0.0.1', port: 0, handle, logger: silentLogger, ...options })

const codeOf = (answer: RawAnswer | null) =>
  answer === null
    ? null
    : `${answer.status} ${(JSON.parse(answer.body) as { error: { code: string } }).error.code}`

test('pipelined requests are answered in order, and what is no request behind them', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  client.send(
    rawPost('/late', 'a') +
      rawPost('/echo', 'bb') +
      rawPost('/refuse', 'ccc') +
      rawPost('/echo', 'dddd') +
      'nonsense\r\n\r\n',
  )
  assert.is((await client.answer())!.body, '{"length":1}')
  assert.is((await client.answer())!.body, '{"length":2}')
  assert.is(codeOf(await client.answer()), '404 refused')
  assert.is((await client.answer())!.body, '{"length":4}')
  assert.is(codeOf(await client.answer()), '400 bad-request')
  assert.ok(await client.closes())
})

test('a body that ends early gets its refusal behind the answers before it', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  client.send(
    rawPost('/late', 'a') +
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nonly this',
  )
  client.socket.end()
  assert.is((await client.answer())!.body, '{"length":1}')
  assert.is(codeOf(await client.answer()), '400 bad-request')
  assert.ok(await client.closes())
})

test('a client that has sent all and closed its side gets its answer', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  client.send(rawPost('/late', 'abc'))
  client.socket.end()
  assert.is((await client.answer())!.body, '{"length":3}')
  assert.ok(await client.closes())
})

test('the connection goes on after a refusal whose small body was not read', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  client.send('POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n')
  await sleep(30)
  client.send('12345' + rawPost('/echo', 'x'))
  assert.is(codeOf(await client.answer()), '404 refused')
  assert.is((await client.answer())!.status, 200)
  client.send(`POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
  for (let chunk = 0; chunk < 20; chunk++) client.send(`64\r\n${'x'.repeat(100)}\r\n`)
  client.send('0\r\n\r\n')
  assert.is(codeOf(await client.answer()), '413 body-too-large')
  client.send(rawPost('/echo', 'x'))
  assert.is((await client.answer())!.status, 200)
})

test('a client that is still sending a large refused body gets the answer, and not a reset', async () => {
  await using server = await open()
  for (const head of ['Content-Length: 20000000', 'Transfer-Encoding: chunked']) {
    await using client = await RawClient.open(server.url)
    client.send(`POST /echo HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
    const chunk = 'x'.repeat(0xffff)
    for (let sent = 0; sent < 20_000_000 - 0xffff; sent += 0xffff)
      client.send(head.startsWith('Content') ? chunk : `ffff\r\n${chunk}\r\n`)
    const answer = await client.answer()
    assert.is(codeOf(answer), '413 body-too-large', head)
    assert.is(answer!.headers.get('connection'), 'close')
    assert.is(client.error, null)
    assert.ok(await client.closes())
  }
})

test('"Expect: 100-continue" is answered by 100 only for a body that is wanted', async () => {
  await using server = await open()
  await using wanted = await RawClient.open(server.url)
  wanted.send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n')
  assert.is((await wanted.answer())!.status, 100)
  wanted.send('abc')
  assert.is((await wanted.answer())!.body, '{"length":3}')

  for (const path of ['/echo', '/refuse']) {
    await using unwanted = await RawClient.open(server.url)
    unwanted.send(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\nExpect: 100-continue\r\n\r\n`,
    )
    assert.is(
      codeOf(await unwanted.answer()),
      path === '/echo' ? '413 body-too-large' : '404 refused',
    )
    assert.ok(await unwanted.closes())
  }
  await using other = await RawClient.open(server.url)
  other.send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: tea\r\n\r\n')
  assert.is(codeOf(await other.answer()), '417 expectation-failed')
})

test('requests that two servers could read differently are refused', async () => {
  await using server = await open()
  for (const head of [
    'Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked',
    'Host: x\r\nContent-Length: 3\r\nContent-Length: 4',
    'Host: x\r\nContent-Length: +3',
    'Host: x\r\nTransfer-Encoding: chunked, identity',
    'Host: x\r\nContent-Length : 3',
    'Host: x\r\nX: a\n b\r\nContent-Length: 3',
    'Host: x\nContent-Length: 3',
    'Host: x\r\nHost: y\r\nContent-Length: 3',
    'Host: x\r\nContent-Length: 3\r\nhost: x',
    'Content-Length: 3',
  ]) {
    await using client = await RawClient.open(server.url)
    client.send(`POST /echo HTTP/1.1\r\n${head}\r\n\r\nabc`)
    assert.is(codeOf(await client.answer()), '400 bad-request', head)
  }
})

/** Each with a whole chunked body of `abc`, and what may be smuggled after it. */
const unclearFraming = [
  'POST PATH HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, chunked',
  'POST PATH HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked',
  'POST PATH HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked',
  'POST PATH HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'POST PATH HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'POST PATH HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nTransfer-Encoding: identity, chunked',
  'POST PATH HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nTransfer-Encoding: identity, chunked',
  'POST PATH HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: identity, chunked',
  'POST PATH HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked',
  'POST PATH HTTP/2.0\r\nHost: x\r\nTransfer-Encoding: chunked',
  'POST PATH HTTP/0.9\r\nHost: x\r\nTransfer-Encoding: chunked',
]

test('framing that is not plain is refused, and nothing after it is read', async () => {
  const seen: string[] = []
  await using server = await open({
    handle: (request, response) => {
      seen.push(request.url ?? '')
      sendJson(response, 200, {})
    },
  })
  for (const head of [...unclearFraming, 'GET PATH HTTP/2.0\r\nHost: x']) {
    await using client = await RawClient.open(server.url)
    const next = 'GET /next HTTP/1.1\r\nHost: x\r\n\r\n'
    const body = head.startsWith('GET') ? '' : '3\r\nabc\r\n0\r\n\r\n'
    client.send(`${head.replace('PATH', '/first')}\r\n\r\n${body}${next}`)
    const answer = await client.answer()
    assert.is(codeOf(answer), '400 bad-request', head)
    assert.is(answer!.headers.get('connection'), 'close', head)
    assert.is(await client.answer(), null, head)
    assert.ok(await client.closes(), head)
  }
  assert.equal(seen, [])
})

test('limits of the head: header bytes and URL bytes', async () => {
  await using server = await open({ errorHeaders: { 'X-Service': 'test' } })
  await using large = await RawClient.open(server.url)
  large.send(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(limits.headerBytes)}\r\n\r\n`)
  const answer = await large.answer()
  assert.is(codeOf(answer), '431 headers-too-large')
  assert.is(answer!.headers.get('x-service'), 'test')
  await using long = await RawClient.open(server.url)
  long.send(`GET /${'x'.repeat(limits.urlBytes)} HTTP/1.1\r\nHost: x\r\n\r\n`)
  assert.is(codeOf(await long.answer()), '414 url-too-long')
})

test('CONNECT is refused, an upgrade is not taken up, HTTP/1.0 is served', async () => {
  await using server = await open()
  await using proxy = await RawClient.open(server.url)
  proxy.send('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n')
  assert.is(codeOf(await proxy.answer()), '405 method-not-allowed')
  await using upgrade = await RawClient.open(server.url)
  upgrade.send('GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  assert.is((await upgrade.answer())!.status, 200)
  await using old = await RawClient.open(server.url)
  old.send('GET /echo HTTP/1.0\r\n\r\n')
  assert.is((await old.answer())!.status, 200)
  assert.ok(await old.closes())
})

test('a bug is answered 500 without its message, and logged with it', async () => {
  const lines: string[] = []
  const logger = createLogger(({ event, fields }) =>
    lines.push(`${event} ${String(fields['error'])}`),
  )
  await using server = await open({ logger })
  const response = await fetch(`${server.url}/crash`)
  const text = await response.text()
  assert.is(response.status, 500)
  assert.not.match(text, 'secret')
  assert.equal(lines, ['request-failed Error: a secret of the inside'])
})

test('a client that leaves in the middle of its body is no failure of ours', async () => {
  const lines: string[] = []
  await using server = await open({ logger: createLogger(({ event }) => lines.push(event)) })
  const client = await RawClient.open(server.url)
  client.send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc')
  await sleep(30)
  client.socket.resetAndDestroy()
  await sleep(50)
  assert.is((await fetch(`${server.url}/echo`, { method: 'POST', body: 'x' })).status, 200)
  assert.equal(lines, [])
})

test('HEAD has the headers and no body', async () => {
  await using server = await open({
    handle: (_, response) => sendText(response, 200, 'text/plain', 'hello'),
  })
  await using client = await RawClient.open(server.url)
  client.send(
    'HEAD / HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  )
  await client.closes()
  assert.match(client.received, 'Content-Length: 5')
  assert.not.match(client.received, 'hello')
})

test('an error after the body has begun cuts the connection off', async () => {
  const half: Handler = async (_request, response) => {
    response.writeHead(200, { 'Content-Length': 10 })
    response.write('half')
    await sleep(20)
    throw new RequestError(500, 'late', 'too late')
  }
  await using server = await open({ handle: half })
  const error = await fetch(server.url)
    .then((response) => response.text())
    .catch((cause: Error) => cause)
  assert.instance(error, Error)
})

test('a stop waits for open requests, and for nobody else', async () => {
  let begun = 0
  const server = await open({
    handle(request, response) {
      begun++
      return handle(request, response)
    },
  })
  await using silent = await RawClient.open(server.url)
  await using idle = await RawClient.open(server.url)
  idle.send(rawPost('/echo', 'a'))
  await idle.answer()
  await using busy = await RawClient.open(server.url)
  busy.send(rawPost('/late', 'abc'))
  await using sending = await RawClient.open(server.url)
  sending.send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab')
  await until(() => begun === 3)
  const startedAt = Date.now()
  const stopped = server[Symbol.asyncDispose]()
  await sleep(60)
  sending.send('cd')
  assert.is((await busy.answer())!.body, '{"length":3}')
  assert.is((await sending.answer())!.body, '{"length":4}')
  await stopped
  assert.ok(Date.now() - startedAt < 2_000, 'the keep-alive connections are not waited for')
  assert.ok(await silent.closes())
  assert.ok(await idle.closes())
  await assertRefused(server.url)
})

test('a large answer that a slow client still reads is whole after a stop', async () => {
  const large = Buffer.alloc(20_000_000, 'x')
  const server = await open({
    handle: (_, response) => sendText(response, 200, 'text/plain', large),
  })
  await using client = await RawClient.open(server.url)
  client.socket.pause()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await sleep(50)
  const stopped = server[Symbol.asyncDispose]()
  await sleep(50)
  client.socket.resume()
  assert.is((await client.answer())!.body.length, large.length)
  await stopped
})

test('a busy port is an environment error that names the flag', async () => {
  await using server = await open()
  try {
    await open({ port: server.port, portFlag: '--admin-port' })
    assert.unreachable()
  } catch (error) {
    assert.instance(error, EnvironmentError)
    const { code, hint } = error as EnvironmentError
    assert.is(code, 'port-busy')
    assert.match(hint!, '--admin-port')
  }
})

async function assertRefused(url: string): Promise<void> {
  const failed = await fetch(url)
    .then(() => false)
    .catch(() => true)
  assert.ok(failed, 'the port is closed')
}

test.run()
