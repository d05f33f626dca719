// Packed files of which the end is missing, as after an upload that was not finished: DuckDB reads the rows up to there, and
// says nothing.

import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { limits } from '../../core/limits.ts'
import type { Explanation } from '../hints/engine-words.ts'

/** By path, with what it was like: of a process that compiles again and again, a file is unpacked once. */
const whole = new Map<string, string>()

/**
 * Whether a file that is named `.gz` or `.zst` ends before its content does, or has other bytes than were packed. False for one of
 * another name or form, and for one that is not there: DuckDB says that.
 */
export async function isCutOff(path: string): Promise<boolean> {
  const isIn = /\.gz$/i.test(path) ? isCutOffGzip : /\.zst$/i.test(path) ? isCutOffZstd : null
  if (isIn === null) return false
  const found = await stat(path).catch(() => null)
  if (found?.isFile() !== true) return false
  const { ino, size, mtimeMs } = found
  const stamp = `${ino} ${size} ${mtimeMs}`
  if (whole.get(path) === stamp) return false
  if (size > 0 && (await isIn(path))) return true
  whole.set(path, stamp)
  return false
}

export const earlyEnd = (file: string): Explanation => ({
  problem: `${file} ends early, so that rows of it are missing`,
  hint: 'write it again; while it is written, give it another name, and rename it once it is whole',
})

/** Only the end of a stream says that it is the end. */
async function isCutOffGzip(path: string): Promise<boolean> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const options = { highWaterMark: limits.csvChunkBytes }
  try {
    await pipeline(
      createReadStream(path, options),
      createGunzip({ chunkSize: limits.csvChunkBytes }),
      nowhere,
    )
    return false
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isOfData = code === 'Z_BUF_ERROR' || code === 'Z_DATA_ERROR'
    return isOfData && message !== 'incorrect header check'
  }
}

const ZSTD_FRAME = 0xfd2fb528
/** Of what is left out, the last four bits are free. */
const SKIPPABLE_FRAME = 0x184d2a50
const FRAME_HEADER_BYTES = 18
const BLOCK_HEADER_BYTES = 3
const RLE_BLOCK = 1

/** Headers of frames and blocks say where the next ones are (RFC 8878, 3.1). */
async function isCutOffZstd(path: string): Promise<boolean> {
  await using file = await open(path)
  const { size } = await file.stat()
  let at = 0
  while (at < size) {
    const next = await endOfFrame(file, at)
    // DuckDB says what is wrong with what is no frame.
    if (next === null) return at > 0
    if (next > size) return true
    at = next
  }
  return false
}

/** Beyond the end of the file where it ends early; null: no frame begins here. */
async function endOfFrame(file: FileHandle, start: number): Promise<number | null> {
  const header = await bytesAt(file, start, FRAME_HEADER_BYTES)
  const magic = header.length < 4 ? ZSTD_FRAME : header.readUInt32LE(0)
  const isSkippable = magic >>> 4 === SKIPPABLE_FRAME >>> 4
  if (magic !== ZSTD_FRAME && !isSkippable) return null
  if (header.length < 8) return Infinity
  if (isSkippable) return start + 8 + header.readUInt32LE(4)
  const flags = header[4]!
  const isOneSegment = (flags & 0x20) !== 0
  const sizeBytes = [isOneSegment ? 1 : 0, 2, 4, 8][flags >> 6]!
  const dictionaryBytes = [0, 1, 2, 4][flags & 3]!
  let at = start + 5 + (isOneSegment ? 0 : 1) + dictionaryBytes + sizeBytes
  for (let isLast = false; !isLast;) {
    const block = await bytesAt(file, at, BLOCK_HEADER_BYTES)
    if (block.length < BLOCK_HEADER_BYTES) return Infinity
    const fields = block.readUIntLE(0, BLOCK_HEADER_BYTES)
    isLast = (fields & 1) === 1
    at += BLOCK_HEADER_BYTES + (((fields >> 1) & 3) === RLE_BLOCK ? 1 : fields >> 3)
  }
  return at + ((flags & 4) === 0 ? 0 : 4)
}

async function bytesAt(file: FileHandle, at: number, most: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, at)
  return buffer.subarray(0, bytesRead)
}
