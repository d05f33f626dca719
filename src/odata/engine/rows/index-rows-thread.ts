// The thread that makes an index for row-file.ts. It reads the file itself, through the descriptor that the process has.
// At a low priority: at that of the main thread it would keep requests waiting for some milliseconds at a time.

import { readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import { limits } from '../../../core/limits.ts'
import { lowerThisThread } from '../../../files/priority.ts'
import type { RowsToIndex } from './row-file.ts'
import { RowIndex } from './row-index.ts'

const [LINE_FEED, QUOTE, BACKSLASH, CLOSED] = Array.from('\n"\\]', (c) => c.charCodeAt(0))

lowerThisThread()
const { parts } = indexOf(workerData as RowsToIndex)
const { starts, crcs, hashes, slots } = parts
parentPort!.postMessage(parts, [starts.buffer, crcs.buffer, hashes.buffer, slots.buffer])

function indexOf({ fd, rows, bytes: size }: RowsToIndex): RowIndex {
  const index = RowIndex.empty(rows)
  let start = 0
  let left: Buffer = Buffer.alloc(0)
  for (let at = 0; at < size;) {
    const part = readPart(fd, at, size)
    at += part.length
    const bytes = left.length === 0 ? part : Buffer.concat([left, part])
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED!); end >= 0; end = bytes.indexOf(LINE_FEED!, from)) {
      if (index.added === rows) throw new Error('the file with rows has too many lines')
      addLine(index, bytes, { from, to: end + 1, start })
      start += end + 1 - from
      from = end + 1
    }
    left = bytes.subarray(from)
  }
  if (left.length > 0 || index.added !== rows)
    throw new Error('the file with rows has too few lines')
  return index
}

function readPart(fd: number, at: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(limits.sendAheadBytes, size - at))
  const count = readSync(fd, buffer, 0, buffer.length, at)
  if (count === 0) throw new Error(`the file with rows ends after ${at} bytes`)
  return buffer.subarray(0, count)
}

function addLine(
  index: RowIndex,
  bytes: Buffer,
  { from, to, start }: { readonly from: number; readonly to: number; readonly start: number },
): void {
  const hash = index.hash(bytes, from, endOfKey(bytes, from, to))
  const crc = crc32(bytes.subarray(from, to))
  index.add(hash, { start, bytes: to - from, crc }, to - from <= limits.rowInFileBytes)
}

/** After the bracket that closes the array of strings. */
function endOfKey(bytes: Buffer, from: number, to: number): number {
  let isInString = false
  for (let i = from; i < to; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) isInString = !isInString
    else if (isInString && byte === BACKSLASH) i++
    else if (!isInString && byte === CLOSED) return i + 1
  }
  throw new Error('a line of the file with rows has no key')
}
