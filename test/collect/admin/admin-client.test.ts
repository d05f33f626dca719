import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ClaimTargetError, UnknownClaimError } from '../../../src/buffer/errors.ts'
import type { Claim } from '../../../src/buffer/claim-source.ts'
import { AdminClient } from '../../../src/collect/admin/admin-client.ts'
import { SERVICE } from '../../../src/collect/admin/admin-protocol.ts'
import { EnvironmentError } from '../../../src/core/failures.ts'
import type { ModelName } from '../../../src/core/names.ts'
import { HttpServer } from '../../../src/http/server.ts'
import { silentLogger } from '../../support/silent-logger.ts'
import { type OpenDaemon, openDaemon, PAGE_VIEWS } from '../../support/collect-daemon.ts'
import { post } from '../../support/json-requests.ts'

const TARGET = PAGE_VIEWS.name
const OTHER = 'raw.other' as ModelName

function connect(port: number, bufferDir: string, timeoutMs = 5_000) {
  return AdminClient.connect({ port, bufferDir, logger: silentLogger, timeoutMs })
}

const adminPort = ({ daemon }: OpenDaemon) => Number(new URL(daemon.adminUrl).port)

test('a client over HTTP gives what the buffer gives', async () => {
  await using fixture = await openDaemon()
  const { buffer, daemon } = fixture
  await using client = await connect(adminPort(fixture), fixture.bufferDir)
  assert.ok(client)
  assert.equal(await client.targets(), [])
  assert.is(await client.claim(TARGET), null)
  await post(`${daemon.url}/collect/raw/page_views`, '{"event_name":"a"}')
  assert.equal(await client.targets(), [TARGET])
  const claim = (await client.claim(TARGET))!
  const [listed] = await buffer.inflight(TARGET)
  for (const [name, value] of Object.entries(claim))
    assert.equal(value, listed![name as keyof Claim], name)
  assert.equal(await client.inflight(TARGET), [claim])
  assert.is(await client.nack(claim), 1)
  assert.is(await client.nack(claim), 0)
  assert.equal(await client.inflight(TARGET), [])
  assert.is((await client.claim(TARGET))!.id, claim.id)
  assert.is(await client.ack(claim), 1)
  assert.is(await client.ack(claim), 0)
  assert.equal(await client.targets(), [])
})

test('a target that the daemon does not know has nothing to flush', async () => {
  await using fixture = await openDaemon()
  await using client = await connect(adminPort(fixture), fixture.bufferDir)
  assert.is(await client!.claim(OTHER), null)
  assert.equal(await client!.inflight(OTHER), [])
})

test('claims of another target and claims that never were', async () => {
  await using fixture = await openDaemon()
  await using client = await connect(adminPort(fixture), fixture.bufferDir)
  const failure = (id: string) =>
    client!.ack({ id, target: TARGET }).catch((error: unknown) => error)
  assert.instance(await failure(`${TARGET}/1`), UnknownClaimError)
  assert.instance(await failure(`${OTHER}/1`), ClaimTargetError)
})

test('nobody on the port: no client', async () => {
  const fixture = await openDaemon()
  const port = adminPort(fixture)
  await fixture[Symbol.asyncDispose]()
  assert.is(await connect(port, '/nowhere'), null)
})

test('a listener that never answers', async () => {
  await using listener = await listen(() => {})
  await fails(connect(listener.port, '/nowhere', 200), 'daemon-silent')
})

test('a daemon that falls silent is waited for once', async () => {
  await using fixture = await openDaemon()
  const { bufferDir } = fixture
  let requests = 0
  await using listener = await listen((socket) => {
    if (++requests > 1) return
    const body = JSON.stringify({ service: SERVICE, buffer: bufferDir })
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  await using client = await connect(listener.port, bufferDir, 200)
  for (let i = 0; i < 3; i++) await fails(client!.claim(TARGET), 'daemon-silent')
  assert.is(requests, 2)
})

test('a listener that is something else', async () => {
  const page = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    handle: (_, response) => void response.end('<html>'),
    logger: silentLogger,
  })
  await fails(connect(page.port, '/nowhere'), 'not-a-daemon')
  await page[Symbol.asyncDispose]()
  await using talker = await listen((socket) => socket.end('220 smtp.example.org\r\n'))
  await fails(connect(talker.port, '/nowhere'), 'not-a-daemon')
  await using fixture = await openDaemon()
  const publicPort = Number(new URL(fixture.daemon.url).port)
  await fails(connect(publicPort, fixture.bufferDir), 'not-a-daemon')
})

test('the daemon of another project', async () => {
  await using fixture = await openDaemon()
  const dir = await mkdtemp(join(tmpdir(), 'eider-other-'))
  await fails(connect(adminPort(fixture), dir), 'daemon-of-another-project')
  await rm(dir, { recursive: true })
})

test('a buffer that was removed beside its daemon', async () => {
  await using fixture = await openDaemon()
  await rm(fixture.bufferDir, { recursive: true })
  await fails(connect(adminPort(fixture), fixture.bufferDir), 'buffer-unusable')
})

test('a daemon that goes away between two calls', async () => {
  const fixture = await openDaemon()
  await using client = await connect(adminPort(fixture), fixture.bufferDir)
  await fixture[Symbol.asyncDispose]()
  await fails(client!.claim(TARGET), 'daemon-gone')
})

async function fails(promise: Promise<unknown>, code: string): Promise<void> {
  const error = await promise.then(
    () => null,
    (cause: unknown) => cause,
  )
  assert.instance(error, EnvironmentError)
  assert.is((error as EnvironmentError).code, code)
}

async function listen(onConnection: (socket: Socket) => void) {
  const server = createServer(onConnection)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}

test.run()
