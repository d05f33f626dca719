// The fast front answers as node:http does. A daemon that logs each request has no front, so two daemons get the same
// bytes, in the same pieces, and must say the same.
//
// EIDER_REQUESTS=1000000 sends so many, and EIDER_REQUESTS_SEED=2 begins elsewhere.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { SignedSender } from '../../src/access/credential.ts'
import { limits } from '../../src/core/limits.ts'
import { say, shown } from '../support/raw-exchange.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type DaemonOptions, openDaemon } from '../support/collect-daemon.ts'
import {
  ODD_COUNT,
  oddRequest,
  plainRequest,
  SECRET,
  splitAtRandom,
} from '../support/front-requests.ts'

const SEED = 20260101 * Number(process.env['EIDER_REQUESTS_SEED'] ?? 1)
const REQUESTS = process.env['EIDER_REQUESTS']
/** Of a connection, before one that is odd. */
const MOST_PLAIN = REQUESTS === undefined ? 4 : 40
const SCRIPTS =
  REQUESTS === undefined ? 2 * ODD_COUNT : Math.ceil(Number(REQUESTS) / 2 / (MOST_PLAIN / 2 + 1))
const AT_ONCE = 8
/** A client that still sends when the daemon closes may lose the answer, from either of the two. */
const ATTEMPTS = 5

/** A connection: some plain requests, and an odd one behind them. */
function script(number: number): readonly Buffer[] {
  const random = seededRandom(SEED + number)
  const plain = Array.from({ length: Math.floor(random() * (MOST_PLAIN + 1)) }, () =>
    plainRequest(random),
  )
  return splitAtRandom(Buffer.concat([...plain, oddRequest(random, number)]), random)
}

async function compare(options: DaemonOptions): Promise<number> {
  await using fast = await openDaemon(options)
  await using plain = await openDaemon({ ...options, accessLog: true })
  let accepted = 0
  const one = async (number: number) => {
    const pieces = script(number)
    for (let attempt = 1; ; attempt++) {
      const [ours, theirs] = await Promise.all([
        say(fast.daemon.url, pieces),
        say(plain.daemon.url, pieces),
      ])
      const isLost = ours.isReset || theirs.isReset
      if (isLost && attempt < ATTEMPTS && ours.text !== theirs.text) continue
      const sent = Buffer.concat(pieces).toString('latin1')
      const [left, right] = [ours, theirs].map(({ text }) => shown(text, sent.length))
      assert.equal(left, right, JSON.stringify(sent.slice(0, 2_000)))
      accepted += [...ours.text.matchAll(/\{"accepted":\d/g)].length
      return
    }
  }
  for (let at = 0; at < SCRIPTS; at += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => one(at + index)))
  return accepted
}

test('the same answers as node:http, without a token', async () => {
  assert.ok((await compare({ maxEventBytes: 100_000 })) > SCRIPTS / 2)
})

test('the same answers as node:http, with a token and origins of pages', async () => {
  const corsOrigins = ['https://shop.example']
  assert.ok((await compare({ token: 'secret', corsOrigins })) > SCRIPTS / 20)
})

test('the same answers as node:http, of a service that signs', async () => {
  const sender: SignedSender = {
    name: 'github',
    target: 'raw.page_views',
    shape: 'github',
    secrets: [SECRET],
    toleranceMs: limits.signatureToleranceMs,
    source: { path: 'eider.yml', text: '' },
    span: { start: 0, end: 0 },
  }
  assert.ok((await compare({ signed: [sender] })) > SCRIPTS / 20)
})

test('nothing follows the last answer of a connection', async () => {
  const post =
    'POST /collect/raw/page_views HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  const good = `${post}Content-Length: 18\r\n\r\n{"event_name":"a"}`
  // A chunk of four bytes that says three, and more behind it.
  const bad = [`${post}Transfer-Encoding: chunked\r\n\r\n3\r\na`, 'bcd\r\n0\r\n\r\n', good]
  const pieces = [good + good + bad[0]!, ...bad.slice(1)].map((piece) => Buffer.from(piece))
  for (const accessLog of [false, true]) {
    await using opened = await openDaemon({ accessLog })
    for (let i = 0; i < 20; i++) {
      const { text } = await say(opened.daemon.url, pieces)
      const lines = text.match(/HTTP\/1\.1 \d+/g)
      assert.equal(lines, ['HTTP/1.1 202', 'HTTP/1.1 202', 'HTTP/1.1 400'])
    }
  }
})

test.run()
