import { mkdir, readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { locationOf } from '../../src/buffer/claim-source.ts'
import { ClaimTargetError, UnknownClaimError } from '../../src/buffer/errors.ts'
import { TIME, drain, eventBytes, openBuffer, readClaim, target } from '../support/open-buffer.ts'
import { FakeFiles } from '../support/fake-files.ts'
import { failure } from '../support/failure.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { modelName } from '../support/model-name.ts'

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
    assert.ok(again)
    assert.is(again.id, first.id)
    assert.equal(
      (await readClaim(again)).map(({ event }) => event),
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

test('acks that come together cost one sync, and each has its own answer', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory.path, { files, segmentBytes: 1 })
  for (const event of [1, 2, 3, 4]) await buffer.append(target, [eventBytes(event)], TIME)
  const claims = [
    await buffer.claim(target),
    await buffer.claim(target),
    await buffer.claim(target),
  ]
  const [first, second, third] = claims.map((claim) => claim!)
  const syncs = () => files.calls.get('fsyncDirectory') ?? 0
  const before = syncs()
  const answers = await Promise.all(
    [second, first, second, { id: 'raw.events/1', target }, third].map((claim) =>
      buffer.ack(claim!).catch((error: unknown) => (error as Error).name),
    ),
  )
  assert.equal(answers, [1, 1, 0, 'UnknownClaimError', 1])
  assert.is(syncs() - before, 1)
  const { claims: left } = await drain(buffer, target, files)
  assert.equal(
    left.map(({ firstSeq }) => firstSeq),
    [4],
  )
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
  const long = await failure(() => buffer.ack({ id: 'raw.events/9999999999999999', target }))
  assert.match(String(long), '"raw.events/9999999999999999"')
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

test('a claim names its collector, and its segment is found whatever the directory is called', async () => {
  await using directory = await temporaryDirectory()
  const odd = join(directory.path, 'a b%20#[é]')
  await mkdir(odd)
  await using buffer = await openBuffer(odd)
  await buffer.append(target, [eventBytes(1)], TIME)
  const claim = await buffer.claim(target)
  assert.ok(claim)
  assert.is(claim.collector, hostname())
  assert.ok(claim.url.startsWith('file:///'))
  const location = locationOf(claim)
  assert.ok(location.startsWith(join(odd, 'buffer')))
  assert.match(await readFile(location, 'utf8'), '{"s":1,')
  assert.is(locationOf({ url: 's3://bucket/a%20b' }), 's3://bucket/a%20b')
})

test.run()
