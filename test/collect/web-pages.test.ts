import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { requireProgram } from '../../src/collect/senders.ts'
import { answersTo, hostName, takesOrigin } from '../../src/http/auth.ts'
import { type RawAnswer, RawClient } from '../support/raw-client.ts'
import { openDaemon } from '../support/collect-daemon.ts'

const EVENT = '{"event_name":"forged"}'

const codeOf = ({ status, body }: RawAnswer) =>
  status === 202 ? 202 : `${status} ${(JSON.parse(body) as { error: { code: string } }).error.code}`

test('a web page cannot forge events on a daemon of this machine', async () => {
  await using fixture = await openDaemon()
  const ask = async (...headers: readonly string[]) => {
    await using client = await RawClient.open(fixture.daemon.url)
    const lines = [...headers, `Content-Length: ${EVENT.length}`]
    client.send(`POST /collect/raw/page_views HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${EVENT}`)
    return codeOf((await client.answer())!)
  }
  for (const host of ['evil.example', 'evil.example:8080', '127.0.0.1.nip.io', '10.0.0.1', 'a b'])
    assert.is(await ask(`Host: ${host}`), '403 host-not-allowed', host)
  for (const origin of ['https://evil.example', 'null', 'http://localhost:3000'])
    assert.is(await ask('Host: localhost', `Origin: ${origin}`), '403 origin-not-allowed', origin)
  assert.is(fixture.buffer.stats().bytes, 0)
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '[::1]:8080'])
    assert.is(await ask(`Host: ${host}`), 202, host)
})

test('origins that are allowed, and ports that are open to other machines', () => {
  const request = (headers: object) => ({ headers }) as Parameters<typeof requireProgram>[0]
  const page = request({ host: 'localhost', origin: 'https://shop.example' })
  requireProgram(page, '127.0.0.1', ['https://shop.example'])
  const refused = (allowed: readonly string[]) => () => requireProgram(page, '127.0.0.1', allowed)
  for (const allowed of [[], ['https://other.example']])
    assert.throws(refused(allowed), /https:\/\/shop\.example is not in collect\.cors_origins/)
  requireProgram(request({ host: 'eider.example', origin: 'https://x.example' }), '0.0.0.0', [])
  requireProgram(request({}), '127.0.0.1', [])
})

test('the headers apart', () => {
  assert.is(hostName('[::1]:80'), '[::1]')
  assert.is(hostName('a/b'), null)
  assert.ok(answersTo('localhost', '127.0.0.1'))
  assert.not(answersTo('', '127.0.0.1'))
  assert.ok(takesOrigin(undefined, '127.0.0.1', []))
  assert.not(takesOrigin('https://a', 'localhost', ['https://b']))
})

test.run()
