import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { takeRunLock } from '../../src/pipeline/run-lock.ts'

const never = new AbortController().signal

async function lockFile() {
  const dir = await mkdtemp(join(tmpdir(), 'eider-lock-'))
  return {
    path: join(dir, 'run.lock'),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (reason: unknown) => reason,
  )

test('a second run says who is at work, and what to do', async () => {
  await using space = await lockFile()
  await using _held = await takeRunLock(space.path, 0, never)
  const error = await failureOf(takeRunLock(space.path, 150, never))
  assert.instance(error, EnvironmentError)
  const { code, message, hint } = error as EnvironmentError
  assert.is(code, 'run-locked')
  assert.match(message, new RegExp(`process ${process.pid} `))
  assert.match(hint ?? '', /--wait/)
})

test('a holder on another machine: says which file to delete when that is gone', async () => {
  await using space = await lockFile()
  await using _made = await takeRunLock(space.path, 0, never)
  const other = { pid: 1, host: 'elsewhere', startedAt: 'then', process: null }
  await writeFile(space.path, JSON.stringify(other))
  const { message, hint } = (await failureOf(takeRunLock(space.path, 0, never))) as EnvironmentError
  assert.match(message, /process 1 on elsewhere/)
  assert.match(hint ?? '', /delete .*run\.lock/)
})

test('a holder in another container: likewise', async () => {
  await using space = await lockFile()
  await using _made = await takeRunLock(space.path, 0, never)
  const other = { pid: 1, host: hostname(), pidNamespace: 'pid:[1]' }
  await writeFile(space.path, JSON.stringify(other))
  const { hint } = (await failureOf(takeRunLock(space.path, 0, never))) as EnvironmentError
  assert.match(hint ?? '', /if that container no longer runs, delete .*run\.lock/)
})

test('who waits gets the lock when it is released; never two of them', async () => {
  await using space = await lockFile()
  let holders = 0
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await using _held = await takeRunLock(space.path, 20_000, never)
      assert.is(++holders, 1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      holders--
    }),
  )
})

test('an abort ends the wait', async () => {
  await using space = await lockFile()
  await using _held = await takeRunLock(space.path, 0, never)
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 50)
  const error = await failureOf(takeRunLock(space.path, 60_000, abort.signal))
  assert.is((error as Error).name, 'AbortError')
})

test.run()
