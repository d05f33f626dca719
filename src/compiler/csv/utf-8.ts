// Whether a file is UTF-8 as a whole. DuckDB looks at the first rows of a CSV, and one of another encoding behind them, of
// which not all columns are read, ends the engine.

import { isUtf8 } from 'node:buffer'
import { createReadStream, statSync } from 'node:fs'
import { limits } from '../../core/limits.ts'
import { incompleteTail } from '../../core/utf8.ts'

/** Of a file that is longer than `most` bytes, whether its start is. */
export async function isUtf8File(path: string, most = Infinity): Promise<boolean> {
  let carry: Buffer = Buffer.alloc(0)
  const options = { highWaterMark: limits.csvChunkBytes, end: most - 1 }
  for await (const chunk of createReadStream(path, options)) {
    const bytes = carry.length === 0 ? (chunk as Buffer) : Buffer.concat([carry, chunk as Buffer])
    const whole = bytes.subarray(0, bytes.length - incompleteTail(bytes))
    if (!isUtf8(whole)) return false
    carry = bytes.subarray(whole.length)
  }
  return carry.length === 0 || statSync(path).size > most
}
