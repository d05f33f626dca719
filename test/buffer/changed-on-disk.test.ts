// Bytes of a segment that change on disk while its buffer lives: a run that asks before it reads gets every other group,
// and what has changed is kept.

import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventBuffer } from '../../src/buffer/buffer.ts'
import { locationOf } from '../../src/buffer/claim-source.ts'
import { damagedEvents } from '../../src/buffer/damaged.ts'
import { isIntact } from '../../src/buffer/intact.ts'
import { realFiles } from '../../src/buffer/files.ts'
import { requestKey } from '../../src/buffer/request-key.ts'
import { limits } from '../../src/core/limits.ts'
import { FakeFiles } from '../support/fake-files.ts'
import { flipBit } from '../support/flip-bit.ts'
import { eventBytes, openBuffer, readClaim, target, TIME } from '../support/open-buffer.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const DIRECTORY = '/buffer/raw.events'
const groups = [['a'], ['b1', 'b2', 'b3'], ['c'], ['d1', 'd2']]

/** Where each group ends. */
async function appendGroups(buffer: EventBuffer, size: () => number): Promise<readonly number[]> {
  const ends: number[] = []
  for (const events of groups) {
    await buffer.append(target, events.map(eventBytes), TIME)
    ends.push(size())
  }
  return ends
}

async function takeAll(buffer: EventBuffer, files: FakeFiles): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for (;;) {
    const claim = await buffer.claim(target)
    if (claim === null) return found
    const whole = await buffer.verify(claim)
    if (whole === null) continue
    for (const { event } of await readClaim(whole, files)) found.push(event)
    await buffer.ack(whole)
  }
}

const segmentIn = (files: FakeFiles) =>
  `${DIRECTORY}/${files.list(DIRECTORY).find((name) => /\.(open|sealed)$/.test(name))}`

test('any byte of a segment is another one when it is claimed: every other group is read, its bytes are kept', async () => {
  await using directory = await temporaryDirectory()
  for (let at = 0, size = 1; at < size; at++) {
    const files = new FakeFiles()
    await using buffer = await openBuffer(directory.path, { files })
    const ends = await appendGroups(buffer, () => files.content(segmentIn(files)).length)
    const bytes = Buffer.from(files.content(segmentIn(files)))
    size = bytes.length
    bytes[at]! ^= 1 << (at % 7)
    files.place(segmentIn(files), bytes)
    const hit = ends.findIndex((end) => at < end)
    assert.equal(await takeAll(buffer, files), groups.filter((_, i) => i !== hit).flat(), `${at}`)
    const kept = files.list(DIRECTORY).filter((name) => name.endsWith('.damaged'))
    assert.equal(
      kept.map((name) => files.content(`${DIRECTORY}/${name}`)),
      [bytes.subarray(ends[hit - 1] ?? 0, ends[hit])],
    )
    const { buffered, claimed, bytes: left } = buffer.stats().targets.get(target)!
    assert.equal([buffered, claimed, left, buffer.stats().bytes], [0, 0, 0, 0])
    await buffer.append(target, [eventBytes('later')], TIME)
    assert.equal(await takeAll(buffer, files), ['later'])
  }
})

test('the last group of an open segment is not taken for a write that was cut off, whatever byte of it has changed', async () => {
  await using directory = await temporaryDirectory()
  let segment: { readonly path: string; readonly bytes: Buffer; readonly start: number }
  {
    const files = new FakeFiles()
    await using buffer = await openBuffer(directory.path, { files })
    const ends = await appendGroups(buffer, () => files.content(segmentIn(files)).length)
    const path = segmentIn(files)
    segment = { path, bytes: files.content(path), start: ends.at(-2)! }
  }
  for (let at = segment.start; at < segment.bytes.length; at++) {
    const files = new FakeFiles()
    await files.mkdir('/buffer')
    await files.mkdir(DIRECTORY)
    const bytes = Buffer.from(segment.bytes)
    bytes[at]! ^= 1 << (at % 7)
    files.place(segment.path, bytes)
    await using buffer = await openBuffer(directory.path, { files })
    assert.equal(await takeAll(buffer, files), groups.slice(0, -1).flat(), `byte ${at}`)
    const kept = files.list(DIRECTORY).filter((name) => name.endsWith('.damaged'))
    assert.is(kept.length, 1, `byte ${at}`)
  }
})

test('a request whose events have changed on disk may be sent again with its key', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  const now = new Date().toISOString()
  const send = (key: string) =>
    buffer.appendOnce(target, requestKey(key, Buffer.from(key)), () => [eventBytes(key)], now)
  for (const key of ['one', 'two', 'three']) await send(key)
  const bytes = Buffer.from(files.content(segmentIn(files)))
  bytes[bytes.indexOf('"two"') + 2]! ^= 1
  files.place(segmentIn(files), bytes)
  assert.equal(await takeAll(buffer, files), ['one', 'three'])
  for (const key of ['one', 'two', 'three']) assert.is(await send(key), 1)
  assert.equal(await takeAll(buffer, files), ['two'])
})

test('groups are checked in pieces, wherever one ends', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  const lengths = [10, limits.segmentPieceBytes - 150, 20, 30, 2 * limits.segmentPieceBytes, 5]
  for (let more = 0; more < 60; more += 3) lengths.push(limits.segmentPieceBytes / 4 - more, 40)
  for (const length of lengths) await buffer.append(target, [eventBytes('x'.repeat(length))], TIME)
  const claim = await buffer.claim(target)
  assert.ok(claim !== null)
  const path = locationOf(claim)
  const written = { sizeBytes: claim.bytes, events: claim.events }
  assert.is(claim.events, lengths.length)
  assert.ok(await isIntact(realFiles, path, written))
  assert.not(await isIntact(realFiles, path, { ...written, events: claim.events - 1 }))
  assert.not(await isIntact(realFiles, path, { ...written, sizeBytes: claim.bytes - 1 }))
  const bytes = await readFile(path)
  for (const at of [60, limits.segmentPieceBytes, claim.bytes - 10, bytes.lastIndexOf('"s"')]) {
    await flipBit(path, at)
    assert.not(await isIntact(realFiles, path, written), `byte ${at}`)
    await flipBit(path, at)
  }
  assert.ok(await isIntact(realFiles, path, written))
})

test('a segment that is gone is no longer there to be read', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  await appendGroups(buffer, () => 0)
  const claim = await buffer.claim(target)
  await buffer.ack(claim!)
  assert.is(await buffer.verify(claim!), null)
})

test('what is kept is listed from outside, until it is taken away', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  const dir = join(directory.path, 'buffer')
  assert.equal(await buffer.damaged(), [])
  await appendGroups(buffer, () => 0)
  const claim = await buffer.claim(target)
  const path = locationOf(claim!)
  const bytes = await readFile(path)
  for (const text of ['"b2"', '"d1"']) await flipBit(path, bytes.indexOf(text) + 1)
  const whole = await buffer.verify(claim!)
  assert.is(whole?.events, 2)
  const found = await damagedEvents(dir)
  assert.equal(await buffer.damaged(), found)
  assert.equal(new Set(found.map(({ events }) => events)), new Set([2, 3]))
  for (const { path: kept, target: of, bytes: size } of found) {
    assert.is(of, target)
    assert.is((await readFile(kept)).length, size)
    await rm(kept)
  }
  assert.equal(await damagedEvents(dir), [])
  assert.equal(await damagedEvents(join(dir, 'none')), [])
  assert.ok((await readdir(join(dir, 'raw.events'))).length > 0)
})

test.run()
