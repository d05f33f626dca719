// The built service is told to stop while an export is under way.

import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'

const ROWS = 120_000
const files = {
  'eider.yml': 'name: stop\n',
  'models/mart/rows.sql': `-- @expose id\nSELECT i AS id, repeat('text ', 20) || i AS text FROM range(${ROWS}) AS r(i)`,
}

interface Export {
  readonly socket: Socket
  readonly received: () => string
  readonly closed: Promise<void>
  readonly isClosed: () => boolean
}

/** All rows in one answer, larger than what buffers take, of which nothing is read before `socket.resume()`. */
async function startExport({ url }: Running): Promise<Export> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `GET /odata/mart_rows HTTP/1.1\r\nHost: localhost\r\nPrefer: maxpagesize=${ROWS}\r\n\r\n`,
  )
  const chunks: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('data', (chunk: Buffer) => {
      socket.pause()
      chunks.push(chunk)
      resolve()
    })
  })
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  let isClosed = false
  const closed = new Promise<void>((resolve) =>
    socket.once('close', () => {
      isClosed = true
      resolve()
    }),
  )
  const received = () => Buffer.concat(chunks).toString('latin1')
  return { socket, received, closed, isClosed: () => isClosed }
}

/** The last chunk of a chunked body says that it is whole. */
const isWhole = (answer: string) => answer.endsWith(']}\r\n0\r\n\r\n')

async function published(): Promise<Workspace> {
  const space = await workspace(files)
  await space.ok(['run', '--quiet'])
  return space
}

const refused = async ({ url }: Running): Promise<boolean> =>
  fetch(url).then(
    () => false,
    () => true,
  )

test('an export that is read goes on to its end, and then the service ends with 0', async () => {
  await using space = await published()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const service = await space.start(['serve', '--port', '0', '--quiet'])
    const one = await startExport(service)
    const stopped = service.stop(signal)
    while (!(await refused(service))) await sleep(20)
    assert.not.ok(one.isClosed())
    one.socket.resume()
    assert.is(await stopped, 0, signal)
    await one.closed
    assert.ok(isWhole(one.received()), one.received().slice(-100))
    assert.match(one.received(), `"id":${ROWS - 1},`)
  }
})

test('an export that nobody reads is cut off after the time that docs state, and never looks whole', async () => {
  await using space = await published()
  const service = await space.start(['serve', '--port', '0', '--quiet'])
  const one = await startExport(service)
  const startedAt = Date.now()
  assert.is(await service.stop(), 0)
  const tookMs = Date.now() - startedAt
  assert.ok(tookMs > limits.shutdownMs * 0.9, `${tookMs} ms`)
  assert.ok(tookMs < limits.shutdownMs * 3, `${tookMs} ms`)
  one.socket.resume()
  await one.closed
  assert.not.ok(isWhole(one.received()))
})

test('a second signal does not wait', async () => {
  await using space = await published()
  const service = await space.start(['serve', '--port', '0', '--quiet'])
  const one = await startExport(service)
  void service.stop('SIGTERM')
  while (!(await refused(service))) await sleep(20)
  const startedAt = Date.now()
  assert.is(await service.stop('SIGINT'), 130)
  assert.ok(Date.now() - startedAt < limits.shutdownMs * 0.8)
  one.socket.resume()
  await one.closed
  assert.not.ok(isWhole(one.received()))
})

test('what a killed service has spilled goes with the next one', async () => {
  await using space = await workspace({ 'eider.yml': 'name: stop\n' })
  const places = async () => (await readdir(space.path('.eider/tmp'))).toSorted()
  const killed = await space.start(['serve', '--port', '0', '--quiet'])
  const [left = ''] = await places()
  await space.write(`.eider/tmp/${left}/snapshot/spilled.tmp`, 'rows')
  await using other = await space.start(['serve', '--port', '0', '--quiet'])
  const both = await places()
  assert.is(both.length, 2)
  assert.ok(both.includes(left), 'its owner lives')
  await killed.stop('SIGKILL')
  const next = await space.start(['serve', '--port', '0', '--quiet'])
  assert.not((await places()).includes(left))
  assert.is((await places()).length, 2)
  assert.is(await next.stop(), 0)
  assert.is(await other.stop(), 0)
  assert.equal(await places(), [])
})

test.run()
