import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { sendJson } from '../../src/http/respond.ts'
import { HttpServer } from '../../src/http/server.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { RawClient } from '../support/raw-client.ts'

test('a head that comes drop by drop is given up after limits.headersTimeoutMs', async () => {
  const handle = (_: unknown, response: Parameters<typeof sendJson>[0]) =>
    sendJson(response, 200, {})
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    handle,
    logger: silentLogger,
  })
  await using client = await RawClient.open(server.url)
  const startedAt = Date.now()
  client.send('GET / HTTP/1.1\r\n')
  const drops = setInterval(() => client.send('X: y\r\n'), 500)
  assert.ok(await client.closes(limits.headersTimeoutMs + 5_000))
  clearInterval(drops)
  assert.is((await client.answer())?.status, 408)
  assert.ok(Date.now() - startedAt >= limits.headersTimeoutMs)
})

test.run()
