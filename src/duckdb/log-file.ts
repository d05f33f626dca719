// The log that DuckDB keeps next to a database file, `<file>.wal`, as it lies on disk. DuckDB refuses a log in which a
// checksum is wrong, and passes over all that follows an entry whose size is wrong. Here it is told apart what a power cut
// may have left, and what was on disk and is no longer as it was.
//
//   header    64 00 62, 65 00 <version>, in files of a newer storage version 66 00 <16> <id of the file> and
//             67 00 <number of the checkpoint>, then ff ff; without a checksum. Numbers as endOfNumber() says
//   entry     size: 8 bytes, checksum: 8 bytes, both little-endian, then so many bytes
//   commit    an entry like any other, always the same: COMMIT below
//
// That is version 2; version 1 has no checksums, version 3 is encrypted. A commit appends its entries and its mark, and is
// synced before anything else is appended. So of what was not synced there is at most one mark, the last bytes of the log,
// and before them any sector may be missing. A mark that more bytes follow was synced, with all before it.
//
// The log is opened by file descriptor: no engine of this process may have it open (database.ts).

import { type FileHandle, open } from 'node:fs/promises'
import { limits } from '../core/limits.ts'

export type LogState =
  /** Every entry is right, or only the end of the last commit is missing: DuckDB sees to both. No log is whole. */
  | { readonly is: 'readable' }
  /** No log of this version in the clear. */
  | { readonly is: 'unknown' }
  /** The last commit is not whole. `committedBytes`: where the one before it ends. */
  | { readonly is: 'torn'; readonly badAt: number; readonly committedBytes: number }
  /** At least `lostCommits` commits cannot be read, from the byte `badAt` on, though they were synced. */
  | {
      readonly is: 'damaged'
      readonly badAt: number
      readonly committedBytes: number
      readonly lostCommits: number
    }

const COMMIT = Buffer.from('0500000000000000e7fe7d722fed3d5e640064ffff', 'hex')
/** A mark of which no more bytes than this are wrong is still known for one. */
const WRONG_BYTES_OF_MARK = 2
const ENTRY_HEAD_BYTES = 16
const VERSION = 2
const HEADER_START = Buffer.from('6400626500', 'hex')
const HEADER_MAX_BYTES = 64

/** `path`: of the log. */
export async function readLogState(path: string): Promise<LogState> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { is: 'readable' }
    throw error
  }
  try {
    return await judge(new LogBytes(file, (await file.stat()).size))
  } finally {
    await file.close()
  }
}

async function judge(log: LogBytes): Promise<LogState> {
  if (log.size === 0) return { is: 'readable' }
  const header = readHeader(await log.at(0, Math.min(log.size, HEADER_MAX_BYTES)))
  if (header === 'unknown') return { is: 'unknown' }
  let committedBytes = 0
  let at = header ?? 0
  while (header !== null) {
    const end = await endOfEntry(log, at)
    if (end === null) break
    if (await isCommit(log, at)) committedBytes = end
    if (end === log.size) return { is: 'readable' }
    at = end
  }
  return await judgeTail(log, at, committedBytes)
}

/** The entry at `badAt` is the first that is wrong. */
async function judgeTail(log: LogBytes, badAt: number, committedBytes: number): Promise<LogState> {
  const { marks, last } = await findMarks(log, badAt)
  const synced = last === log.size ? marks - 1 : marks
  const isMark = await isLikeMark(log, badAt)
  if (synced > 0 || (isMark && badAt + COMMIT.length < log.size))
    return { is: 'damaged', badAt, committedBytes, lostCommits: marks + (isMark ? 1 : 0) }
  if (marks === 0 && !isMark && (await endsEarly(log, badAt))) return { is: 'readable' }
  return { is: 'torn', badAt, committedBytes }
}

/** Where the entry at `at` ends; null: it is not whole. */
async function endOfEntry(log: LogBytes, at: number): Promise<number | null> {
  if (at + ENTRY_HEAD_BYTES > log.size) return null
  const head = await log.at(at, ENTRY_HEAD_BYTES)
  const size = readSize(head)
  const [low, high] = [head.readUInt32LE(8), head.readUInt32LE(12)]
  const start = at + ENTRY_HEAD_BYTES
  if (size === 0 || start + size > log.size) return null
  const sum = new Checksum()
  for (let done = 0; done < size;) {
    const part = Math.min(limits.readLogBytes, size - done)
    sum.add(await log.at(start + done, part))
    done += part
  }
  return sum.low === low && sum.high === high ? start + size : null
}

const readSize = (head: Buffer) => head.readUInt32LE(0) + head.readUInt32LE(4) * 2 ** 32

async function isCommit(log: LogBytes, at: number): Promise<boolean> {
  return at + COMMIT.length <= log.size && COMMIT.equals(await log.at(at, COMMIT.length))
}

/** Nothing is wrong but that bytes are missing where the log ends. */
async function endsEarly(log: LogBytes, at: number): Promise<boolean> {
  const left = log.size - at
  if (at === 0) return false
  if (left < ENTRY_HEAD_BYTES) return true
  const size = readSize(await log.at(at, ENTRY_HEAD_BYTES))
  return size > left - ENTRY_HEAD_BYTES && Number.isSafeInteger(size)
}

/** A mark in which bytes have changed. */
async function isLikeMark(log: LogBytes, at: number): Promise<boolean> {
  if (at + COMMIT.length > log.size) return false
  const bytes = await log.at(at, COMMIT.length)
  return COMMIT.filter((byte, i) => byte !== bytes[i]).length <= WRONG_BYTES_OF_MARK
}

/** Marks from `from` on: how many, and where the last one ends. */
async function findMarks(log: LogBytes, from: number) {
  let [marks, last] = [0, 0]
  for (let at = from; at + COMMIT.length <= log.size;) {
    const part = await log.at(at, Math.min(limits.readLogBytes, log.size - at))
    const found = part.indexOf(COMMIT)
    if (found >= 0) {
      marks++
      last = at += found + COMMIT.length
    } else at += part.length - COMMIT.length + 1
  }
  return { marks, last }
}

/** Where the header ends; null: it is not whole. */
function readHeader(bytes: Buffer): number | null | 'unknown' {
  const version = bytes[HEADER_START.length]
  if (version !== VERSION || !bytes.subarray(0, HEADER_START.length).equals(HEADER_START))
    return isTornHeader(bytes) ? null : 'unknown'
  let at = HEADER_START.length + 1
  if (hasField(bytes, at, 0x66)) {
    const elements = bytes[at + 2]!
    at += 3
    for (let i = 0; i < elements; i++) at = endOfNumber(bytes, at)
  }
  if (hasField(bytes, at, 0x67)) at = endOfNumber(bytes, at + 2)
  return bytes[at] === 0xff && bytes[at + 1] === 0xff ? at + 2 : null
}

/** What a power cut leaves of a sector that was never written before: its beginning, and zeros. */
function isTornHeader(bytes: Buffer): boolean {
  const wrong = HEADER_START.findIndex((byte, i) => byte !== bytes[i])
  const kept = wrong < 0 ? HEADER_START.length : wrong
  return bytes.subarray(kept).every((byte) => byte === 0)
}

const hasField = (bytes: Buffer, at: number, id: number) => bytes[at] === id && bytes[at + 1] === 0

/** A number has seven bits in each byte, and the eighth in all but its last. */
function endOfNumber(bytes: Buffer, at: number): number {
  while (bytes[at]! >= 0x80) at++
  return at + 1
}

/** The bytes of the log, read in large pieces. */
class LogBytes {
  readonly size: number
  readonly #file: FileHandle
  #piece: Buffer = Buffer.alloc(0)
  #start = 0

  constructor(file: FileHandle, size: number) {
    this.#file = file
    this.size = size
  }

  /** Not beyond the end, at most limits.readLogBytes. Good until the next call. */
  async at(start: number, length: number): Promise<Buffer> {
    if (start < this.#start || start + length > this.#start + this.#piece.length)
      await this.#read(start, length)
    return this.#piece.subarray(start - this.#start, start - this.#start + length)
  }

  async #read(start: number, length: number): Promise<void> {
    const piece = Buffer.allocUnsafe(Math.min(limits.readLogBytes, this.size - start))
    let got = 0
    while (got < piece.length) {
      const { bytesRead } = await this.#file.read(piece, got, piece.length - got, start + got)
      if (bytesRead === 0) break
      got += bytesRead
    }
    if (got < length) throw new Error('the log has become shorter while it was read')
    this.#piece = piece.subarray(0, got)
    this.#start = start
  }
}

const WORD_HIGH = 0xbf58476d
const WORD_LOW = 0x1ce4e5b9
const WORD_LOW_HIGH = WORD_LOW >>> 16
const WORD_LOW_LOW = WORD_LOW & 0xffff

/**
 * The checksum of an entry: the XOR of its words of 8 bytes, each times a constant, modulo 2^64. In two halves, since
 * arithmetic of BigInt takes twenty times as long.
 */
class Checksum {
  #low = 5381
  #high = 0

  get low(): number {
    return this.#low >>> 0
  }

  get high(): number {
    return this.#high >>> 0
  }

  /** Only the last part may end within a word. */
  add(bytes: Buffer): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const wordsEnd = bytes.length - (bytes.length % 8)
    let [low, high] = [this.#low, this.#high]
    for (let at = 0; at < wordsEnd; at += 8) {
      const a = view.getUint32(at, true)
      const b = view.getUint32(at + 4, true)
      const [aLow, aHigh] = [a & 0xffff, a >>> 16]
      const middle = aLow * WORD_LOW_HIGH + aHigh * WORD_LOW_LOW + ((aLow * WORD_LOW_LOW) >>> 16)
      const carried = aHigh * WORD_LOW_HIGH + Math.floor(middle / 0x10000)
      low ^= Math.imul(a, WORD_LOW)
      high ^= (carried | 0) + Math.imul(a, WORD_HIGH) + Math.imul(b, WORD_LOW)
    }
    this.#low = low
    this.#high = high
    if (wordsEnd < bytes.length) this.#addRest(bytes.subarray(wordsEnd))
  }

  #addRest(rest: Buffer): void {
    const factor = 0xc6a4a7935bd1e995n
    const times = (value: bigint) => BigInt.asUintN(64, value * factor)
    let hash = 0xe17a1465n ^ times(BigInt(rest.length))
    for (const [i, byte] of rest.entries()) hash ^= BigInt(byte) << BigInt(8 * i)
    hash = times(hash)
    hash = times(hash ^ (hash >> 47n))
    hash ^= hash >> 47n
    this.#low ^= Number(hash & 0xffffffffn) | 0
    this.#high ^= Number(hash >> 32n) | 0
  }
}
