// A query that fails after the first bytes of its answer: the client must never take what it got for all of it.

import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Answer, type Served, serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'

const ROWS = 60_000
const numbers: Table = {
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT CAST(i AS INTEGER) AS id, 'a name of some length ' || i AS name FROM range(${sql.value(ROWS)}) AS r(i)`,
}

/** The row whose `part` is a division by zero: around ends of the 2,048 rows that the engine makes at a time. */
const failingRows = [8_191, 8_192, 8_193, 12_345, 30_000, 57_343, 59_391, ROWS - 1]
const target = (row: number, more = '') =>
  `shop_numbers?$compute=1%20div%20(id%20sub%20${row})%20as%20part${more}`
const whole = { prefer: `maxpagesize=${ROWS}` }

const decoders = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync }
type Coding = keyof typeof decoders
const codings = Object.keys(decoders) as Coding[]

/** Throws when the bytes are no whole JSON in that coding. */
const readJson = ({ bytes, headers }: Pick<Answer, 'bytes' | 'headers'>): unknown =>
  JSON.parse(
    decoders[(headers['content-encoding'] ?? 'identity') as Coding](bytes).toString('utf8'),
  )

function requireBroken(answer: Answer, what: string): void {
  assert.is(answer.status, 200, what)
  assert.ok(answer.aborted, `${what} ended as if it were whole`)
  assert.ok(answer.bytes.length > 0, what)
  assert.throws(() => readJson(answer), undefined, what)
}

test('JSON is cut off wherever the query fails, and plain, gzip or br', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers])
  for (const coding of codings) {
    const headers = { ...whole, 'accept-encoding': coding }
    const sound = await served.get(target(-1), headers)
    assert.is((readJson(sound) as { value: unknown[] }).value.length, ROWS)
    for (const row of failingRows)
      requireBroken(await served.get(target(row), headers), `${coding}, row ${row}`)
  }
})

test('other formats, and rows that are sorted, filtered or counted, are cut off too', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers])
  const filter = '&$filter=part%20ne%205'
  for (const row of failingRows.slice(-3))
    for (const more of ['&$format=csv', '&$format=arrow', '&$count=true', filter, '&$skip=1']) {
      const answer = await served.get(target(row, more), whole)
      // The rows of a filter are counted first, and the count fails; a filter is also looked at some rows ahead.
      if (answer.status === 400) assert.is(answer.json.error.code, 'arithmetic-error')
      else requireBroken(answer, `${more}, row ${row}`)
    }
  const sorted = await served.get(target(30_000, '&$orderby=part'), whole)
  assert.is(sorted.status, 400)
})

test('to HTTP/1.0, whose answers end with their connection, it is reset', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers])
  const sound = await askOldStyle(served, target(-1, '&$format=csv'), 'identity')
  assert.is(sound.error, null)
  assert.is(sound.lines, ROWS + 1)
  for (const coding of codings)
    for (const more of ['', '&$format=csv']) {
      const { error } = await askOldStyle(served, target(30_000, more), coding)
      assert.is(error, 'ECONNRESET', `${coding} ${more}`)
    }
})

test('within a batch it is a part with its status, and the batch is whole', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers])
  const requests = [5, 4_096, 9_999].map((row) => ({
    id: String(row),
    method: 'GET',
    url: target(row),
    headers: whole,
  }))
  const after = { id: 'after', method: 'GET', url: 'shop_numbers/$count' }
  const answer = await served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'odata.continue-on-error' },
    body: JSON.stringify({ requests: [...requests, after] }),
  })
  assert.is(answer.aborted, false)
  const statuses = answer.json.responses.map((part: { status: number }) => part.status)
  assert.equal(statuses, [400, 400, 400, 200])
})

/** The lines of the body, and the error that the connection ended with. */
async function askOldStyle(served: Served, path: string, coding: Coding) {
  const { hostname, port } = new URL(served.url)
  await using resources = new Resources()
  const socket = connect(Number(port), hostname)
  resources.defer(() => void socket.destroy())
  let error: string | null = null
  let text = ''
  socket.on('error', ({ code }: NodeJS.ErrnoException) => (error = code ?? 'unknown'))
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')))
  const lines = [`Prefer: ${whole.prefer}`, `Accept-Encoding: ${coding}`, 'Host: localhost']
  socket.write(`GET /odata/${path} HTTP/1.0\r\n${lines.join('\r\n')}\r\n\r\n`)
  await new Promise((resolve) => socket.once('close', resolve))
  assert.match(text, /^HTTP\/1\.1 200 OK/)
  const body = text.slice(text.indexOf('\r\n\r\n') + 4)
  return { lines: body.split('\r\n').length - 1, error: error as string | null }
}

test.run()
