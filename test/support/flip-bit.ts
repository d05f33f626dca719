// A fault of a disk.

import { open } from 'node:fs/promises'

/** Changes one bit of the byte at `at`. */
export async function flipBit(path: string, at: number): Promise<void> {
  await using file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte[0]! ^= 0x40
  await file.write(byte, 0, 1, at)
}
