import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { RunLock } from '../../src/pipeline/run-lock.ts'

const never = new AbortController().signal

async function lockFile() {
  const dir = await mkdtemp(join(tmpdir(), 'eider-lock-'))
  return {
    dir,
    path: join(dir, 'state', 'run.lock'),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

const failureOf = async (promise: Promise<unknown>): Promise<EnvironmentError> => {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof EnvironmentError) return error
  throw new Error(`expected an EnvironmentError, got ${String(error)}`)
}

test('one holder at a time; the other says who it is', async () => {
  await using space = await lockFile()
  {
    await using _held = await RunLock.take(space.path, 0, never)
    const error = await failureOf(RunLock.take(space.path, 150, never))
    assert.is(error.code, 'run-locked')
    assert.match(error.message, new RegExp(`process ${process.pid} on `))
    assert.match(error.hint ?? '', /--wait/)
  }
  await using _again = await RunLock.take(space.path, 0, never)
})

test('who waits gets the lock when it is released, and leaves nothing else behind', async () => {
  await using space = await lockFile()
  const first = await RunLock.take(space.path, 0, never)
  const second = RunLock.take(space.path, 5_000, never)
  setTimeout(() => void first[Symbol.asyncDispose](), 150)
  {
    await using _held = await second
    assert.equal(await readdir(join(space.dir, 'state')), ['run.lock'])
  }
  assert.equal(await readdir(join(space.dir, 'state')), [])
})

test('a dead holder is taken over, also when its pid lives on as another process', async () => {
  await using space = await lockFile()
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  await RunLock.take(space.path, 0, never) // and never released
  const held = await readFile(space.path, 'utf8')
  const dead = { pid: child.pid, process_started: '1', host: hostname(), started_at: 'then' }
  for (const text of [
    JSON.stringify(dead),
    JSON.stringify({ ...dead, pid: process.pid }),
    '',
    '{',
  ]) {
    await writeFile(space.path, text)
    await using _held = await RunLock.take(space.path, 0, never)
    assert.is.not(await readFile(space.path, 'utf8'), text)
  }
  assert.match(held, /"process_started":"\d+"/)
})

test('a holder on another machine counts as alive', async () => {
  await using space = await lockFile()
  await using _made = await RunLock.take(space.path, 0, never)
  const other = { pid: 1, process_started: '1', host: 'elsewhere', started_at: 'then' }
  await writeFile(space.path, JSON.stringify(other))
  const error = await failureOf(RunLock.take(space.path, 0, never))
  assert.match(error.message, /process 1 on elsewhere/)
  assert.match(error.hint ?? '', /delete .*run\.lock/)
})

test('many at once over a dead holder: never two of them', async () => {
  await using space = await lockFile()
  await using _made = await RunLock.take(space.path, 0, never)
  const dead = { pid: 2 ** 22 + 1, process_started: '1', host: hostname(), started_at: 'then' }
  await writeFile(space.path, JSON.stringify(dead))
  let holders = 0
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      await using _held = await RunLock.take(space.path, 10_000, never)
      assert.is(++holders, 1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      holders--
    }),
  )
})

test('an abort ends the wait', async () => {
  await using space = await lockFile()
  await using _held = await RunLock.take(space.path, 0, never)
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 50)
  const error: unknown = await RunLock.take(space.path, 60_000, abort.signal).catch(
    (reason: unknown) => reason,
  )
  assert.is((error as Error).name, 'AbortError')
})

test.run()
