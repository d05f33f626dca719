// A request whose body turns out to be no HTTP while its handler, which does not read it, is at work.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { sendText } from '../../src/http/respond.ts'
import { HttpServer } from '../../src/http/server.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

test('it has one answer, the refusal, and what its handler says later is no failure', async () => {
  const lines: LogLine[] = []
  const refusals: string[] = []
  let handled = false
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    logger: createLogger((line) => lines.push(line)),
    onRefusal: (status, code) => refusals.push(`${status} ${code}`),
    async handle(_request, response) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      handled = true
      sendText(response, 200, 'text/plain', 'late')
    },
  })
  await using client = await RawClient.open(server.url)
  client.send('GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk')
  assert.is((await client.answer())!.status, 400)
  assert.ok(await client.closes())
  await until(() => handled)
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(handled)
  assert.equal([lines, refusals], [[], ['400 bad-request']])
  await using next = await RawClient.open(server.url)
  assert.is((await next.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer())!.body, 'late')
})

test.run()
