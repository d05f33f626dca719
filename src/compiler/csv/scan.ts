// The shape of a CSV file, read strictly: the header says which sign parts the fields and how many there are, and each
// row has as many. DuckDB reads the rows; left to detect the shape by itself it takes the one that fits most lines,
// and silently drops the others.
//
// What a quote means is what it means to DuckDB: it opens a value at the start of a field, also after spaces, and is
// a letter everywhere else.

import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { limits } from '../../core/limits.ts'
import { firstInvalid } from '../../core/utf8.ts'
import { type CsvFault, type CsvShape, type Delimiter, delimiters, type Newline } from './shape.ts'
import { RowScanner } from './row-scanner.ts'

interface CsvScan {
  /** null: it cannot be determined. */
  readonly shape: CsvShape | null
  readonly fault: CsvFault | null
}

/** `delimiter`: null where the header decides. Throws what the system says of a file that cannot be read. */
export async function scanCsv(path: string, delimiter: Delimiter | null): Promise<CsvScan> {
  let rows: RowScanner | null = null
  let carry: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(path, { highWaterMark: limits.csvChunkBytes })) {
    const bytes = carry.length === 0 ? (chunk as Buffer) : Buffer.concat([carry, chunk as Buffer])
    const whole = bytes.subarray(0, bytes.length - incompleteTail(bytes))
    carry = bytes.subarray(whole.length)
    if (rows === null) {
      const isUtf16 = /^(?:fffe|feff)/.test(whole.toString('hex', 0, 2))
      if (isUtf16) return { shape: null, fault: { is: 'utf-16', at: 0, line: 1, lineStart: 0 } }
      rows = new RowScanner(shapeOf(whole, delimiter), startOf(whole))
    }
    const isWhole = isUtf8(whole)
    const valid = isWhole ? whole : whole.subarray(0, firstInvalid(whole))
    const fault = rows.scan(valid) ?? (isWhole ? null : rows.faultHere('not-utf-8'))
    if (fault !== null) return { shape: rows.shape, fault }
  }
  rows ??= new RowScanner(shapeOf(carry, delimiter), 0)
  return { shape: rows.shape, fault: carry.length > 0 ? rows.faultHere('not-utf-8') : rows.end() }
}

/** How the header of a CSV file is laid out, from the start of the file. */
export async function headerOfFile(path: string): Promise<CsvShape> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(limits.csvChunkBytes),
      0,
      limits.csvChunkBytes,
      0,
    )
    return shapeOf(buffer.subarray(0, bytesRead), null)
  } finally {
    await file.close()
  }
}

/** The length of a byte order mark. */
const startOf = (bytes: Buffer) => (bytes.toString('hex', 0, 3) === 'efbbbf' ? 3 : 0)

/** Bytes at the end that may be the start of a character. */
function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}

function shapeOf(bytes: Buffer, given: Delimiter | null): CsvShape {
  const text = bytes.toString('utf8', startOf(bytes))
  const found = given === null ? delimiters : [given]
  return found
    .map((delimiter) => headerOf(text, delimiter))
    .reduce((best, next) => (next.columns.length > best.columns.length ? next : best))
}

/** The first row, read with a delimiter. */
function headerOf(text: string, delimiter: Delimiter): CsvShape {
  const columns: string[] = []
  const plain = `[^${delimiter}\\r\\n]*`
  const field = new RegExp(` *"((?:[^"]|"")*)" *(?=[${delimiter}\\r\\n]|$)|(${plain})`, 'y')
  for (;;) {
    const [, quoted, name = ''] = field.exec(text)!
    columns.push(quoted === undefined ? name.trim() : quoted.replaceAll('""', '"'))
    if (text[field.lastIndex] !== delimiter) break
    field.lastIndex++
  }
  const [newline = '\n'] =
    /^(?:\r\n|\r|\n)/.exec(text.slice(field.lastIndex, field.lastIndex + 2)) ?? []
  return { delimiter, columns, newline: newline as Newline }
}
