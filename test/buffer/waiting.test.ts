import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { markerLine, segmentFileName, type SegmentState } from '../../src/buffer/segment.ts'
import { waitingSegments } from '../../src/buffer/waiting.ts'
import { parseModelName } from '../../src/core/names.ts'

const target = parseModelName('raw.e')!

interface Space extends AsyncDisposable {
  readonly buffer: string
  readonly scratch: string
  write(number: number, state: SegmentState, text: string): Promise<string>
}

async function space(): Promise<Space> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-waiting-'))
  const [buffer, scratch] = [join(dir, 'buffer'), join(dir, 'scratch')]
  await mkdir(join(buffer, 'raw.e'), { recursive: true })
  await mkdir(scratch)
  return {
    buffer,
    scratch,
    async write(number, state, text) {
      const path = join(
        buffer,
        'raw.e',
        segmentFileName({ begin: 1, number, seq: 1, opening: 1, state }),
      )
      await writeFile(path, text)
      return path
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

function group(first: number, events: number): string {
  const lines = Array.from(
    { length: events },
    (_, i) => `{"s":${first + i},"t":"2026-01-01T00:00:00.000Z","e":{"id":${first + i}}}\n`,
  ).join('')
  return lines + markerLine(events, Buffer.from(lines))
}

test('whole segments are read in place, in the order of their numbers', async () => {
  await using given = await space()
  const second = await given.write(2, 'sealed', group(3, 1))
  const first = await given.write(1, 'returned', group(1, 2))
  assert.equal(await waitingSegments(given.buffer, target, given.scratch), [
    { target, segment: 1, opening: 1, events: 2, url: pathToFileURL(first).href },
    { target, segment: 2, opening: 1, events: 1, url: pathToFileURL(second).href },
  ])
  assert.equal(await readdir(given.scratch), [])
})

test('of a segment that is written to, or damaged, the valid groups are copied; the buffer stays', async () => {
  await using given = await space()
  const torn = `${group(1, 2)}{"s":3,"t":"2026-01`
  const damaged = `${group(4, 1)}no line of ours\n${group(5, 2)}`
  const files = [
    await given.write(1, 'open', torn),
    await given.write(2, 'sealed', damaged),
    await given.write(3, 'open', ''),
  ]
  const found = await waitingSegments(given.buffer, target, given.scratch)
  assert.equal(
    found.map(({ segment, events }) => [segment, events]),
    [
      [1, 2],
      [2, 3],
    ],
  )
  const texts = await Promise.all(found.map(({ url }) => readFile(new URL(url), 'utf8')))
  assert.equal(texts, [group(1, 2), group(4, 1) + group(5, 2)])
  const kept = await Promise.all(files.map((path) => readFile(path, 'utf8')))
  assert.equal(kept, [torn, damaged, ''])
})

test('no buffer, no segments', async () => {
  await using given = await space()
  const other = parseModelName('raw.other')!
  assert.equal(await waitingSegments(given.buffer, other, given.scratch), [])
})

test.run()
