// One small segment of four groups, damaged in every way that one byte or one cut can damage it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import type { EventBuffer } from '../../src/buffer/buffer.ts'
import { locationOf } from '../../src/buffer/claim-source.ts'
import { markerLine, scanSegment } from '../../src/buffer/segment.ts'
import { TIME, drain, eventBytes, openBuffer, readEvents, target } from '../support/open-buffer.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { FakeFiles } from '../support/fake-files.ts'

const DIRECTORY = '/buffer/raw.events'
const groups = [['a'], ['b1', 'b2', 'b3'], ['c'], ['d1', 'd2']]

interface Original {
  readonly name: string
  readonly bytes: Buffer
  /** Ends of the groups. */
  readonly ends: readonly number[]
}

async function makeSegment(directory: string): Promise<Original> {
  const files = new FakeFiles()
  await using buffer = await openBuffer(directory, { files })
  const ends: number[] = []
  for (const events of groups) {
    await buffer.append(target, events.map(eventBytes), TIME)
    ends.push(files.content(`${DIRECTORY}/${files.list(DIRECTORY)[0]}`).length)
  }
  const name = files.list(DIRECTORY)[0] as string
  return { name, bytes: files.content(`${DIRECTORY}/${name}`), ends }
}

/** A disk that holds only this segment file. */
async function placeSegment(name: string, bytes: Buffer): Promise<FakeFiles> {
  const files = new FakeFiles()
  await files.mkdir('/buffer')
  await files.mkdir(DIRECTORY)
  files.place(`${DIRECTORY}/${name}`, bytes)
  return files
}

const textOf = (events: readonly { readonly event: unknown }[]) => events.map(({ event }) => event)

test('cut at any byte: the groups before the cut are there, and no part of another', async () => {
  await using directory = await temporaryDirectory()
  const { name, bytes, ends } = await makeSegment(directory.path)
  for (let length = 0; length <= bytes.length; length += 1) {
    const files = await placeSegment(name, bytes.subarray(0, length))
    await using buffer = await openBuffer(directory.path, { files })
    const expected = groups.filter((_, i) => (ends[i] as number) <= length).flat()
    const { events } = await drain(buffer, target, files)
    assert.equal(textOf(events), expected, `cut at ${length}`)
    await assertGoesOn(buffer, files, expected.length)
  }
})

for (const state of ['open', 'sealed', 'claimed', 'returned'])
  test(`any byte of a segment that is ${state} flipped: every other group is there`, async () => {
    await using directory = await temporaryDirectory()
    const { name, bytes, ends } = await makeSegment(directory.path)
    for (let at = 0; at < bytes.length; at += 1)
      for (const mask of state === 'open' ? [0x01, 0x80] : [0x02]) {
        const flipped = Buffer.from(bytes)
        flipped[at] = (flipped[at] as number) ^ mask
        const files = await placeSegment(name.replace('open', state), flipped)
        const lines: LogLine[] = []
        const logger = createLogger((line) => lines.push(line))
        await using buffer = await openBuffer(directory.path, { files, logger })

        const hit = ends.findIndex((end) => at < end)
        const expected = groups.filter((_, i) => i !== hit).flat()
        const { events } = await drain(buffer, target, files)
        assert.equal(textOf(events), expected, `byte ${at} ^ ${mask}`)

        // In an open segment, a damaged last group without its marker looks like a write that was cut off. All else is put
        // aside and reported.
        const damaged = files.list(DIRECTORY).filter((file) => file.endsWith('.damaged'))
        const start = ends[hit - 1] ?? 0
        const cutOff = state === 'open' && hit === groups.length - 1 && damaged.length === 0
        if (cutOff) {
          assert.is(lines[0]?.event, 'segment-tail-cut')
        } else {
          assert.is(damaged.length, 1, `byte ${at}`)
          assert.equal(
            files.content(`${DIRECTORY}/${damaged[0]}`),
            flipped.subarray(start, ends[hit]),
          )
          assert.is(lines[0]?.level, 'error')
        }
        await assertGoesOn(buffer, files, expected.length)
      }
  })

for (const state of ['sealed', 'claimed', 'returned'])
  test(`a segment that is ${state} was whole, so what is cut off from it is reported and put aside`, async () => {
    await using directory = await temporaryDirectory()
    const { name, bytes, ends } = await makeSegment(directory.path)
    for (const length of [0, 5, ends[0]! - 1, ends[0]! + 1, ends[2]! + 9, bytes.length - 1]) {
      const files = await placeSegment(name.replace('open', state), bytes.subarray(0, length))
      const lines: LogLine[] = []
      const logger = createLogger((line) => lines.push(line))
      await using buffer = await openBuffer(directory.path, { files, logger })
      const kept = groups.filter((_, i) => ends[i]! <= length)
      assert.equal(textOf((await drain(buffer, target, files)).events), kept.flat())
      const damaged = files.list(DIRECTORY).filter((file) => file.endsWith('.damaged'))
      const rest = bytes.subarray(ends[kept.length - 1] ?? 0, length)
      assert.equal(
        damaged.map((file) => files.content(`${DIRECTORY}/${file}`)),
        length === 0 ? [] : [rest], // of nothing there is no copy
      )
      assert.equal([lines[0]?.level, lines[0]?.event], ['error', 'segment-damaged'])
    }
  })

test('two damaged places are put aside apart, with all between them kept', async () => {
  await using directory = await temporaryDirectory()
  const { name, bytes, ends } = await makeSegment(directory.path)
  const hurt = Buffer.from(bytes)
  hurt[3] = 0
  hurt[(ends[1] as number) + 3] = 0
  const files = await placeSegment(name, hurt)
  await using buffer = await openBuffer(directory.path, { files })
  assert.equal(textOf((await drain(buffer, target, files)).events), [...groups[1]!, ...groups[3]!])
  const damaged = files.list(DIRECTORY).filter((file) => file.endsWith('.damaged'))
  assert.is(damaged.length, 2)
})

test('a tail that is no longer text is cut off', async () => {
  await using directory = await temporaryDirectory()
  const { name, bytes } = await makeSegment(directory.path)
  for (const tail of [Buffer.alloc(5000), Buffer.alloc(5000, '\n'), Buffer.alloc(5000, 0xff)]) {
    const files = await placeSegment(name, Buffer.concat([bytes, tail]))
    await using buffer = await openBuffer(directory.path, { files })
    const claim = await buffer.claim(target)
    assert.ok(claim)
    assert.equal(files.content(locationOf(claim)), bytes)
  }
})

test('valid groups survive also when another number of bytes stands where one was damaged', async () => {
  await using directory = await temporaryDirectory()
  const { name, bytes, ends } = await makeSegment(directory.path)
  const [first, second] = ends as [number, number]
  for (const inserted of ['', 'x', 'x\n', '{"$commit":{"n":1,"len":99999,"crc":1}}\n', '\n\n']) {
    const changed = Buffer.concat([
      bytes.subarray(0, first),
      Buffer.from(inserted),
      bytes.subarray(second),
    ])
    const files = await placeSegment(name, changed)
    await using buffer = await openBuffer(directory.path, { files })
    const { events } = await drain(buffer, target, files)
    assert.equal(textOf(events), [...groups[0]!, ...groups[2]!, ...groups[3]!], inserted)
  }
})

test('a marker that reaches into a valid group does not make its events count twice', () => {
  const group = (lines: string, events: number) => lines + markerLine(events, Buffer.from(lines))
  const line = (seq: number) => `{"s":${seq},"t":"t","e":0}\n`
  const first = group(line(1), 1)
  const scan = scanSegment(Buffer.from(group(first + line(2), 2)), 'open')
  assert.equal([scan.events, scan.validEnd, scan.damaged.length], [1, first.length, 1])
})

/** The recovered buffer takes events, with new numbers, and a second recovery changes nothing. */
async function assertGoesOn(buffer: EventBuffer, files: FakeFiles, recovered: number) {
  await buffer.append(target, [eventBytes('next')], TIME)
  const { claims } = await drain(buffer, target, files)
  assert.is(claims.length, 1)
  assert.ok((claims[0]?.firstSeq ?? 0) > recovered)
  for (const file of files.list(DIRECTORY).filter((name) => !name.endsWith('.damaged')))
    assert.equal(readEvents(files.content(`${DIRECTORY}/${file}`)), [])
}

test.run()
