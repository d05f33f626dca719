// Events that were accepted, and whose bytes have changed on disk since. What holds them, groups of a segment, is taken out
// of it and kept next to it, until a person has looked at it and taken it away:
//
//   <number>-<crc>.damaged    number of the segment; CRC-32 of the file, hexadecimal
//
// The process that opens the buffer does that (recovery.ts), and so does a run once it has read a segment, before it commits
// (EventBuffer.verify).

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DamagedEvents } from '../core/report/damaged-events.ts'
import { errorCode } from './errors.ts'
import { LINE_START, MARKER, MARKER_LINE_MAX_BYTES, nextMarker } from './segment.ts'
import { parseDirectoryName } from './target-directory.ts'
import { fileNamesIn } from './waiting.ts'

const NAME = /^\d+-[0-9a-f]{8}\.damaged$/

/** Reads all targets from outside, by path. Nothing is locked or changed. */
export async function damagedEvents(bufferDir: string): Promise<readonly DamagedEvents[]> {
  const found: DamagedEvents[] = []
  for (const directory of await fileNamesIn(bufferDir)) {
    const target = parseDirectoryName(directory)
    if (target === null) continue
    for (const name of (await fileNamesIn(join(bufferDir, directory))).filter((n) =>
      NAME.test(n),
    )) {
      const path = join(bufferDir, directory, name)
      const bytes = await readFile(path).catch(nothingIfGone)
      if (bytes !== null) found.push({ target, path, bytes: bytes.length, events: eventsIn(bytes) })
    }
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** By its lines or by its markers: either may be what has changed. */
function eventsIn(bytes: Buffer): number {
  let lines = 0
  for (let at = 0; at < bytes.length; at = endOfLine(bytes, at))
    if (bytes.toString('latin1', at, at + LINE_START.length) === LINE_START) lines++
  let counted = 0
  for (let at = nextMarker(bytes, 0); at !== null; at = nextMarker(bytes, at)) {
    const text = bytes.toString('latin1', at, at + MARKER_LINE_MAX_BYTES)
    counted += Number(MARKER.exec(text)?.[1] ?? 0)
  }
  return Math.max(lines, counted)
}

function endOfLine(bytes: Buffer, from: number): number {
  const at = bytes.indexOf('\n', from)
  return at < 0 ? bytes.length : at + 1
}

function nothingIfGone(error: unknown): null {
  if (errorCode(error) !== 'ENOENT') throw error
  return null
}
