// A request that asks for another protocol on its connection (RFC 9110, section 7.8), and what comes behind it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { readBody } from '../../src/http/body.ts'
import { sendJson } from '../../src/http/respond.ts'
import { HttpServer } from '../../src/http/server.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { RawClient, rawPost } from '../support/raw-client.ts'

/** Answers the length of the body; /late not at once. */
const open = () =>
  HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    async handle(request, response) {
      const body = await readBody(response, 1_000)
      if (request.url === '/late') await new Promise((resolve) => setTimeout(resolve, 10))
      sendJson(response, 200, { length: body.length })
    },
    logger: silentLogger,
  })

test('it is answered, and so are those behind it, in their order', async () => {
  await using server = await open()
  const wish = ['Connection: keep-alive, Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']
  await using client = await RawClient.open(server.url)
  const warnings: Error[] = []
  const warn = (warning: Error) => warnings.push(warning)
  process.on('warning', warn)
  // More than the listeners of one event that an emitter bears without a warning.
  const lengths = Array.from({ length: 12 }, (_, n) => n)
  const last = rawPost('/echo', 'x'.repeat(500))
  client.send(
    lengths
      .map((n) => rawPost('/late', 'x'.repeat(n)) + rawPost('/echo', 'x'.repeat(100 + n), ...wish))
      .concat(`POST /echo HTTP/1.1\r\nHost: x\r\n${wish.join('\r\n')}\r\n`)
      .concat('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')
      .concat(last.slice(0, -100))
      .join(''),
  )
  for (const n of [...lengths.flatMap((n) => [n, 100 + n]), 5])
    assert.is((await client.answer())!.body, `{"length":${n}}`)
  client.send(last.slice(-100))
  client.socket.end()
  assert.is((await client.answer())!.body, '{"length":500}')
  assert.ok(await client.closes())
  process.off('warning', warn)
  assert.equal(warnings, [])
})

test('so many requests before it that the connection rests cost nothing behind it', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  const many = (path: string) => rawPost(path, 'x').repeat(2 * limits.requestsInLine)
  const wish = rawPost('/echo', 'xx', 'Connection: Upgrade', 'Upgrade: h2c')
  client.send([many('/echo'), many('/late'), rawPost('/echo', 'end')].join(wish))
  const lengths = Array.from({ length: 2 * limits.requestsInLine }, () => 1)
  for (const length of [...lengths, 2, ...lengths, 2, 3])
    assert.is((await client.answer())!.body, `{"length":${length}}`)
})

test('its body is no request, however many headers stand before its length', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  const body = rawPost('/echo', 'x')
  const wish = 'Connection: Upgrade\r\nUpgrade: h2c\r\n'
  const head = `POST /echo HTTP/1.1\r\nHost: x\r\n${wish}${'a:\r\n'.repeat(3_000)}`
  client.send(`${head}Content-Length: ${body.length}\r\n\r\n${body}${rawPost('/echo', 'end')}`)
  for (const length of [body.length, 3])
    assert.is((await client.answer())!.body, `{"length":${length}}`)
})

test.run()
