import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  describeHolder,
  homeOf,
  LockHeldError,
  takeProcessLock,
} from '../../src/files/process-lock.ts'
import { until } from '../support/until.ts'

async function lockFile() {
  const dir = await mkdtemp(join(tmpdir(), 'eider-lock-'))
  return {
    state: join(dir, 'state'),
    path: join(dir, 'state', 'x.lock'),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

async function refusal(path: string): Promise<LockHeldError> {
  const error: unknown = await takeProcessLock(path).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof LockHeldError) return error
  throw new Error(`expected a LockHeldError, got ${String(error)}`)
}

/** Pid of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.pid as number
}

/** What is there, without the life signs beside it. */
const locksIn = async (dir: string) =>
  (await readdir(dir)).filter((name) => !name.endsWith('.alive'))

const lockOf = (pid: number, more: object = {}) =>
  JSON.stringify({ pid, host: hostname(), startedAt: '2026-01-01', process: null, ...more })

test('one holder at a time, which the refusal names; released, it is gone', async () => {
  await using space = await lockFile()
  {
    await using _held = await takeProcessLock(space.path)
    const { holder } = await refusal(space.path)
    assert.is(holder.pid, process.pid)
    assert.match(describeHolder(holder), new RegExp(`^process ${process.pid} since `))
    assert.equal(await locksIn(space.state), ['x.lock'])
  }
  assert.equal(await readdir(space.state), [])
  await using _again = await takeProcessLock(space.path)
})

test('a living process of this machine, or one of another machine, keeps its lock', async () => {
  await using space = await lockFile()
  await using _made = await takeProcessLock(space.path)
  await writeFile(space.path, lockOf(process.ppid))
  assert.is((await refusal(space.path)).holder.pid, process.ppid)
  await writeFile(space.path, lockOf(await deadPid(), { host: 'elsewhere' }))
  assert.match((await refusal(space.path)).message, / on elsewhere since /)
})

test('a pid of another container says nothing about its process, so the lock is kept', async () => {
  await using space = await lockFile()
  await using _made = await takeProcessLock(space.path)
  await writeFile(space.path, lockOf(await deadPid(), { pidNamespace: 'pid:[1]' }))
  const { holder, message } = await refusal(space.path)
  assert.match(message, ' in another container since ')
  assert.is(homeOf(holder), 'that container')
})

test('the lock of a dead process, or a torn one, is taken over and leaves nothing behind', async () => {
  await using space = await lockFile()
  await takeProcessLock(space.path).then((lock) => lock[Symbol.asyncDispose]())
  for (const content of [lockOf(await deadPid()), '', '{"pid":', 'null', '[]']) {
    await writeFile(space.path, content)
    {
      await using _lock = await takeProcessLock(space.path)
      const held = JSON.parse(await readFile(space.path, 'utf8')) as { pid: number; host: string }
      assert.equal([held.pid, held.host], [process.pid, hostname()])
      assert.equal(await locksIn(space.state), ['x.lock'])
    }
    assert.equal(await readdir(space.state), [])
  }
})

// Only Linux says when a process was started.
const testOnLinux = (name: string, run: () => Promise<void>) =>
  process.platform === 'linux' ? test(name, run) : test.skip(name, run)

testOnLinux('a process that only has the pid of the holder is not the holder', async () => {
  await using space = await lockFile()
  await using _made = await takeProcessLock(space.path)
  await writeFile(space.path, lockOf(process.pid, { process: 'an earlier boot/1' }))
  await using _lock = await takeProcessLock(space.path)
})

// A namespace can be made by root only, and not on every system.
const unshare = ['unshare', '--pid', '--fork', '--mount-proc'] as const
const canUnshare = spawnSync(unshare[0], [...unshare.slice(1), 'true']).status === 0
const testInNamespace = (name: string, run: () => Promise<void>) =>
  canUnshare ? test(name, run) : test.skip(name, run)

/** A process in a namespace of its own that holds the lock until it is told to end, or killed. */
async function holdInNamespace(path: string) {
  const module = new URL('../../src/files/process-lock.js', import.meta.url).href
  const hold = `const { takeProcessLock } = await import(${JSON.stringify(module)})
    await takeProcessLock(${JSON.stringify(path)})
    console.log('held')
    process.stdin.resume()`
  const child = spawn(
    unshare[0],
    [...unshare.slice(1), '--kill-child', process.execPath, '--input-type=module', '-e', hold],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'close') // its output is closed when the process inside is gone, too
  await Promise.race([once(child.stdout, 'data'), ended])
  return { child, ended }
}

testOnLinux('a holder that has ended is taken over before its parent asks how', async () => {
  await using space = await lockFile()
  await using _made = await takeProcessLock(space.path)
  // The shell becomes a program that does not know of its child.
  const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'])
  try {
    const [text] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(text.toString())
    await writeFile(space.path, lockOf(pid))
    assert.is((await refusal(space.path)).holder.pid, pid)
    await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '))
    await using _lock = await takeProcessLock(space.path)
  } finally {
    parent.kill()
  }
})

test('two that take over at the same time: the later one sees who holds the lock then', async () => {
  await using space = await lockFile()
  await takeProcessLock(space.path).then((lock) => lock[Symbol.asyncDispose]())
  const dead = lockOf(await deadPid())
  await writeFile(space.path, dead)
  const right = await takeProcessLock(`${space.path}.${crc32(dead)}`)
  const later = refusal(space.path)
  await sleep(100)
  await writeFile(space.path, lockOf(process.ppid, { role: 'run' }))
  await right[Symbol.asyncDispose]()
  const { holder, path } = await later
  assert.equal([holder.pid, holder.role, path], [process.ppid, 'run', space.path])
})

test('one that has been stopped while it takes over is not waited for', async () => {
  await using space = await lockFile()
  await takeProcessLock(space.path).then((lock) => lock[Symbol.asyncDispose]())
  const dead = lockOf(await deadPid())
  await writeFile(space.path, dead)
  await using _right = await takeProcessLock(`${space.path}.${crc32(dead)}`)
  assert.is((await refusal(space.path)).path, `${space.path}.${crc32(dead)}`)
})

testInNamespace('a holder that lives in another pid namespace keeps its lock', async () => {
  await using space = await lockFile()
  const { child, ended } = await holdInNamespace(space.path)
  try {
    const { holder } = await refusal(space.path)
    assert.is(holder.host, hostname())
  } finally {
    child.stdin.end()
    await ended
  }
})

testInNamespace('a holder that was killed in another pid namespace is taken over', async () => {
  await using space = await lockFile()
  const { child, ended } = await holdInNamespace(space.path)
  child.kill('SIGKILL')
  await ended
  {
    await using _lock = await takeProcessLock(space.path)
    assert.equal(await locksIn(space.state), ['x.lock'])
  }
  assert.equal(await readdir(space.state), [])
})

testOnLinux('a silent life sign says nothing about a holder on another kernel', async () => {
  await using space = await lockFile()
  await takeProcessLock(space.path).then((lock) => lock[Symbol.asyncDispose]())
  const { sign, pid } = await silentSign(space.state)
  const elsewhere = { pidNamespace: 'pid:[1]', sign }
  await writeFile(space.path, lockOf(pid, { ...elsewhere, process: 'another boot/1' }))
  assert.is((await refusal(space.path)).holder.pid, pid)
  const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  await writeFile(space.path, lockOf(pid, { ...elsewhere, process: `${boot}/1`, sign: 'missing' }))
  assert.is((await refusal(space.path)).holder.pid, pid)
  await writeFile(space.path, lockOf(pid, { ...elsewhere, process: `${boot}/1` }))
  await using _lock = await takeProcessLock(space.path)
})

testOnLinux(
  'a life sign whose path is too long from here says nothing about its holder',
  async () => {
    await using space = await lockFile()
    // What is left of the path when it is cut to the length of an address is a directory, which is no socket either.
    const dir = space.state + 'x'.repeat(Math.max(0, 107 - space.state.length))
    const path = join(dir, 'x.lock')
    await takeProcessLock(path).then((lock) => lock[Symbol.asyncDispose]())
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    const far = { pidNamespace: 'pid:[1]', process: `${boot}/1`, sign: 'x.lock.12345678.alive' }
    await writeFile(path, lockOf(1, far))
    assert.is((await refusal(path)).holder.pid, 1)
  },
)

/** A socket that its process has left behind. */
async function silentSign(dir: string) {
  const sign = 'left.alive'
  const listen = `require('node:net').createServer().listen(${JSON.stringify(join(dir, sign))}, () =>
    process.kill(process.pid, 'SIGKILL'))`
  const child = spawn(process.execPath, ['-e', listen], { stdio: 'inherit' })
  await once(child, 'exit')
  return { sign, pid: child.pid as number }
}

test('of many that find a dead holder one wins', async () => {
  await using space = await lockFile()
  await takeProcessLock(space.path).then((lock) => lock[Symbol.asyncDispose]())
  const dead = await deadPid()
  for (let round = 0; round < 20; round += 1) {
    await writeFile(space.path, lockOf(dead, { round }))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => takeProcessLock(space.path)),
    )
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    assert.is(won.length, 1)
    for (const { value } of won) await value[Symbol.asyncDispose]()
    assert.equal(await readdir(space.state), [])
  }
})

test.run()
