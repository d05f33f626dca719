// What is learned from which packet, and what is kept of it, on a connection where the parser is played by the test. It
// takes everything for one request: a parser of another version of Node may be more lenient than the one that runs here.

import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { knownHeads } from '../../src/http/known-heads/known-heads.ts'

type Learn = NonNullable<ReturnType<ReturnType<typeof knownHeads>['offer']>>
type Headers = Readonly<Record<string, string>>

class PlayedSocket extends EventEmitter {
  readonly destroyed = false
}

/** What is offered of the packet, each time that it goes to the parser. */
async function offeredFor(packet: string, times: number, headers: Headers = {}) {
  const repeats = knownHeads(['x-request-id'])
  const socket = new PlayedSocket()
  const request = { socket: socket as unknown as Socket, headers } as unknown as IncomingMessage
  const offered: (Learn | null)[] = []
  socket.on('data', () => offered.push(repeats.offer(request)))
  repeats.join(request.socket, () => true)
  const send = () => socket.emit('data', Buffer.from(packet, 'latin1'))
  // The first one brings the connection into view, the second is the first that is seen whole.
  send()
  await new Promise((resolve) => setImmediate(resolve))
  send()
  for (let i = 0; i < times; i++) send()
  return offered.slice(2).map((learn) => learn !== null)
}

const head = (...lines: readonly string[]) =>
  `GET /odata/shop_numbers HTTP/1.1\r\n${['Host: localhost', ...lines].join('\r\n')}\r\n\r\n`

test('a head that comes again is learned', async () => {
  assert.equal(await offeredFor(head(), 2), [false, true])
  assert.equal(await offeredFor(head('X-Request-Id: 1', 'Accept: */*'), 2), [false, true])
})

test('a packet that may be several requests to a lenient parser is never learned', async () => {
  const second = 'GET /odata/shop_letters HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const posted = 'POST /odata/$batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 57\r\n\r\n'
  for (const end of ['\r\n\n', '\n\n', '\r\r', '\n\r\n', '\r\n\r'])
    for (const behind of [second, posted]) {
      const packet = `GET /odata/shop_numbers HTTP/1.1\r\nHost: localhost${end}${behind}`
      assert.equal(await offeredFor(packet, 3), [false, false, false], JSON.stringify(packet))
    }
  assert.equal(await offeredFor(head('X: 1\nY: 2'), 3), [false, false, false])
})

test('what is more than its head, or asks for more than an answer, is never learned', async () => {
  for (const name of ['content-length', 'transfer-encoding', 'expect', 'upgrade', 'range'])
    assert.equal(await offeredFor(head(), 3, { [name]: '1' }), [false, false, false], name)
  // Also where the parser is silent about it.
  assert.equal(await offeredFor(head('Content-Length: 4'), 3), [false, false, false])
})

test.run()
