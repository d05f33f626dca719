import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { takeBufferLock } from '../../src/buffer/lock.ts'
import { EnvironmentError } from '../../src/core/failures.ts'
import { createLogger } from '../../src/core/logger.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { failure } from '../support/failure.ts'
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

test.run()
