// A ZIP archive as a stream of bytes, of parts of which no length is known before they end: the sizes and the checksum of a
// part follow its bytes, and its header says so by a flag (APPNOTE.TXT of PKWARE, 4.3.9). Equal parts make equal bytes: the
// date of all parts is the first that the format knows.

import { pipeline } from 'node:stream'
import { constants, crc32, createDeflateRaw } from 'node:zlib'

interface ZipPart {
  /** In ASCII, with slashes. */
  readonly name: string
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>
}

/** A part or an archive for whose size the 32 bits of the format are too few. */
class ZipTooLarge extends Error {
  override name = 'ZipTooLarge'
}

interface Written {
  readonly name: Buffer
  readonly at: number
  readonly checksum: number
  readonly packed: number
  readonly bytes: number
}

const LARGEST = 0xffff_ffff
const LOCAL = 0x04034b50
const SIZES = 0x08074b50
const CENTRAL = 0x02014b50
const END = 0x06054b50

/** Needed version 2.0, sizes after the bytes, deflated, at midnight of 1 January 1980. */
const COMMON = [20, 8, 8, 0, 0x21]

/** Throws ZipTooLarge, and what the content of a part throws: what came before it is then no archive. */
export async function* zip(parts: Iterable<ZipPart>): AsyncGenerator<Buffer, void> {
  const all: Written[] = []
  let at = 0
  for (const part of parts) {
    const name = Buffer.from(part.name, 'ascii')
    const tally = { checksum: 0, bytes: 0 }
    const head = Buffer.concat([
      int32(LOCAL),
      int16(...COMMON),
      int32(0, 0, 0),
      int16(name.length, 0),
      name,
    ])
    yield head
    let packed = 0
    for await (const bytes of deflated(counted(part.content, tally))) {
      packed += bytes.length
      yield bytes
    }
    const sizes = int32(SIZES, tally.checksum, packed, tally.bytes)
    yield sizes
    all.push({ ...tally, name, at, packed })
    at += head.length + packed + sizes.length
    if (at > LARGEST) throw new ZipTooLarge()
  }
  yield directory(all, at)
}

function directory(all: readonly Written[], at: number): Buffer {
  const entries = all.map(({ name, checksum, packed, bytes, at: begin }) =>
    Buffer.concat([
      int32(CENTRAL),
      int16(20, ...COMMON),
      int32(checksum, packed, bytes),
      int16(name.length, 0, 0, 0, 0),
      int32(0, begin),
      name,
    ]),
  )
  const list = Buffer.concat(entries)
  const end = [int32(END), int16(0, 0, all.length, all.length), int32(list.length, at), int16(0)]
  return Buffer.concat([list, ...end])
}

/** Rows of a sheet have a tenth of their bytes at the fastest level. */
function deflated(content: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const coder = createDeflateRaw({ level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 })
  pipeline(content, coder, () => {}) // a failure is thrown by the coder as well
  return coder
}

async function* counted(
  content: ZipPart['content'],
  tally: { checksum: number; bytes: number },
): AsyncGenerator<Buffer, void> {
  for await (const bytes of content) {
    tally.checksum = crc32(bytes, tally.checksum)
    tally.bytes += bytes.length
    if (tally.bytes > LARGEST) throw new ZipTooLarge()
    yield bytes
  }
}

const int16 = (...values: readonly number[]) => Buffer.from(Uint16Array.from(values).buffer)
const int32 = (...values: readonly number[]) => Buffer.from(Uint32Array.from(values).buffer)
