// Events and requests as senders have them, beside flat events and what curl sends.

import { gzipSync } from 'node:zlib'
import { startDaemon } from '../../support/daemon-process.ts'
import { workspace } from '../../support/workspace.ts'
import type { Figure } from '../figure.ts'
import { EVENT } from '../ingest.ts'
import { postRequest } from '../load.ts'
import { type Measuring, type Shape, shapeFigure } from './shape-costs.ts'

const MODEL = `-- @kind: events
id BIGINT NOT NULL, user_name VARCHAR NOT NULL, action VARCHAR, amount DECIMAL(18,4), ok BOOLEAN, at TIMESTAMPTZ,
note VARCHAR, lat DOUBLE, props JSON`

const flat = EVENT
const without = flat.slice(0, -1)

const events: readonly (readonly [name: string, most: number, text: string])[] = [
  ['with small JSON', 1.5, `${without},"props":{"plan":"pro","n":42}}`],
  ['with escapes of PHP', 1.5, flat.replace('a remark', 'http:\\/\\/shop.example\\/a')],
  ['with escapes of Python', 1.5, flat.replace('a remark', 'sm\\u00f8rbr\\u00f8d \\ud83d\\ude00')],
  ['with a number for a text', 1.5, flat.replace('"user-000123@example.org"', '9007199254')],
  ['with a price for a text', 2, flat.replace('"user-000123@example.org"', '12.50')],
  [
    'with 17 digits for a text',
    2,
    flat.replace('"user-000123@example.org"', '90071992547409912').replace('"129.9500"', '129.95'),
  ],
  ['with a field that is no column', 1.5, `${without},"extra":"more than there is"}`],
  [
    'with long numbers',
    2,
    `${without.replace('9007199254', '900719925474099123')},"lat":59.91386912345678}`,
  ],
]

/** A track call as Segment sends it. */
const SAMPLE = `${without},"lat":59.9138688,"props":{"context":{"library":{"name":"analytics.js","version":"2.11.1"},"page":{"path":"\\/caf\\u00e9","url":"https:\\/\\/shop.example\\/caf\\u00e9?utm=x","title":"Caf\\u00e9"},"userAgent":"Mozilla\\/5.0 (Macintosh; Intel Mac OS X 10_15_7)","locale":"nb-NO"},"revenue":129.95,"products":[{"sku":"A-1","quantity":2,"price":49.5},{"sku":"B-7","quantity":1,"price":30.95}]},"messageId":"ajs-022bb90c","anonymousId":"507f191e810c19729de860ea"}`

const BATCH = 1_000

const batchOf = (text: string): Shape => {
  const body = Array.from({ length: BATCH }, () => text).join('\n')
  const request = postRequest('/collect/raw/events/batch', body, 'application/x-ndjson')
  return { request, status: 202, each: Buffer.byteLength(body) }
}

const zipped = (text: string): Shape => {
  const body = Array.from({ length: BATCH }, () => text).join('\n')
  const type = 'application/x-ndjson'
  const request = postRequest(
    '/collect/raw/events/batch',
    gzipSync(body),
    type,
    'Content-Encoding: gzip\r\n',
  )
  return { request, status: 202, each: Buffer.byteLength(body) }
}

const single = (headers = '', path = '/collect/raw/events'): Shape => ({
  request: postRequest(path, flat, 'application/json', headers),
  status: 202,
})

const chunked = `POST /collect/raw/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${Buffer.byteLength(flat).toString(16)}\r\n${flat}\r\n0\r\n\r\n`

const SECRET = 'known-to-both-of-them'

/** As GitHub delivers one, on a connection that it keeps. */
const delivery: Shape = {
  request: `POST /collect/raw/deliveries HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: GitHub-Hookshot/0a1b2c3\r\nAccept: */*\r\nX-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-{key}\r\nX-GitHub-Event: push\r\nX-GitHub-Hook-ID: 292430182\r\nX-Hub-Signature: sha1=7d38cdd689735b008b3c702edd92eea2{key}\r\nContent-Type: application/json\r\n\r\n${flat.replace('9007199254', '{key}')}`,
  status: 202,
  secret: SECRET,
  keys: 1_000_000,
}

const changing = { keys: 1_000_000 }
const requests: readonly (readonly [name: string, Shape])[] = [
  ['of a browser', single('Origin: https://shop.example\r\nSec-Fetch-Mode: cors\r\n')],
  ['in chunks', { request: chunked, status: 202 }],
  ['with a query in its URL', single('', '/collect/raw/events?source=web')],
  ['with an Idempotency-Key', { ...single('Idempotency-Key: "order-{key}"\r\n'), ...changing }],
  [
    'with a traceparent',
    { ...single('traceparent: 00-{key}-00f067aa0ba902b7-01\r\n'), ...changing },
  ],
  ['of a webhook', delivery],
]

/** Each has a buffer of its own: nobody takes its events, and one for all would fill up. */
async function measured<T>(quick: boolean, figure: (measuring: Measuring) => Promise<T>) {
  await using space = await workspace({
    'eider.yml': `name: bench
collect:
  cors_origins: [https://shop.example]
  webhooks: [{name: github, target: raw.deliveries, signature: github, secret: '\${WEBHOOK_SECRET}'}]
`,
    '.env': `WEBHOOK_SECRET=${SECRET}\n`,
    'models/raw/events.sql': MODEL,
    'models/raw/deliveries.sql': MODEL,
  })
  await using daemon = await startDaemon(space, '--quiet')
  return await figure({ pid: daemon.pid, port: Number(new URL(daemon.url).port), quick })
}

export async function* eventShapes(quick: boolean): AsyncGenerator<Figure, void> {
  const best = batchOf(flat)
  for (const [name, most, text] of events)
    yield await measured(quick, (measuring) =>
      shapeFigure(
        `events ${name} / flat ones, per byte`,
        { at: 'most', ratio: most },
        [measuring, batchOf(text)],
        [measuring, best],
      ),
    )
  yield await measured(quick, (measuring) =>
    shapeFigure(
      'events in gzip / plain ones, per byte',
      { at: 'most', ratio: 1.4 },
      [measuring, zipped(flat)],
      [measuring, best],
    ),
  )
  yield await measured(quick, (measuring) =>
    shapeFigure(
      'events as Segment sends them: bytes for the processor time of flat ones',
      { at: 'least', ratio: 0.6 },
      [measuring, batchOf(SAMPLE)],
      [measuring, best],
    ),
  )
  for (const [name, shape] of requests)
    yield await measured(quick, (measuring) =>
      shapeFigure(
        `an event ${name} / of curl`,
        { at: 'most', ratio: 1.4 },
        [measuring, shape],
        [measuring, single()],
      ),
    )
}
