// How the lines of a CSV file end: where one ends in another way than the header, which DuckDB refuses in words that name no
// line, and how many are blank.

import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { MiB } from '../../core/byte-sizes.ts'
import { count } from '../../core/counts.ts'
import { limits } from '../../core/limits.ts'
import type { Explanation } from '../hints/engine-words.ts'

const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22]

/**
 * What DuckDB says of a file whose rows it cannot tell apart; null: something else, or the lines are not the reason. Paths
 * are relative to `dir`; with none they are absolute, and only the name of the file is shown.
 */
export function mixedLineEnds(message: string, dir: string): Explanation | null {
  if (!/^(?:Error when sniffing file|The CSV Parser state machine)/.test(message)) return null
  const path = /sniffing file "([^"]+)"/.exec(message)?.[1] ?? /^ *file = (.+)$/m.exec(message)?.[1]
  if (
    path === undefined ||
    statSync(resolve(dir, path), { throwIfNoEntry: false })?.isFile() !== true
  )
    return null
  const found = otherLineEnd(resolve(dir, path))
  if (found === null) return null
  const { line, column, is, header } = found
  return {
    problem: `${dir === '' ? basename(path) : path}:${line}:${column}: this line ends in ${is}, and the header in ${header}`,
    hint: LINE_ENDS_HINT,
  }
}

interface OtherEnd {
  readonly line: number
  readonly column: number
  readonly is: string
  readonly header: string
}

/** The first line, outside of quotes, that ends in another way than the header. */
function otherLineEnd(path: string): OtherEnd | null {
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(limits.csvChunkBytes)
    let header: string | null = null
    let [line, start, offset, isQuoted, before] = [1, 0, 0, false, 0]
    const at = (end: number, is: string): OtherEnd | null => {
      header ??= is
      if (is !== header) return { line, column: end - start + 1, is, header }
      line++
      return null
    }
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      for (let i = 0; i < read; i++) {
        const byte = chunk[i]!
        const place = offset + i
        let other: OtherEnd | null = null
        if (before === CR && byte !== LF) {
          other = at(place - 1, 'CR')
          start = place
        }
        if (byte === LF && !isQuoted) {
          other ??= before === CR ? at(place - 1, 'CR LF') : at(place, 'LF')
          start = place + 1
        }
        if (other !== null) return other
        if (byte === QUOTE) isQuoted = !isQuoted
        before = isQuoted ? 0 : byte
      }
      offset += read
    }
    return null
  } finally {
    closeSync(file)
  }
}

/** What of a file is looked at for blank lines: about a tenth of a second. */
const BLANK_BYTES = 32 * MiB

/** How many lines below the header are blank, outside of quotes; of a file with a single column each is a row. */
export async function blankLines(path: string, quote = '"'): Promise<number> {
  const sign = quote === '' ? null : quote.charCodeAt(0)
  let [blank, isQuoted, isStart, isTop, before] = [0, false, true, true, 0]
  const options = { highWaterMark: limits.csvChunkBytes, end: BLANK_BYTES - 1 }
  for await (const chunk of createReadStream(path, options))
    for (const byte of chunk as Buffer) {
      const isEnd = !isQuoted && (byte === CR || (byte === LF && before !== CR))
      if (isEnd && isStart && !isTop) blank++
      if (isEnd) isStart = true
      else if (byte !== LF || isQuoted) isStart = isTop = false
      if (byte === sign) isQuoted = !isQuoted
      before = byte
    }
  return blank
}

export const LINE_ENDS_HINT =
  'use the same line endings throughout; put a value that contains a line break in quotes'

export const blankProblem = (lines: number): string =>
  `${count(lines, 'blank line')} in a file with one column, where each is a row with NULL`

export const BLANK_HINT = 'remove them; a row whose value is missing on purpose is written as ""'
