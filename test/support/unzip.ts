// The parts of a ZIP archive by name, as its directory at the end lists them.

import { crc32, inflateRawSync } from 'node:zlib'

/** Throws for bytes that are no archive, and for a part with another size or checksum than it should have. */
export function unzip(archive: Buffer): ReadonlyMap<string, Buffer> {
  const end = archive.length - 22
  if (archive.readUInt32LE(end) !== 0x06054b50) throw new Error('the archive has no end')
  const parts = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [checksum, packed, bytes] = [16, 20, 24].map((offset) =>
      archive.readUInt32LE(at + offset),
    )
    const nameBytes = archive.readUInt16LE(at + 28)
    const name = archive.toString('ascii', at + 46, at + 46 + nameBytes)
    const local = archive.readUInt32LE(at + 42)
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const part = inflateRawSync(archive.subarray(begin, begin + packed!))
    if (part.length !== bytes || crc32(part) !== checksum) throw new Error(`${name} is damaged`)
    parts.set(name, part)
    at += 46 + nameBytes
  }
  return parts
}
