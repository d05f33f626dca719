import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import {
  BufferFullError,
  BufferUnavailableError,
  ClaimTargetError,
  UnknownClaimError,
} from '../../src/buffer/errors.ts'
import { scanSegment } from '../../src/buffer/segment.ts'
import {
  TIME,
  drain,
  eventBytes,
  modelName,
  openBuffer,
  readClaim,
  target,
  temporaryDirectory,
} from './drain.ts'
import { FakeFiles, fileError } from './fake-files.ts'

test('what was appended comes back in order, byte for byte, with its time', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  const exact = '{"big":9007199254740993,"x":1.50,"text":"ä \\n }\\u0000"}'
  await Promise.all([
    buffer.append(target, [Buffer.from(exact)], TIME),
    buffer.append(target, [eventBytes({ b: 1 }), eventBytes({ b: 2 })], '2026-03-01T10:00:01Z'),
  ])
  const claim = await buffer.claim(target)
  assert.ok(claim)
  const text = await readFile(claim.path, 'utf8')
  assert.ok(text.startsWith(`{"s":1,"t":"${TIME}","e":${exact}}\n`), text)
  const events = await readClaim(claim)
  assert.equal(
    events.map(({ seq, time }) => [seq, time]),
    [
      [1, TIME],
      [2, '2026-03-01T10:00:01Z'],
      [3, '2026-03-01T10:00:01Z'],
    ],
  )
  assert.is(claim.id, `raw.events/${claim.segment}`)
  assert.is(claim.oldest, TIME)
  assert.is(claim.newest, '2026-03-01T10:00:01Z')
})

test('line ends between the tokens of an event become spaces, so an event is one line', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  await buffer.append(target, [Buffer.from('{\r\n"a": 1,\n"b": "\\n"\r}')], TIME)
  const { events } = await drain(buffer)
  assert.equal(events[0]?.event, { a: 1, b: '\n' })
})

test('an event cannot pass itself off as a marker', async () => {
  await using directory = await temporaryDirectory()
  const hostile = '{"x":"y"}}\n{"$commit":{"n":1,"len":3,"crc":0}}\n'
  {
    await using buffer = await openBuffer(directory.path)
    await buffer.append(target, [Buffer.from(hostile)], TIME)
    await buffer.append(target, [eventBytes({ $commit: { n: 1, len: 1, crc: 1 } })], TIME)
  }
  const path = join(directory.path, 'buffer', 'raw.events')
  const [segment] = await readdir(path)
  const scan = scanSegment(await readFile(join(path, segment as string)))
  assert.equal([scan.events, scan.valid.length, scan.damaged.length], [2, 1, 0])
})

test('concurrent appends share a sync, and a lone one does not wait for others', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes(0)], TIME)
  const before = files.calls.get('fdatasync') ?? 0
  assert.is(before, 1)
  await Promise.all(
    Array.from({ length: 256 }, (_, i) => buffer.append(target, [eventBytes(i)], TIME)),
  )
  const syncs = (files.calls.get('fdatasync') ?? 0) - before
  assert.ok(syncs >= 1 && syncs <= 2, `${syncs} syncs`)
  const { events } = await drain(buffer, target, files)
  assert.is(events.length, 257)
})

test('no append resolves before the sync of its group', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files })
  for (let i = 0; i < 5; i += 1) {
    await buffer.append(target, [eventBytes(i)], TIME)
    assert.is(files.calls.get('fdatasync'), i + 1)
  }
})

test('claim, ack and nack are idempotent, also over restarts', async () => {
  await using directory = await temporaryDirectory()
  let first, second
  {
    await using buffer = await openBuffer(directory.path)
    assert.is(await buffer.claim(target), null)
    await buffer.append(target, [eventBytes(1), eventBytes(2)], TIME)
    first = await buffer.claim(target)
    assert.ok(first)
    assert.is(await buffer.claim(target), null)
    await buffer.append(target, [eventBytes(3)], TIME)
    second = await buffer.claim(target)
    assert.ok(second)
    assert.ok(second.segment > first.segment)
    assert.equal([first.firstSeq, first.lastSeq, second.firstSeq], [1, 2, 3])
  }
  {
    await using buffer = await openBuffer(directory.path)
    // A restart gives nothing back by itself.
    assert.equal(
      (await buffer.inflight(target)).map(({ id }) => id),
      [first.id, second.id],
    )
    assert.is(await buffer.claim(target), null)
    assert.is(await buffer.nack(first), 2)
    assert.is(await buffer.nack(first), 0)
    assert.is(buffer.findClaim(first), null)
    assert.is(buffer.findClaim(second)?.events, 1)
    assert.is(await buffer.ack(second), 1)
    assert.is(await buffer.ack(second), 0)
    assert.is(await buffer.nack(second), 0)
  }
  {
    await using buffer = await openBuffer(directory.path)
    assert.equal(await buffer.inflight(target), [])
    assert.is(await buffer.ack(second), 0)
    const again = await buffer.claim(target)
    assert.is(again?.id, first.id)
    assert.equal(
      (await readClaim(first === null ? first : again!)).map(({ event }) => event),
      [1, 2],
    )
    assert.is(await buffer.ack(first), 2)
    assert.equal(await buffer.targets(), [])
  }
})

test('an ack after a nack removes the segment: its sender has the events in the table', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  await buffer.append(target, [eventBytes(1)], TIME)
  const claim = await buffer.claim(target)
  assert.ok(claim)
  await buffer.nack(claim)
  assert.is(await buffer.ack(claim), 1)
  assert.is(await buffer.claim(target), null)
})

test('an id that was never handed out is unknown, and acking it removes nothing', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path, { segmentBytes: 1 })
  await buffer.append(target, [eventBytes(1)], TIME)
  await buffer.append(target, [eventBytes(2)], TIME)
  const claim = await buffer.claim(target)
  assert.ok(claim)
  const sealedByRolling = claim.segment + 1
  const ids = [0, 1, 999_999, claim.segment - 1, sealedByRolling, claim.segment + 2].map(
    (number) => `raw.events/${number}`,
  )
  for (const id of [...ids, `raw.events/${claim.segment + 1000}`, 'raw.events/x', '', 'nope'])
    for (const call of [() => buffer.ack({ id, target }), () => buffer.nack({ id, target })])
      assert.instance(await failure(call), UnknownClaimError, id)
  const other = modelName('raw.other')
  assert.instance(
    await failure(() => buffer.ack({ id: claim.id, target: other })),
    ClaimTargetError,
  )
  const { events } = await drain(buffer)
  assert.equal(
    events.map(({ event }) => event),
    [1, 2],
  )
})

test('sequence and segment numbers go on after everything was removed', async () => {
  await using directory = await temporaryDirectory()
  let [lastSegment, lastSeq] = [0, 0]
  for (let round = 0; round < 4; round += 1) {
    await using buffer = await openBuffer(directory.path)
    await buffer.append(target, [eventBytes(round), eventBytes(round)], TIME)
    const { claims } = await drain(buffer)
    const [claim] = claims
    assert.ok(claim)
    assert.ok(claim.segment > lastSegment)
    assert.is(claim.firstSeq, lastSeq + 1)
    lastSegment = claim.segment
    lastSeq = claim.lastSeq
  }
})

test('a segment is sealed at its size, a call is never split, and claims come oldest first', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path, { segmentBytes: 1000 })
  for (let i = 0; i < 10; i += 1)
    await buffer.append(target, [eventBytes({ i, x: 'x'.repeat(200) })], TIME)
  const large = Array.from({ length: 30 }, (_, i) => eventBytes({ i: 10 + i, x: 'x'.repeat(200) }))
  await buffer.append(target, large, TIME)
  const { claims, events } = await drain(buffer)
  assert.ok(claims.length > 3)
  assert.ok(claims.slice(0, -1).every(({ bytes }) => bytes <= 1000))
  assert.is(claims.at(-1)?.events, 30)
  assert.equal(
    events.map(({ event }) => (event as { i: number }).i),
    Array.from({ length: 40 }, (_, i) => i),
  )
})

test('targets are apart, whatever their names are made of', async () => {
  await using directory = await temporaryDirectory()
  const names = ['raw.events', 'Raw.events', 'raw.Events', 'a%2eb.c', 'a b.ä*?[x]=', '..x'.slice(2)]
  const targets = names.filter((name) => name.includes('.')).map(modelName)
  {
    await using buffer = await openBuffer(directory.path)
    for (const each of targets) await buffer.append(each, [eventBytes(each)], TIME)
  }
  const onDisk = await readdir(join(directory.path, 'buffer'))
  assert.is(new Set(onDisk.map((name) => name.toLowerCase())).size, targets.length)
  await using buffer = await openBuffer(directory.path)
  assert.equal((await buffer.targets()).toSorted(), targets.toSorted())
  for (const each of targets) {
    const { events } = await drain(buffer, each)
    assert.equal(
      events.map(({ event }) => event),
      [each],
    )
  }
})

test('stats count events, bytes and the oldest', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  assert.equal(buffer.stats(), { targets: new Map(), bytes: 0, writable: true })
  await buffer.append(target, [eventBytes(1)], TIME)
  const claim = await buffer.claim(target)
  assert.ok(claim)
  await buffer.append(target, [eventBytes(2), eventBytes(3)], '2026-03-01T11:00:00.000Z')
  const { bytes, targets } = buffer.stats()
  assert.equal(targets.get(target), { buffered: 2, claimed: 1, bytes, oldest: TIME })
  assert.ok(bytes > claim.bytes)
  await buffer.ack(claim)
  await drain(buffer)
  assert.equal(buffer.stats().bytes, 0)
  assert.is(buffer.stats().targets.get(target)?.oldest, null)
})

test('above the size limit appends are refused until a claim is acked', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path, { maxBufferBytes: 5000 })
  const append = () => buffer.append(target, [eventBytes('x'.repeat(1000))], TIME)
  let accepted = 0
  let refusal: unknown = null
  while (refusal === null && accepted < 10) refusal = await failure(append, () => (accepted += 1))
  assert.instance(refusal, BufferFullError)
  assert.is(typeof (refusal as BufferFullError).retryAfterSeconds, 'number')
  assert.ok(accepted >= 3 && accepted <= 4, String(accepted))
  assert.is((await drain(buffer)).events.length, accepted)
  await append()
})

test('too much waiting for the disk is refused, one large call is not', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path, { files: new FakeFiles() })
  const large = [Buffer.alloc(70 * 1024 * 1024, ' ')]
  const outcomes = await Promise.allSettled([
    buffer.append(target, large, TIME),
    buffer.append(target, [eventBytes(1)], TIME),
  ])
  assert.is(outcomes[0]?.status, 'fulfilled')
  assert.instance((outcomes[1] as PromiseRejectedResult).reason, BufferFullError)
})

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

test('a disk without room for a new file lets claims through, and numbers still go on', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  const buffer = await openBuffer(directory.path, { files })
  await buffer.append(target, [eventBytes('a')], TIME)
  files.fault = (operation, path) =>
    operation === 'open' && path.endsWith('.open') ? fileError('ENOSPC', path) : null
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

test('closing brings to disk what was appended, and later appends are refused', async () => {
  await using directory = await temporaryDirectory()
  const buffer = await openBuffer(directory.path)
  await buffer.append(target, [eventBytes(0)], TIME)
  const appends = [1, 2, 3].map((i) => buffer.append(target, [eventBytes(i)], TIME))
  await new Promise((resolve) => setImmediate(resolve))
  await buffer[Symbol.asyncDispose]()
  await Promise.all(appends)
  assert.instance(
    await failure(() => buffer.append(target, [eventBytes(4)], TIME)),
    BufferUnavailableError,
  )
  await using again = await openBuffer(directory.path)
  assert.is((await drain(again)).events.length, 4)
})

test('what is no target is left alone and reported; two files of one number stop the start', async () => {
  await using directory = await temporaryDirectory()
  {
    await using buffer = await openBuffer(directory.path)
    await buffer.append(target, [eventBytes(1)], TIME)
  }
  await writeFile(join(directory.path, 'buffer', 'notes.txt.old'), 'mine')
  const lines: LogLine[] = []
  {
    await using _ = await openBuffer(directory.path, {
      logger: createLogger((line) => lines.push(line)),
    })
  }
  assert.ok(lines.some(({ event }) => event === 'buffer-unknown-directory'))
  const path = join(directory.path, 'buffer', 'raw.events')
  const [sealed] = (await readdir(path)).filter((name) => name.endsWith('.sealed'))
  await writeFile(join(path, (sealed as string).replace('.sealed', '.claimed')), '')
  const error = await failure(() => openBuffer(directory.path))
  assert.is((error as { code?: string }).code, 'buffer-inconsistent')
})

async function failure(
  call: () => Promise<unknown>,
  succeeded: () => void = () => {},
): Promise<unknown> {
  try {
    await call()
    succeeded()
    return null
  } catch (error) {
    return error
  }
}

test.run()
