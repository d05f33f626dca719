// Whether the groups of a segment are on disk as they were written, in little memory: a run asks before it commits.

import { crc32 } from 'node:zlib'
import { limits } from '../core/limits.ts'
import { errorCode } from './errors.ts'
import type { Files } from './files.ts'
import { MARKER, MARKER_LINE_MAX_BYTES, nextMarker } from './segment.ts'

/** What may be the beginning of a marker line is looked at again with what follows it. */
const KEPT_BYTES = MARKER_LINE_MAX_BYTES + 1

interface Written {
  readonly sizeBytes: number
  readonly events: number
}

/** Valid groups alone, with so many events and bytes together. */
export async function isIntact(files: Files, path: string, written: Written): Promise<boolean> {
  // A run may be another user than the daemon, and may only read.
  const file = await files.open(path, 'r').catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
    return null
  })
  if (file === null) return false
  try {
    if ((await file.stat()).sizeBytes !== written.sizeBytes) return false
    const groups = new GroupReader()
    const memory = Buffer.allocUnsafe(limits.segmentPieceBytes)
    let [kept, position] = [0, 0]
    while (position < written.sizeBytes) {
      const got = await file.read(memory.subarray(kept), position)
      if (got === 0) return false
      position += got
      const bytes = memory.subarray(0, kept + got)
      const used = groups.read(bytes, position === written.sizeBytes)
      if (used === null) return false
      memory.copyWithin(0, used, bytes.length)
      kept = bytes.length - used
    }
    return kept === 0 && groups.events === written.events
  } finally {
    await file.close()
  }
}

class GroupReader {
  events = 0
  #crc = 0
  #linesBytes = 0

  /** How many of the bytes it has used: with the rest the next ones begin. null: a group is not valid. */
  read(bytes: Buffer, isEnd: boolean): number | null {
    let at = 0
    for (;;) {
      const marker = nextMarker(bytes, at)
      if (marker === null || (!isEnd && marker + MARKER_LINE_MAX_BYTES > bytes.length)) break
      this.#take(bytes.subarray(at, marker))
      const text = bytes.toString('latin1', marker, marker + MARKER_LINE_MAX_BYTES)
      const [line, events, length, crc] = MARKER.exec(text) ?? []
      if (line === undefined) return null
      if (Number(length) !== this.#linesBytes || Number(crc) !== this.#crc) return null
      this.events += Number(events)
      this.#crc = this.#linesBytes = 0
      at = marker + line.length
    }
    const end = Math.max(at, bytes.length - KEPT_BYTES)
    this.#take(bytes.subarray(at, end))
    return end
  }

  #take(lines: Buffer): void {
    this.#crc = crc32(lines, this.#crc)
    this.#linesBytes += lines.length
  }
}
