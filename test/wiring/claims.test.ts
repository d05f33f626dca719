import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EventBuffer } from '../../src/buffer/buffer.ts'
import { AdminClient } from '../../src/collect/admin/admin-client.ts'
import { CollectDaemon } from '../../src/collect/daemon.ts'
import { openClaims } from '../../src/wiring/claims.ts'
import { EnvironmentError } from '../../src/core/failures.ts'
import { limits } from '../../src/core/limits.ts'
import type { Project } from '../../src/project/project.ts'
import { clockSetBy } from '../support/clock-set-by.ts'
import { freePort } from '../support/free-port.ts'
import { silentLogger } from '../support/silent-logger.ts'

/** A project whose buffer a daemon has that does not listen yet. */
async function held() {
  const dir = await mkdtemp(join(tmpdir(), 'eider-claims-'))
  const adminPort = await freePort()
  const paths = { buffer: join(dir, 'buffer'), collectLock: join(dir, 'collect.lock') }
  const settings = {
    'collect.admin_port': adminPort,
    'collect.admin_timeout_ms': 10_000,
    'collect.max_buffer_bytes': 1e9,
    'collect.idempotency_hours': 1,
    'collect.idempotency_keys': 10,
  }
  const buffer = await EventBuffer.open({
    dir: paths.buffer,
    lockFile: paths.collectLock,
    role: 'daemon',
    maxBufferBytes: 1e9,
    logger: silentLogger,
  })
  return {
    adminPort,
    buffer,
    bufferDir: paths.buffer,
    project: { paths, settings } as Project,
    async [Symbol.asyncDispose]() {
      await buffer[Symbol.asyncDispose]()
      await rm(dir, { recursive: true })
    },
  }
}

test('a run waits for a daemon that is starting', async () => {
  await using space = await held()
  const opening = openClaims(space.project, silentLogger)
  await Promise.race([opening, sleep(300)])
  await using _daemon = await CollectDaemon.open({
    buffer: space.buffer,
    bufferDir: space.bufferDir,
    targets: new Map(),
    host: '127.0.0.1',
    port: 0,
    adminPort: space.adminPort,
    token: null,
    allowAnonymous: false,
    maxEventBytes: limits.eventBytes,
    maxBatchBytes: limits.batchBytes,
    logger: silentLogger,
  })
  assert.instance(await opening, AdminClient)
})

test('however the clock is set meanwhile', async () => {
  await using space = await held()
  const opening = openClaims(space.project, silentLogger)
  await Promise.race([opening, sleep(300)])
  using _clock = clockSetBy(3_600_000)
  await Promise.race([opening, sleep(300)])
  await space.buffer[Symbol.asyncDispose]()
  await using claims = await opening
  assert.instance(claims, EventBuffer)
})

test('a run takes the buffer over from a daemon that is stopping', async () => {
  await using space = await held()
  const opening = openClaims(space.project, silentLogger)
  await Promise.race([opening, sleep(300)])
  await space.buffer[Symbol.asyncDispose]()
  await using claims = await opening
  assert.instance(claims, EventBuffer)
})

test('a daemon that never listens is unreachable', async () => {
  await using space = await held()
  const error: unknown = await openClaims(space.project, silentLogger).catch(
    (reason: unknown) => reason,
  )
  assert.instance(error, EnvironmentError)
  assert.is((error as EnvironmentError).code, 'daemon-unreachable')
})

test.run()
