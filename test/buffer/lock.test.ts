import { spawn } from 'node:child_process'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { takeLock } from '../../src/buffer/lock.ts'
import { openBuffer, temporaryDirectory } from './drain.ts'

async function refusal(call: () => Promise<unknown>): Promise<EnvironmentError> {
  try {
    await call()
  } catch (error) {
    if (error instanceof EnvironmentError) return error
    throw error
  }
  throw new Error('not refused')
}

/** Pid of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await new Promise((resolve) => child.on('close', resolve))
  return child.pid as number
}

const lockOf = (pid: number, more: object = {}) =>
  JSON.stringify({ pid, host: hostname(), startedAt: '2026-01-01', process: null, ...more })

test('a buffer has one owner, which the refusal names; closing it lets the next one in', async () => {
  await using directory = await temporaryDirectory()
  {
    await using _buffer = await openBuffer(directory.path)
    const error = await refusal(() => openBuffer(directory.path))
    assert.is(error.code, 'buffer-locked')
    assert.ok(error.message.includes(`process ${process.pid}`), error.message)
  }
  await using _again = await openBuffer(directory.path)
})

test('a living process of this machine, or one of another machine, keeps its lock', async () => {
  await using directory = await temporaryDirectory()
  const path = join(directory.path, 'collect.lock')
  await writeFile(path, lockOf(process.ppid))
  assert.ok((await refusal(() => takeLock(path))).message.includes(String(process.ppid)))
  await writeFile(path, lockOf(await deadPid(), { host: 'elsewhere' }))
  const error = await refusal(() => takeLock(path))
  assert.ok(error.message.includes('on elsewhere'))
  assert.ok(error.hint?.includes(path))
})

test('the lock of a dead process, or a torn one, is taken over and leaves nothing behind', async () => {
  await using directory = await temporaryDirectory()
  const path = join(directory.path, 'collect.lock')
  for (const content of [lockOf(await deadPid()), '', '{"pid":', 'null', '[]']) {
    await writeFile(path, content)
    {
      await using _lock = await takeLock(path)
      const held = JSON.parse(await readFile(path, 'utf8')) as { pid: number; host: string }
      assert.equal([held.pid, held.host], [process.pid, hostname()])
      assert.equal(await readdir(directory.path), ['collect.lock'])
    }
    assert.equal(await readdir(directory.path), [])
  }
})

// Only Linux says when a process was started.
const testOnLinux = (name: string, run: () => Promise<void>) =>
  process.platform === 'linux' ? test(name, run) : test.skip(name, run)

testOnLinux('a process that only has the pid of the holder is not the holder', async () => {
  await using directory = await temporaryDirectory()
  const path = join(directory.path, 'collect.lock')
  await writeFile(path, lockOf(process.pid, { process: 'an earlier boot/1' }))
  await using _lock = await takeLock(path)
})

test('of many that find a dead holder one wins', async () => {
  await using directory = await temporaryDirectory()
  const path = join(directory.path, 'collect.lock')
  const dead = await deadPid()
  for (let round = 0; round < 20; round += 1) {
    await writeFile(path, lockOf(dead, { round }))
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(path)))
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    assert.is(won.length, 1)
    for (const { value } of won) await value[Symbol.asyncDispose]()
    assert.equal(await readdir(directory.path), [])
  }
})

test.run()
