// A disk that is full, or that fails a sync: what is refused is refused for good, and what was accepted stays.

import { basename } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { locationOf } from '../../src/buffer/claim-source.ts'
import { BufferUnavailableError } from '../../src/buffer/errors.ts'
import { TIME, drain, eventBytes, openBuffer, readClaim, target } from '../support/open-buffer.ts'
import { clockSetBy } from '../support/clock-set-by.ts'
import { failure } from '../support/failure.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { FakeFiles, fileError } from '../support/fake-files.ts'

test('a full disk refuses the group whole and is used again when space returns', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  const batch = (i: number) => [0, 1, 2].map((j) => eventBytes({ i, j, x: 'x'.repeat(100) }))
  files.capacityBytes = 2000
  const refused: number[] = []
  for (let i = 0; i < 8; i += 1) {
    const error = await failure(() => buffer.append(target, batch(i), TIME))
    if (error === null) continue
    assert.instance(error, BufferUnavailableError)
    refused.push(i)
  }
  assert.ok(refused.length >= 2 && refused[0] !== 0)
  assert.is(buffer.stats().writable, false)
  {
    using _clock = clockSetBy(3_600_000)
    assert.is(buffer.stats().writable, false)
  }
  // A flush makes space, on the full disk too.
  const before = await drain(buffer, target, files)
  assert.is(before.events.length, 3 * (8 - refused.length))
  await buffer.append(target, batch(9), TIME)
  assert.is(buffer.stats().writable, true)
  const after = await drain(buffer, target, files)
  const indices = [...before.events, ...after.events].map(({ event }) => (event as { i: number }).i)
  assert.not(indices.some((i) => refused.includes(i)))
})

test('a failed sync refuses its group for good and the file is not trusted again', async () => {
  for (const survival of ['nothing', 'some', 'everything'] as const) {
    await using directory = await temporaryDirectory()
    const files = new FakeFiles()
    const buffer = await openBuffer(directory.path, { files })
    await buffer.append(target, [eventBytes('a')], TIME)
    const [opened] = files.list('/buffer/raw.events')
    files.fault = (operation, path) =>
      operation === 'fdatasync' && path.endsWith('.open') ? fileError('EIO', path) : null
    const error = await failure(() => buffer.append(target, [eventBytes('refused')], TIME))
    assert.instance(error, BufferUnavailableError)
    files.fault = () => null
    await buffer.append(target, [eventBytes('b')], TIME)
    assert.not(files.list('/buffer/raw.events').includes(opened as string))
    files.restart(survival)
    const next = await openBuffer(directory.path, { files })
    const { events } = await drain(next, target, files)
    assert.equal(
      events.map(({ event }) => event),
      ['a', 'b'],
    )
  }
})

test('while a suspect file cannot be copied, older segments are handed out and appends refused', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files, segmentBytes: 1 })
  await buffer.append(target, [eventBytes('a')], TIME)
  await buffer.append(target, [eventBytes('b')], TIME)
  files.fault = (operation, path) =>
    ['fdatasync', 'fsync'].includes(operation) ? fileError('EIO', path) : null
  assert.instance(
    await failure(() => buffer.append(target, [eventBytes('refused')], TIME)),
    BufferUnavailableError,
  )
  assert.instance(
    await failure(() => buffer.append(target, [eventBytes('refused too')], TIME)),
    BufferUnavailableError,
  )
  const first = await buffer.claim(target)
  assert.ok(first)
  assert.equal((await readClaim(first, files))[0]?.event, 'a')
  files.fault = () => null
  const { events } = await drain(buffer, target, files)
  assert.equal(
    events.map(({ event }) => event),
    ['a', 'b'],
  )
  await buffer.append(target, [eventBytes('c')], TIME)
})

test('a suspect file that cannot be copied is not taken for one without events by a claim', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  files.fault = (operation, path) =>
    ['fdatasync', 'fsync'].includes(operation) ? fileError('EIO', path) : null
  await failure(() => buffer.append(target, [eventBytes('refused')], TIME))
  assert.instance(await failure(() => buffer.claim(target)), BufferUnavailableError)
  files.fault = () => null
  const claim = await buffer.claim(target)
  assert.is(claim?.events, 1)
})

test('a segment whose removal was not synced is handed out no more', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  const claim = await buffer.claim(target)
  assert.ok(claim)
  let unlinked = false
  files.fault = (operation, path) => {
    unlinked ||= operation === 'unlink' && path.endsWith('.claimed')
    return unlinked && operation === 'fsyncDirectory' ? fileError('EIO', path) : null
  }
  assert.instance(await failure(() => buffer.ack(claim)), BufferUnavailableError)
  files.fault = () => null
  assert.equal(await buffer.inflight(target), [])
  assert.is(await buffer.claim(target), null)
  assert.is(buffer.stats().bytes, 0)
})

test('of segments that go together each is gone with its file, though another stays', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files, segmentBytes: 1 })
  for (const event of ['a', 'b']) await buffer.append(target, [eventBytes(event)], TIME)
  const [first, second] = [await buffer.claim(target), await buffer.claim(target)]
  const stays = basename(locationOf(first!))
  files.fault = (operation, path) =>
    operation === 'unlink' && basename(path) === stays ? fileError('EIO', path) : null
  const acked = [first!, second!].map((claim) => failure(() => buffer.ack(claim)))
  for (const error of await Promise.all(acked)) assert.instance(error, BufferUnavailableError)
  files.fault = () => null
  assert.equal(await buffer.inflight(target), [first])
  assert.is(buffer.stats().bytes, first!.bytes)
  // A run that does not know of the ack takes back what is open.
  assert.is(await buffer.nack(first!), 1)
  assert.is(await buffer.nack(second!), 0)
  assert.is((await drain(buffer, target, files)).claims.length, 1)
})

test('a suspect file that cannot even be cut short is believed no further than its last good group', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  files.fault = (operation, path) =>
    ['fdatasync', 'fsync', 'truncate'].includes(operation) ? fileError('EIO', path) : null
  const error = await failure(() => buffer.append(target, [eventBytes('refused')], TIME))
  assert.instance(error, BufferUnavailableError)
  files.fault = () => null
  await buffer.append(target, [eventBytes('b')], TIME)
  assert.equal(
    (await drain(buffer, target, files)).events.map(({ event }) => event),
    ['a', 'b'],
  )
})

test('a disk that makes no new file lets claims through, and numbers still go on', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  const buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  files.fault = (operation, path) =>
    operation === 'open' && path.endsWith('.open') ? fileError('EIO', path) : null
  const claim = await buffer.claim(target)
  assert.ok(claim)
  // The last file holds the numbers, so it stays until there is another.
  assert.instance(await failure(() => buffer.ack(claim)), BufferUnavailableError)
  files.fault = () => null
  assert.is(await buffer.ack(claim), 1)
  files.restart('nothing')
  await using next = await openBuffer(directory.path, { files })
  assert.is(await next.ack(claim), 0)
  await next.append(target, [eventBytes('b')], TIME)
  const again = await next.claim(target)
  assert.ok(again)
  assert.ok(again.segment > claim.segment)
  assert.ok(again.firstSeq > claim.lastSeq)
})

test('a disk without room for a new file lets acks through that free space', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files, segmentBytes: 1 })
  for (const event of ['a', 'b', 'c']) await buffer.append(target, [eventBytes(event)], TIME)
  files.fault = noNewFiles(files)
  const claims = [
    await buffer.claim(target),
    await buffer.claim(target),
    await buffer.claim(target),
  ]
  const [first, second, last] = claims
  assert.ok(first && second && last)
  assert.is(await buffer.ack(first), 1)
  assert.is(await buffer.ack(second), 1)
  assert.is(await buffer.ack(last), 1)
  assert.is(buffer.stats().bytes, 0)
})

test('a suspect file is rescued also when the sync behind its new name failed', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  files.fault = (operation, path) =>
    operation === 'fdatasync' ||
    (operation === 'fsyncDirectory' && files.list(path).some((name) => name.endsWith('.sealed')))
      ? fileError('EIO', path)
      : null
  const error = await failure(() => buffer.append(target, [eventBytes('refused')], TIME))
  assert.instance(error, BufferUnavailableError)
  assert.ok(files.list('/buffer/raw.events').some((name) => name.endsWith('.sealed')))
  files.fault = () => null
  await buffer.append(target, [eventBytes('b')], TIME)
  assert.equal(
    (await drain(buffer, target, files)).events.map(({ event }) => event),
    ['a', 'b'],
  )
})

test('what a full disk took of a group is off the disk before its segment is sealed', async () => {
  // In some of these power cuts the bytes reach the disk and, were it not synced, their removal does not.
  for (let seed = 1; seed <= 20; seed += 1) {
    await using directory = await temporaryDirectory()
    const files = new FakeFiles({ seed })
    const buffer = await openBuffer(directory.path, { files })
    await buffer.append(target, [eventBytes('a')], TIME)
    const [name] = files.list('/buffer/raw.events')
    files.capacityBytes = files.content(`/buffer/raw.events/${name}`).length + 10
    const error = await failure(() => buffer.append(target, [eventBytes('refused')], TIME))
    assert.instance(error, BufferUnavailableError)
    const claim = await buffer.claim(target)
    assert.is(claim?.events, 1)
    files.restart('some')
    const lines: LogLine[] = []
    const logger = createLogger((line) => lines.push(line))
    await using next = await openBuffer(directory.path, { files, logger })
    // After a restart the time of a claim is that of its file, which is a moment before or after.
    const [found, ...others] = await next.inflight(target)
    assert.equal({ ...found, claimedAt: null }, { ...claim, claimedAt: null })
    assert.equal(others, [])
    assert.equal(lines, [], `seed ${seed}`)
  }
})

/** No further file can be made; what is there can be written and removed. */
const noNewFiles = (files: FakeFiles) => (operation: string, path: string) =>
  operation === 'open' && !files.list('/buffer/raw.events').includes(basename(path))
    ? fileError('ENOSPC', path)
    : null

test('the last segment is removed from a disk that has no room for another file', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  files.fault = noNewFiles(files)
  const claim = await buffer.claim(target)
  assert.is(await buffer.ack(claim!), 1)
  assert.is(await buffer.ack(claim!), 0)
  await buffer.append(target, [eventBytes('b')], TIME)
  const { events } = await drain(buffer, target, files)
  assert.equal(
    events.map(({ event }) => event),
    ['b'],
  )
})

test('an error at any point of that does not keep it there for good', async () => {
  for (const failing of ['truncate', 'fsync', 'rename', 'fsyncDirectory']) {
    for (let nth = 1, failed = true; failed; nth++) {
      failed = false
      await using directory = await temporaryDirectory()
      const files = new FakeFiles()
      await using buffer = await openBuffer(directory.path, { files })
      await buffer.append(target, [eventBytes('a')], TIME)
      files.fault = noNewFiles(files)
      const claim = (await buffer.claim(target))!
      let calls = 0
      files.fault = (operation, path) => {
        failed ||= operation === failing && ++calls === nth
        return failed && operation === failing
          ? fileError('EIO', path)
          : noNewFiles(files)(operation, path)
      }
      const error = await failure(() => buffer.ack(claim))
      if (failed) assert.instance(error, BufferUnavailableError)
      files.fault = noNewFiles(files)
      await buffer.ack(claim)
      assert.is(buffer.stats().bytes, 0, `${failing} ${nth}`)
      await buffer.append(target, [eventBytes('b')], TIME)
      const { claims, events } = await drain(buffer, target, files)
      assert.equal(
        events.map(({ event }) => event),
        ['b'],
      )
      assert.ok(claims.every(({ firstSeq }) => firstSeq > claim.lastSeq))
    }
  }
})

test('nor does an error while files without events were removed', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  files.fault = noNewFiles(files)
  await buffer.claim(target)
  // A directory that is not synced leaves three of them.
  files.fault = (operation, path) =>
    operation === 'fsyncDirectory' ? fileError('EIO', path) : null
  for (let i = 0; i < 3; i++) await failure(() => buffer.append(target, [eventBytes('b')], TIME))
  let removals = 0
  files.fault = (operation, path) =>
    operation === 'unlink' && ++removals === 2 ? fileError('EIO', path) : null
  for (const event of ['c', 'd', 'e', 'f']) {
    await buffer.append(target, [eventBytes(event)], TIME).catch(() => undefined)
    files.fault = noNewFiles(files)
    await drain(buffer, target, files)
  }
  assert.is(buffer.stats().bytes, 0)
  assert.is(buffer.stats().writable, true)
})

test('nor does it come back after a power cut at any point of that', async () => {
  let cuts = 0
  for (const survival of ['nothing', 'some', 'everything'] as const)
    for (let seed = 1; seed <= 3; seed++)
      for (let at = 1, isOver = false; !isOver; at++) {
        await using directory = await temporaryDirectory()
        const files = new FakeFiles({ seed })
        const buffer = await openBuffer(directory.path, { files })
        await buffer.append(target, [eventBytes('a')], TIME)
        files.fault = noNewFiles(files)
        const claim = (await buffer.claim(target))!
        files.stopAt(at, seed % 2 === 0 ? 'before' : 'after')
        await buffer.ack(claim).catch(() => null)
        isOver = !files.isOff
        if (!isOver) cuts++
        files.restart(survival)
        // The disk is still full. The run has the ack record, so it acks what is in flight, as at the start of each run.
        const lines: LogLine[] = []
        const logger = createLogger((line) => lines.push(line))
        const next = await openBuffer(directory.path, { files, logger })
        assert.ok(!lines.some(({ event }) => event === 'segment-damaged'), `cut at ${at}`)
        for (const open of await next.inflight(target)) await next.ack(open)
        files.fault = () => null
        await next.append(target, [eventBytes('b')], TIME)
        const { claims, events } = await drain(next, target, files)
        assert.equal(
          events.map(({ event }) => event),
          ['b'],
          `${survival}, seed ${seed}, cut at ${at}`,
        )
        assert.ok(claims.every(({ segment }) => segment > claim.segment))
        const seqs = claims.map(({ firstSeq }) => firstSeq)
        assert.ok(
          seqs.every((seq) => seq > claim.lastSeq),
          `number ${seqs.join()} comes twice: ${survival}, seed ${seed}, cut at ${at}`,
        )
      }
  assert.ok(cuts > 30, `only ${cuts} cuts`)
})

test.run()
