import { copyFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { takeBufferLock } from '../../src/buffer/lock.ts'
import { EnvironmentError } from '../../src/core/failures.ts'
import { createLogger } from '../../src/core/logger.ts'
import { takeProcessLock } from '../../src/files/process-lock.ts'
import { clockSetBy } from '../support/clock-set-by.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { failure } from '../support/failure.ts'
import { until } from '../support/until.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const WAIT_MS = 5_000

test('a run is waited for, and the log says so once', async () => {
  await using directory = await temporaryDirectory()
  const lockFile = join(directory.path, 'x.lock')
  const run = await takeBufferLock({ lockFile, role: 'run' }, silentLogger)
  const events: string[] = []
  const logger = createLogger(({ event, fields }) =>
    events.push(`${event} ${String(fields['role'])}`),
  )
  const daemon = takeBufferLock({ lockFile, role: 'daemon', waitMs: WAIT_MS }, logger)
  await until(() => events.length > 0)
  // Time for more looks at the lock, of which the log says nothing.
  await new Promise((resolve) => setTimeout(resolve, 350))
  await run[Symbol.asyncDispose]()
  await using _held = await daemon
  assert.equal(events, ['waiting-for-buffer run'])
})

test('a daemon is not waited for; a run for no longer than asked; a stop ends the waiting', async () => {
  await using directory = await temporaryDirectory()
  const lockFile = join(directory.path, 'x.lock')
  const refusedAfter = async (waitMs: number) => {
    const startedMs = performance.now()
    const error = await failure(() =>
      takeBufferLock({ lockFile, role: 'daemon', waitMs }, silentLogger),
    )
    assert.is((error as EnvironmentError).code, 'buffer-locked')
    assert.match((error as EnvironmentError).message, `process ${process.pid}`)
    return performance.now() - startedMs
  }
  {
    await using _daemon = await takeBufferLock({ lockFile, role: 'daemon' }, silentLogger)
    assert.ok((await refusedAfter(WAIT_MS)) < 1_000)
  }
  await using _run = await takeBufferLock({ lockFile, role: 'run' }, silentLogger)
  assert.ok((await refusedAfter(300)) >= 300)
  const signal = AbortSignal.timeout(100)
  const stopped = await failure(() =>
    takeBufferLock({ lockFile, waitMs: WAIT_MS, signal }, silentLogger),
  )
  assert.is((stopped as Error).name, 'AbortError')
})

test('a run is waited for however the clock is set meanwhile', async () => {
  await using directory = await temporaryDirectory()
  const lockFile = join(directory.path, 'x.lock')
  const run = await takeBufferLock({ lockFile, role: 'run' }, silentLogger)
  const daemon = takeBufferLock({ lockFile, role: 'daemon', waitMs: WAIT_MS }, silentLogger)
  const taken = failure(() => daemon)
  using _clock = clockSetBy(3_600_000)
  await Promise.race([taken, sleep(350)])
  await run[Symbol.asyncDispose]()
  assert.is(await taken, null)
  await (await daemon)[Symbol.asyncDispose]()
})

test('a run that takes over from a killed daemon is waited for by the next daemon', async () => {
  await using directory = await temporaryDirectory()
  const lockFile = join(directory.path, 'x.lock')
  const dead = JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), role: 'daemon' })
  await writeFile(lockFile, dead)
  const right = await takeProcessLock(`${lockFile}.${crc32(dead)}`)
  const daemon = takeBufferLock({ lockFile, role: 'daemon', waitMs: WAIT_MS }, silentLogger)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await rm(lockFile)
  const run = await takeBufferLock({ lockFile, role: 'run' }, silentLogger)
  await right[Symbol.asyncDispose]()
  await new Promise((resolve) => setTimeout(resolve, 100))
  await run[Symbol.asyncDispose]()
  await using _held = await daemon
})

test('a copy of a directory whose buffer is in use elsewhere says that it is one', async () => {
  await using directory = await temporaryDirectory()
  const [here, copy] = ['x.lock', 'copy.lock'].map((name) => join(directory.path, name))
  await using _daemon = await takeBufferLock({ lockFile: here!, role: 'daemon' }, silentLogger)
  await copyFile(here!, copy!)
  const refusalOf = (lockFile: string) =>
    failure(() => takeBufferLock({ lockFile }, silentLogger)) as Promise<EnvironmentError>
  assert.is((await refusalOf(here!)).code, 'buffer-locked')
  const { code, hint } = await refusalOf(copy!)
  assert.equal([code, hint], ['buffer-copied', `to work on the copy, delete ${copy}`])
})

test.run()
