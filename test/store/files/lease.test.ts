import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../../src/core/failures.ts'
import { limits } from '../../../src/core/limits.ts'
import { fileLease } from '../../../src/store/files/lease.ts'
import { clockSetBy } from '../../support/clock-set-by.ts'

const never = new AbortController().signal

async function lockFile() {
  const dir = await mkdtemp(join(tmpdir(), 'eider-lock-'))
  return {
    path: join(dir, 'run.lock'),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

const take = (path: string, waitMs: number) => fileLease(path).take({ waitMs, signal: never })

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (reason: unknown) => reason,
  )

test('a second run says who is at work, and what to do', async () => {
  await using space = await lockFile()
  await using _held = await take(space.path, 0)
  const error = await failureOf(take(space.path, 150))
  assert.instance(error, EnvironmentError)
  const { code, message, hint } = error as EnvironmentError
  assert.is(code, 'run-locked')
  assert.match(message, new RegExp(`process ${process.pid} `))
  assert.match(hint ?? '', /--wait/)
})

test('a copy of a project where a run works elsewhere says that it is one, and waits for nobody', async () => {
  await using space = await lockFile()
  await using _held = await take(space.path, 0)
  const copy = `${space.path}.copy`
  await copyFile(space.path, copy)
  const error = await failureOf(take(copy, 600_000))
  const { code, message, hint } = error as EnvironmentError
  assert.is(code, 'lock-copied')
  assert.match(message, `is in use elsewhere, by process ${process.pid} `)
  assert.is(hint, `to work on the copy, delete ${copy}`)
  await rm(copy)
  await using _free = await take(copy, 0)
})

test('a holder on another machine: says which file to delete when that is gone', async () => {
  await using space = await lockFile()
  await using _made = await take(space.path, 0)
  const other = { pid: 1, host: 'elsewhere', startedAt: 'then', process: null }
  await writeFile(space.path, JSON.stringify(other))
  const { message, hint } = (await failureOf(take(space.path, 0))) as EnvironmentError
  assert.match(message, /process 1 on elsewhere/)
  assert.match(hint ?? '', /delete .*run\.lock/)
})

test('a holder in another container: likewise', async () => {
  await using space = await lockFile()
  await using _made = await take(space.path, 0)
  const other = { pid: 1, host: hostname(), pidNamespace: 'pid:[1]' }
  await writeFile(space.path, JSON.stringify(other))
  const { hint } = (await failureOf(take(space.path, 0))) as EnvironmentError
  assert.match(hint ?? '', /if that container no longer runs, delete .*run\.lock/)
})

test('who waits gets the lock when it is released; never two of them', async () => {
  await using space = await lockFile()
  let holders = 0
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await using _held = await take(space.path, 20_000)
      assert.is(++holders, 1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      holders--
    }),
  )
})

test('a clock that is set does not end the wait', async () => {
  await using space = await lockFile()
  const held = await take(space.path, 0)
  const taken = take(space.path, 20_000)
  const failed = failureOf(taken)
  using _clock = clockSetBy(3_600_000)
  await Promise.race([failed, sleep(3 * limits.runLockPollMs)])
  await held[Symbol.asyncDispose]()
  assert.is(await failed, null)
  await (await taken)[Symbol.asyncDispose]()
})

test('an abort ends the wait', async () => {
  await using space = await lockFile()
  await using _held = await take(space.path, 0)
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 50)
  const error = await failureOf(
    fileLease(space.path).take({ waitMs: 60_000, signal: abort.signal }),
  )
  assert.is((error as Error).name, 'AbortError')
})

test.run()
