// Requests whose end two servers could see in different places, or that they could take for requests to different hosts,
// from different senders, in different formats or with different keys: no port takes one, and none reads what comes after it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RawClient } from '../support/raw-client.ts'
import { workspace } from '../support/workspace.ts'

const HEADS = [
  'HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: identity, chunked',
  'HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: gzip, chunked',
  'HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked',
  'HTTP/2.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked',
  'HTTP/2.0\r\nHost: 127.0.0.1\r\nContent-Length: BYTES',
  'HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\nContent-Length: BYTES',
  'HTTP/1.1\r\nContent-Length: BYTES',
  'HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: BYTES\r\nContent-Length: 1',
  ...[
    'Idempotency-Key: a',
    'idempotency-key: b',
    'Authorization: Bearer a',
    'Content-Type: application/json',
  ].map(
    (line) =>
      `HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: BYTES\r\n${line}\r\n${line.replace(/.$/, 'c')}`,
  ),
]
const EVENT = '{"id":1}'
const CHUNKED = `${EVENT.length.toString(16)}\r\n${EVENT}\r\n0\r\n\r\n`

for (const settings of ['', 'collect:\n  access_log: true\n'])
  test(`an unclear head is refused on every port${settings === '' ? '' : ', without the fast front too'}`, async () => {
    await using space = await workspace({
      'eider.yml': `name: shop\n${settings}`,
      'models/raw/orders.sql': '-- @kind: events\nid INTEGER NOT NULL',
      'models/mart/orders.sql': '-- @expose id\nSELECT 1 AS id',
    })
    await space.ok(['run'])
    await using daemon = await space.start(['collect', 'daemon', '--port', '0', '--quiet'])
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    for (const [url, path] of [
      [daemon.url, '/collect/raw/orders'],
      [daemon.adminUrl!, '/flush/raw/orders/claim'],
      [service.url, '/odata/$batch'],
    ] as const)
      for (const head of HEADS) {
        const what = `${path} ${head}`
        await using client = await RawClient.open(url)
        const body = head.includes('BYTES') ? EVENT : CHUNKED
        const first = `POST ${path} ${head.replace('BYTES', `${EVENT.length}`)}`
        client.send(`${first}\r\nContent-Type: application/json\r\n\r\n${body}`)
        client.send('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
        const answer = await client.answer()
        assert.is(answer?.status, 400, what)
        assert.is(
          (JSON.parse(answer!.body) as { error: { code: string } }).error.code,
          'bad-request',
        )
        assert.is(await client.answer(), null, what)
        assert.ok(await client.closes(), what)
      }
    await daemon.stop()
  })

test.run()
