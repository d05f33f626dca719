// Requests with a key: stored once, on a disk that loses power at its nth operation, for every n.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventBuffer } from '../../src/buffer/buffer.ts'
import { KeyReusedError } from '../../src/buffer/errors.ts'
import { requestKey } from '../../src/buffer/request-key.ts'
import { createLogger } from '../../src/core/logger.ts'
import {
  drain,
  eventBytes,
  openBuffer,
  type ReadEvent,
  readClaim,
  target,
} from '../support/open-buffer.ts'
import { clockSetBy } from '../support/clock-set-by.ts'
import { failure } from '../support/failure.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { modelName } from '../support/model-name.ts'
import { FakeFiles, PowerCutError, fileError, type Survival } from '../support/fake-files.ts'

const HOUR_MS = 3_600_000
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()

/** Sends the request `name` of `events` events. */
const send = (buffer: EventBuffer, name: string, events = 1, time = ago(0)) =>
  buffer.appendOnce(
    target,
    requestKey(name, eventBytes([name, events])),
    () => Array.from({ length: events }, (_, i) => eventBytes(`${name}/${i}`)),
    time,
  )

const namesOf = (events: readonly ReadEvent[]) => events.map(({ event }) => event as string)

test('a key that was used under another letter case of the target is known', async () => {
  await using directory = await temporaryDirectory()
  const old = modelName('Raw.events')
  const key = requestKey('a', eventBytes(1))
  for (const life of ['same', 'next']) {
    await using buffer = await openBuffer(directory.path)
    assert.is(await buffer.appendOnce(old, key, () => [eventBytes(1)], ago(0)), 1)
    assert.is(await buffer.appendOnce(target, key, () => [eventBytes(1)], ago(0)), 1, life)
    const other = requestKey('a', eventBytes(2))
    const again = () => buffer.appendOnce(target, other, () => [eventBytes(2)], ago(0))
    assert.instance(await failure(again), KeyReusedError)
  }
  await using buffer = await openBuffer(directory.path)
  assert.is((await drain(buffer, old)).events.length, 1)
  assert.is((await drain(buffer)).events.length, 0)
})

test('a repeat gets the first outcome: at once, later, after a restart, after the flush', async () => {
  await using directory = await temporaryDirectory()
  {
    await using buffer = await openBuffer(directory.path)
    assert.equal(await Promise.all([send(buffer, 'a', 3), send(buffer, 'a', 3)]), [3, 3])
    await buffer.append(target, [eventBytes('plain')], ago(0))
    assert.is(await send(buffer, 'a', 3), 3)
    assert.instance(await failure(() => send(buffer, 'a', 2)), KeyReusedError)
  }
  {
    await using buffer = await openBuffer(directory.path)
    assert.is(await send(buffer, 'a', 3), 3)
    const { events } = await drain(buffer)
    assert.equal(namesOf(events), ['a/0', 'a/1', 'a/2', 'plain'])
    assert.is(await send(buffer, 'a', 3), 3)
    assert.is(await send(buffer, 'b'), 1)
  }
  await using buffer = await openBuffer(directory.path)
  assert.is(await send(buffer, 'a', 3), 3)
  assert.instance(await failure(() => send(buffer, 'a', 2)), KeyReusedError)
  assert.equal(namesOf((await drain(buffer)).events), ['b/0'])
})

test('a request whose body is refused, and one of no events, uses no key', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  const key = requestKey('a', eventBytes(1))
  const refused = () => {
    throw new Error('refused')
  }
  const error = await failure(() => buffer.appendOnce(target, key, refused, ago(0)))
  assert.is((error as Error).message, 'refused')
  assert.is(await buffer.appendOnce(target, key, () => [], ago(0)), 0)
  assert.is(await buffer.appendOnce(target, key, () => [eventBytes(1)], ago(0)), 1)
})

test('a key is forgotten after its time, and when there are too many', async () => {
  await using directory = await temporaryDirectory()
  const keyLimits = { retentionMs: HOUR_MS, maxKeys: 3 }
  {
    await using buffer = await openBuffer(directory.path, { keyLimits })
    await send(buffer, 'old', 1, ago(2 * HOUR_MS))
  }
  {
    await using buffer = await openBuffer(directory.path, { keyLimits })
    await send(buffer, 'old')
    for (const name of ['a', 'b', 'c', 'd']) await send(buffer, name)
    await send(buffer, 'd')
    await send(buffer, 'a')
    const names = namesOf((await drain(buffer)).events)
    assert.equal(names, ['old/0', 'old/0', 'a/0', 'b/0', 'c/0', 'd/0', 'a/0'])
  }
  await using buffer = await openBuffer(directory.path, { keyLimits })
  for (const name of ['c', 'd', 'a', 'b']) await send(buffer, name)
  assert.equal(namesOf((await drain(buffer)).events), ['b/0'])
})

test('a clock that is days ahead for a moment makes no key forgotten', async () => {
  await using directory = await temporaryDirectory()
  const keyLimits = { retentionMs: HOUR_MS, maxKeys: 100 }
  await using buffer = await openBuffer(directory.path, { keyLimits })
  await send(buffer, 'a')
  {
    using _clock = clockSetBy(40 * 24 * HOUR_MS)
    for (const name of ['b', 'a']) await send(buffer, name)
    assert.equal(namesOf((await drain(buffer)).events), ['a/0', 'b/0'])
  }
  for (const name of ['a', 'b', 'c']) await send(buffer, name)
  assert.equal(namesOf((await drain(buffer)).events), ['c/0'])
})

test('a clock that is set ahead while a request is on its way makes its key no older', async () => {
  await using directory = await temporaryDirectory()
  const keyLimits = { retentionMs: HOUR_MS, maxKeys: 100 }
  await using buffer = await openBuffer(directory.path, { keyLimits })
  await send(buffer, 'a', 1, ago(2 * HOUR_MS))
  await send(buffer, 'a')
  assert.equal(namesOf((await drain(buffer)).events), ['a/0'])
})

test('a request that the disk refused may come again with its key', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await send(buffer, 'a')
  files.fault = (operation) => (operation === 'fdatasync' ? new Error('EIO') : null)
  const both = await Promise.allSettled([send(buffer, 'b'), send(buffer, 'b')])
  assert.equal(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  files.fault = () => null
  assert.is(await send(buffer, 'b'), 1)
  assert.equal(namesOf((await drain(buffer, target, files)).events), ['a/0', 'b/0'])
})

test('a full disk keeps no flush from making room; the keys are written when there is some', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  {
    await using buffer = await openBuffer(directory.path, { files })
    await send(buffer, 'a')
    files.fault = (operation, path) => {
      const isKeys = operation === 'write' && path.includes('.keys')
      if (!isKeys) return null
      files.fault = () => null
      return Object.assign(new Error('full'), { code: 'ENOSPC' })
    }
    assert.is((await drain(buffer, target, files)).events.length, 1)
  }
  await using buffer = await openBuffer(directory.path, { files })
  await send(buffer, 'a')
  assert.is(await buffer.claim(target), null)
})

test('keys that the disk refuses also after the removal are written at the end, or with later ones', async () => {
  for (const later of ['the end', 'another flush']) {
    await using directory = await temporaryDirectory()
    const files = new FakeFiles()
    const noKeys = (operation: string, path: string) =>
      operation === 'write' && path.includes('.keys') ? fileError('ENOSPC', path) : null
    {
      await using buffer = await openBuffer(directory.path, { files })
      for (const name of ['a', 'b']) {
        await send(buffer, name)
        files.fault = noKeys
        assert.is((await drain(buffer, target, files)).events.length, 1)
      }
      files.fault = () => null
      if (later === 'another flush') {
        await send(buffer, 'c')
        await drain(buffer, target, files)
        files.fault = noKeys
      }
    }
    files.fault = () => null
    await using buffer = await openBuffer(directory.path, { files })
    for (const name of ['a', 'b']) await send(buffer, name)
    assert.is(await buffer.claim(target), null, later)
  }
})

test('the log says from when until when keys are in memory alone, and once each', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  const said: string[] = []
  const logger = createLogger(({ event }) => void said.push(event))
  {
    await using buffer = await openBuffer(directory.path, { files, logger })
    for (const name of ['a', 'b']) {
      await send(buffer, name)
      files.fault = (operation, path) =>
        operation === 'write' && path.includes('.keys') ? fileError('ENOSPC', path) : null
      await drain(buffer, target, files)
    }
    assert.equal(said, ['keys-not-kept'])
    files.fault = () => null
    await send(buffer, 'c')
    await drain(buffer, target, files)
    assert.equal(said, ['keys-not-kept', 'keys-kept'])
  }
  files.restart('nothing')
  await using buffer = await openBuffer(directory.path, { files, logger })
  for (const name of ['a', 'b', 'c']) await send(buffer, name)
  assert.is(await buffer.claim(target), null)
  assert.equal(said, ['keys-not-kept', 'keys-kept'])
})

test('keys of an earlier segment outlive a crash before the removal of the one that they were written with', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  {
    await using buffer = await openBuffer(directory.path, { files })
    await send(buffer, 'a')
    let refusals = 2
    files.fault = (operation, path) =>
      operation === 'write' && path.includes('.keys') && refusals-- > 0
        ? fileError('ENOSPC', path)
        : null
    await drain(buffer, target, files)
    await send(buffer, 'b')
    // The keys of both are on disk now, and the power goes with the removal.
    files.fault = (operation, path) => {
      const isRemoval = operation === 'unlink' && path.endsWith('.claimed')
      return isRemoval ? fileError('EIO', path) : null
    }
    assert.instance(await failure(() => drain(buffer, target, files)), Error)
    files.fault = () => null
    files.stopAt(1, 'before')
  }
  for (let life = 0; life < 3; life++) {
    files.restart('everything')
    await using buffer = await openBuffer(directory.path, { files })
    for (const name of ['a', 'b']) assert.is(await send(buffer, name), 1)
    for (const claim of await buffer.inflight(target)) await buffer.ack(claim)
    assert.is(await buffer.claim(target), null, `life ${life}`)
  }
})

test('what a killed process wrote and had not synced is on disk before a repeat is told that it is there', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  files.fault = (operation) => {
    if (operation !== 'fdatasync') return null
    files.stopAt(1, 'before')
    return new PowerCutError()
  }
  const killed = await openBuffer(directory.path, { files })
  assert.ok(await failure(() => send(killed, 'a')))
  await failure(() => killed[Symbol.asyncDispose]())
  files.fault = () => null
  files.takeOver()
  const second = await openBuffer(directory.path, { files })
  assert.is(await send(second, 'a'), 1)
  files.restart('nothing')
  await using third = await openBuffer(directory.path, { files })
  const { events } = await drain(third, target, files)
  assert.is(events.length, 1)
})

test('the keys of segments that are removed together are known after a restart', async () => {
  await using directory = await temporaryDirectory()
  const options = { segmentBytes: 1 }
  {
    await using buffer = await openBuffer(directory.path, options)
    for (const name of ['a', 'b', 'c']) await send(buffer, name)
    const claims = [await buffer.claim(target), await buffer.claim(target)]
    await Promise.all(claims.map((claim) => buffer.ack(claim!)))
  }
  for (let life = 0; life < 2; life++) {
    await using buffer = await openBuffer(directory.path, options)
    for (const name of ['a', 'b', 'c']) assert.is(await send(buffer, name), 1)
    assert.is((await drain(buffer)).events.length, life === 0 ? 1 : 0)
  }
})

/** Sends each request until it is accepted, as senders do, with flushes in between; fills `table`. */
async function live(buffer: EventBuffer, table: Table, files: FakeFiles) {
  for (const name of ['a', 'b', 'c', 'd']) {
    await Promise.all([send(buffer, name, 2), send(buffer, name, 2)])
    if (name === 'b' || name === 'd') await flush(buffer, table, files)
    await send(buffer, 'a', 2)
  }
}

/** Events by claim, as a table with an ack record has them. */
type Table = Map<string, readonly string[]>

async function flush(buffer: EventBuffer, table: Table, files: FakeFiles): Promise<void> {
  const claims = [...(await buffer.inflight(target))]
  for (let next = await buffer.claim(target); next !== null; next = await buffer.claim(target))
    claims.push(next)
  for (const claim of claims) {
    table.set(claim.id, namesOf(await readClaim(claim, files)))
    await buffer.ack(claim)
  }
}

for (const [survival, seeds] of [
  ['nothing', 1],
  ['some', 3],
  ['everything', 1],
] as const)
  test(`power cut at every operation, ${survival} unsynced survives: each request is stored once`, async () => {
    await using directory = await temporaryDirectory()
    let operations = 0
    for (let completed = false; !completed;) {
      operations += 1
      for (let seed = 1; seed <= seeds; seed += 1)
        completed = await lifeWithCut(
          directory.path,
          operations,
          survival,
          1000 * operations + seed,
        )
    }
    assert.ok(operations > 30, `only ${operations} operations`)
  })

async function lifeWithCut(dir: string, at: number, survival: Survival, seed: number) {
  const files = new FakeFiles({ seed })
  const table: Table = new Map()
  let completed = true
  files.stopAt(at, seed % 2 === 0 ? 'before' : 'after')
  for (let lives = 0; lives < 3; lives++) {
    const oneLife = async () => {
      await using buffer = await openBuffer(dir, { files, segmentBytes: 400 })
      await live(buffer, table, files)
      await flush(buffer, table, files)
    }
    await oneLife().catch((error: unknown) => {
      if (!files.isOff) throw error
    })
    if (files.isOff) completed = false
    files.restart(survival)
    // The second life is cut too, in its recovery or later.
    if (lives === 0) files.stopAt(1 + Math.floor(files.random() * 80), 'after')
  }
  const names = [...table.values()].flat().toSorted()
  const expected = ['a', 'b', 'c', 'd'].flatMap((name) => [`${name}/0`, `${name}/1`])
  assert.equal(names, expected, `cut at ${at}, seed ${seed}`)
  return completed
}

test('a segment and a file of keys may have more keys than a call has arguments', async () => {
  await using directory = await temporaryDirectory()
  const names = Array.from({ length: 130_000 }, (_, i) => `request-${i}`)
  const options = { keyLimits: { retentionMs: HOUR_MS, maxKeys: names.length } }
  {
    await using buffer = await openBuffer(directory.path, options)
    await Promise.all(names.map((name) => send(buffer, name)))
  }
  {
    await using buffer = await openBuffer(directory.path, options)
    assert.is(await send(buffer, names[0]!), 1)
    assert.is((await drain(buffer)).events.length, names.length)
  }
  await using buffer = await openBuffer(directory.path, options)
  assert.is(await send(buffer, names[0]!), 1)
  assert.is(await buffer.claim(target), null)
})

test.run()
