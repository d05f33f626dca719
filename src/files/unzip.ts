// Parts of a ZIP archive, each read without the others, as the directory at its end lists them (APPNOTE.TXT of PKWARE, 4.3).

import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import { KiB, MiB } from '../core/byte-sizes.ts'

export interface ZippedPart {
  readonly path: string
  /** Of its header. */
  readonly at: number
  readonly packedBytes: number
  /** Unpacked, as the archive says. */
  readonly sizeBytes: number
  readonly isDeflated: boolean
}

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL_BYTES = 30

/** A comment of 64 KiB and the record itself. */
const END_BYTES = 64 * KiB + 22

/** A workbook has some dozens of parts, of a hundred bytes each in the directory. */
const MOST_DIRECTORY_BYTES = MiB

/** By name; null: it is no archive, or one of more than 4 GiB, or of very many parts. */
export async function partsOfZip(path: string): Promise<ReadonlyMap<string, ZippedPart> | null> {
  await using file = await open(path)
  const { size } = await file.stat()
  const last = await bytesAt(file, Math.max(0, size - END_BYTES), Math.min(size, END_BYTES))
  const end = last.lastIndexOf(Buffer.from(Uint32Array.of(END).buffer))
  if (end < 0 || end + 22 > last.length) return null
  const [bytes, begin] = [last.readUInt32LE(end + 12), last.readUInt32LE(end + 16)]
  if (bytes > MOST_DIRECTORY_BYTES || begin + bytes > size) return null
  const directory = await bytesAt(file, begin, bytes)
  const parts = new Map<string, ZippedPart>()
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === CENTRAL;) {
    const nameBytes = directory.readUInt16LE(at + 28)
    const name = directory.toString('utf8', at + 46, at + 46 + nameBytes)
    const method = directory.readUInt16LE(at + 10)
    const isPlain = (directory.readUInt16LE(at + 8) & 1) === 0
    if (isPlain && (method === 0 || method === 8))
      parts.set(name, {
        path,
        at: directory.readUInt32LE(at + 42),
        packedBytes: directory.readUInt32LE(at + 20),
        sizeBytes: directory.readUInt32LE(at + 24),
        isDeflated: method === 8,
      })
    at += 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return parts
}

/** Its bytes, unpacked; whoever has read enough destroys it. What is wrong with the archive is an error with a `code`. */
export async function readPart(part: ZippedPart): Promise<Readable> {
  await using file = await open(part.path)
  const header = await bytesAt(file, part.at, LOCAL_BYTES)
  const start = part.at + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
  const packed = createReadStream(part.path, { start, end: start + part.packedBytes - 1 })
  if (!part.isDeflated) return packed
  return pipeline(packed, createInflateRaw(), () => {}) // a failure is thrown by the stream as well
}

async function bytesAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position)
  return buffer.subarray(0, bytesRead)
}
