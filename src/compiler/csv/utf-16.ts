// Whether a CSV file is UTF-16, of which DuckDB reads the little-endian form alone: any other file it reads as UTF-16 has
// names and values that nobody wrote, or no rows.

import { closeSync, openSync, readSync, statSync } from 'node:fs'

export const isMarkOfUtf16 = (bytes: Buffer) => /^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2))

/** Enough for a line or more: a sign that parts values or lines has a byte 0 in UTF-16. */
const START_BYTES = 1024

/** What the start of a file tells; null also where there is no file of this name, or nothing in it. */
export function utf16Of(path: string): 'little-endian' | 'big-endian' | null {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(START_BYTES)
    return orderOf(start.subarray(0, readSync(file, start)))
  } finally {
    closeSync(file)
  }
}

/** Commas, semicolons, tabs, bars and line ends of both orders are counted, as other letters have a byte 0 in either half. */
function orderOf(bytes: Buffer): 'little-endian' | 'big-endian' | null {
  if (isMarkOfUtf16(bytes)) return bytes[0] === 0xff ? 'little-endian' : 'big-endian'
  if (!bytes.includes(0)) return null
  let [little, big] = [0, 0]
  for (let i = 0; i + 1 < bytes.length; i += 2) {
    if (bytes[i + 1] === 0 && isSign(bytes[i]!)) little++
    if (bytes[i] === 0 && isSign(bytes[i + 1]!)) big++
  }
  return big > little ? 'big-endian' : 'little-endian'
}

const isSign = (byte: number) => ',;\t|\r\n'.includes(String.fromCharCode(byte))
