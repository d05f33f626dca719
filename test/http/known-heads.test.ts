// What is learned from which packet, and what is kept of it, on a connection where the parser is played by the test. It
// takes everything for one request: a parser of another version of Node may be more lenient than the one that runs here.

import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { FORMS } from '../../src/http/known-heads/known-heads-limits.ts'
import { knownHeads } from '../../src/http/known-heads/known-heads.ts'

type Learn = NonNullable<ReturnType<ReturnType<typeof knownHeads>['offer']>>
type Headers = Readonly<Record<string, string>>

class PlayedSocket extends EventEmitter {
  readonly destroyed = false
  readonly written: { readonly bytes: Buffer; readonly done: () => void }[] = []
  readonly timeouts: number[] = []
  writableLength = 0

  write(bytes: Buffer, done: () => void): void {
    this.written.push({ bytes, done })
  }

  setTimeout(ms: number): void {
    this.timeouts.push(ms)
  }
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

const answeredHead =
  'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n'
/** What it takes of an answer that node:http has sent. */
const answered = { statusCode: 200, _header: answeredHead } as unknown as ServerResponse

/** A connection on which each head is learned that is offered a second time, and those that went to the parser. */
async function learning() {
  const repeats = knownHeads([])
  const socket = new PlayedSocket()
  const request = { socket, headers: {} } as unknown as IncomingMessage
  const state = { isFree: true, parsed: 0 }
  socket.on('data', () => {
    state.parsed++
    repeats.offer(request)?.(answered, Buffer.from('body'), () => () => {})
  })
  repeats.join(request.socket, () => state.isFree)
  const send = (packet: string) => socket.emit('data', Buffer.from(packet, 'latin1'))
  send(head())
  await new Promise((resolve) => setImmediate(resolve))
  send(head())
  return { socket, state, send }
}

test('the oldest answer makes room for a new one, and all others stay', async () => {
  const { send, state } = await learning()
  const headOf = (i: number) => head(`X: ${i}`)
  for (let i = 0; i <= FORMS; i++) {
    send(headOf(i))
    send(headOf(i))
    // Heads in a row that are not known end it.
    send(headOf(i))
  }
  state.parsed = 0
  for (let i = 1; i <= FORMS; i++) send(headOf(i))
  assert.is(state.parsed, 0)
  send(headOf(0))
  assert.is(state.parsed, 1)
})

test('an answer has the date of its second, and its body once', async () => {
  const { send, socket } = await learning()
  const { now } = Date
  try {
    for (const second of [1, 1, 1, 1, 2, 3]) {
      Date.now = () => second * 1_000
      send(head())
    }
  } finally {
    Date.now = now
  }
  const texts = socket.written.map(({ bytes }) => bytes.toString('latin1'))
  const expected = ['01', '02', '03'].map(
    (second) => `${answeredHead.replace('00:00:00', `00:00:${second}`)}body`,
  )
  assert.equal(texts.slice(-3), expected)
})

test('an answer that a slow client has taken leaves the time of a later request alone', async () => {
  const { send, socket, state } = await learning()
  for (let i = 0; i < 3; i++) send(head())
  for (const isFree of [true, false]) {
    state.isFree = true
    socket.writableLength = 1
    socket.timeouts.length = 0
    send(head())
    state.isFree = isFree
    socket.writableLength = 0
    socket.written.at(-1)!.done()
    const expected = [limits.socketIdleMs, ...(isFree ? [limits.keepAliveTimeoutMs] : [])]
    assert.equal(socket.timeouts, expected)
  }
})

test.run()
