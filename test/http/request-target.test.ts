// Forms of the request target: RFC 9112, section 3.2.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sendJson } from '../../src/http/respond.ts'
import { HttpServer } from '../../src/http/server.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { RawClient } from '../support/raw-client.ts'

const seen = async (target: string, host = 'Host: other.example\r\n') => {
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    handle: ({ url, headers }, response) => sendJson(response, 200, [url, headers.host]),
    logger: silentLogger,
  })
  await using client = await RawClient.open(server.url)
  client.send(`GET ${target} HTTP/1.1\r\n${host}\r\n`)
  const answer = (await client.answer())!
  const body = JSON.parse(answer.body) as unknown
  return answer.status === 200 ? body : [answer.status, (body as ErrorBody).error.code]
}

interface ErrorBody {
  readonly error: { readonly code: string }
}

test('an absolute target is a path, and its host the host', async () => {
  for (const [target, expected] of [
    ['/collect/raw/orders?x=1', ['/collect/raw/orders?x=1', 'other.example']],
    ['http://a.example/collect/raw/orders', ['/collect/raw/orders', 'a.example']],
    ['HTTP://127.0.0.1:8080/a?b=http://c/d', ['/a?b=http://c/d', '127.0.0.1:8080']],
    ['https://[::1]:1', ['/', '[::1]:1']],
    ['http://a.example?x', ['/?x', 'a.example']],
    ['http:///a', [400, 'bad-request']],
    ['http://user@a.example/a', [400, 'bad-request']],
    ['//a.example/b', ['//a.example/b', 'other.example']],
    ['ftp://a.example/b', ['ftp://a.example/b', 'other.example']],
  ] as const)
    assert.equal(await seen(target), expected, target)
  assert.equal(await seen('http://a.example/', ''), [400, 'bad-request'], 'Host must be there')
})

test.run()
