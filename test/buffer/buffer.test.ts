import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { BufferFullError, BufferUnavailableError } from '../../src/buffer/errors.ts'
import { scanSegment } from '../../src/buffer/segment.ts'
import { TIME, drain, eventBytes, openBuffer, readClaim, target } from '../support/open-buffer.ts'
import { failure } from '../support/failure.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { modelName } from '../support/model-name.ts'
import { FakeFiles } from '../support/fake-files.ts'

test('a buffer has one owner, which the refusal names; closing it lets the next one in', async () => {
  await using directory = await temporaryDirectory()
  {
    await using _buffer = await openBuffer(directory.path)
    const error = await failure(() => openBuffer(directory.path))
    assert.instance(error, EnvironmentError)
    assert.is((error as EnvironmentError).code, 'buffer-locked')
    assert.ok((error as EnvironmentError).message.includes(`process ${process.pid}`))
  }
  await using _again = await openBuffer(directory.path)
})

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
  const text = await readFile(new URL(claim.url), 'utf8')
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
  const scan = scanSegment(await readFile(join(path, segment as string)), 'open')
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
  assert.equal(targets.get(target), {
    buffered: 2,
    claimed: 1,
    bytes,
    oldest: TIME,
    repeats: 0,
  })
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
  let refusal = await failure(append)
  while (refusal === null && accepted < 10) {
    accepted += 1
    refusal = await failure(append)
  }
  assert.instance(refusal, BufferFullError)
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

test('closing waits for claims and acks under way, and later ones are refused', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  const buffer = await openBuffer(directory.path, { files, segmentBytes: 1 })
  for (const event of [1, 2, 3]) await buffer.append(target, [eventBytes(event)], TIME)
  const first = await buffer.claim(target)
  const second = await buffer.claim(target)
  assert.ok(first && second)
  const settled: string[] = []
  const note = (what: string) => () => void settled.push(what)
  const calls = [
    buffer.ack(first).then(note('acked')),
    buffer.nack(second).then(note('given back')),
    buffer.claim(target).then(note('claimed')),
  ]
  await buffer[Symbol.asyncDispose]().then(note('closed'))
  await Promise.all(calls)
  assert.equal(settled, ['acked', 'given back', 'claimed', 'closed'])
  const { operations } = files
  for (const call of [
    () => buffer.claim(target),
    () => buffer.ack(second),
    () => buffer.nack(second),
  ]) {
    const error = await failure(call)
    assert.instance(error, BufferUnavailableError)
    assert.is((error as Error).message, 'the buffer is closed')
  }
  assert.is(files.operations, operations)
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

test.run()
