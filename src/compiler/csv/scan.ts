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
import { firstInvalid, incompleteTail } from '../../core/utf8.ts'
import { isMarkOfUtf16 } from './utf-16.ts'

interface CsvScan {
  /** null: it cannot be determined. */
  readonly shape: CsvShape | null
  readonly fault: CsvFault | null
}

/**
 * `delimiter`: null where the header decides; `most`: bytes that are looked at. Throws what the system says of a file that
 * cannot be read.
 */
export async function scanCsv(
  path: string,
  delimiter: Delimiter | null,
  most = Infinity,
): Promise<CsvScan> {
  let rows: RowScanner | null = null
  let carry: Buffer = Buffer.alloc(0)
  let left = most
  const bounds = { highWaterMark: limits.csvChunkBytes, end: most - 1 }
  for await (const chunk of createReadStream(path, bounds)) {
    left -= (chunk as Buffer).length
    const bytes = carry.length === 0 ? (chunk as Buffer) : Buffer.concat([carry, chunk as Buffer])
    const whole = bytes.subarray(0, bytes.length - incompleteTail(bytes))
    carry = bytes.subarray(whole.length)
    if (rows === null) {
      if (isMarkOfUtf16(whole)) return { shape: null, fault: { ...TOP, is: 'utf-16' } }
      const [shape, other] = shapesOf(whole, delimiter)
      if (other !== undefined)
        return { shape: shape!, fault: { ...TOP, is: 'tie', other: other.delimiter } }
      rows = new RowScanner(shape!, startOf(whole))
    }
    const isWhole = isUtf8(whole)
    const valid = isWhole ? whole : whole.subarray(0, firstInvalid(whole))
    const fault = rows.scan(valid) ?? (isWhole ? null : rows.faultHere('not-utf-8'))
    if (fault !== null) return { shape: rows.shape, fault }
  }
  rows ??= new RowScanner(shapeOf(carry, delimiter), 0)
  if (left <= 0) return { shape: rows.shape, fault: null }
  return { shape: rows.shape, fault: carry.length > 0 ? rows.faultHere('not-utf-8') : rows.end() }
}

const TOP = { at: 0, line: 1, lineStart: 0 }

/** How the header of a CSV file is laid out. */
export async function headerOfFile(path: string): Promise<CsvShape> {
  return shapeOf(await startOfFile(path), null)
}

/** The first lines of a CSV file, as many as tell how it is laid out, and the fields of its second line. */
export async function topOfFile(path: string, delimiter: Delimiter | null = null) {
  const bytes = await startOfFile(path)
  const header = shapeOf(bytes, delimiter)
  const lines = bytes.toString('utf8', startOf(bytes)).split(LINE_END, TELLING_LINES)
  const second = fieldsOf(lines[1] ?? '', header)
  return { header, lines, second }
}

export const fieldsOf = (line: string, { delimiter }: Pick<CsvShape, 'delimiter'>) =>
  headerOf(line, delimiter).columns

async function startOfFile(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(limits.csvChunkBytes),
      0,
      limits.csvChunkBytes,
      0,
    )
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** The length of a byte order mark. */
const startOf = (bytes: Buffer) => (bytes.toString('hex', 0, 3) === 'efbbbf' ? 3 : 0)

function shapeOf(bytes: Buffer, given: Delimiter | null): CsvShape {
  return shapesOf(bytes, given)[0]!
}

const LINE_END = /\r\n|\r|\n/

const LONGEST_CHARACTER = 4

/** Lines behind the header that tell which of two signs parts the fields. */
const TELLING_LINES = 100

/** By the signs that split the header into the most columns; several only where rows do not tell which is meant. */
function shapesOf(bytes: Buffer, given: Delimiter | null): readonly CsvShape[] {
  const text = bytes.toString('utf8', startOf(bytes))
  const found = (given === null ? delimiters : [given]).map((sign) => headerOf(text, sign))
  const most = Math.max(...found.map(({ columns }) => columns.length))
  const best = found.filter(({ columns }) => columns.length === most)
  if (most === 1) return best.slice(0, 1)
  if (best.length === 1) return best
  const [, ...lines] = text.split(LINE_END, TELLING_LINES + 2)
  // The last line of a piece may go on in the next one.
  if (bytes.length > limits.csvChunkBytes - LONGEST_CHARACTER) lines.pop()
  const rows = lines.filter((line) => line !== '')
  const isRight = ({ delimiter }: CsvShape) =>
    rows.every((line) => {
      const { columns } = headerOf(line, delimiter)
      return columns.length === most && !columns.some((field) => field.startsWith('"'))
    })
  const right = best.filter(isRight)
  return rows.length === 0 || right.length === 0 ? best.slice(0, 1) : right
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

/** What a byte is. */
const [ORDINARY, DELIMITER, NEWLINE, QUOTE, SPACE] = [0, 1, 2, 3, 4]

/** Where a byte stands: at the start of a field, in it, in quotes, after a quote in quotes, after the closing quote. */
const [START, PLAIN, QUOTED, MAYBE_CLOSED, CLOSED] = [0, 1, 2, 3, 4]

const [LF, CR] = [0x0a, 0x0d]

interface Place {
  readonly at: number
  readonly line: number
  readonly lineStart: number
}

/** The rows, byte by byte: whether each has as many fields as the header and each quote is closed. */
class RowScanner {
  readonly shape: CsvShape
  readonly #kinds = new Uint8Array(256)
  /** Bytes of the chunks before. */
  #offset = 0
  #skip: number
  #state = START
  #fields = 1
  #line = 1
  #lineStart: number
  #rowStart: Place
  #isHeader = true
  /** The first field of the row that is too many. */
  #surplus: Place | null = null
  #opened: Place | null = null
  /** Outside of quotes, where the newlines of the file are CR LF. */
  #afterCr = false

  /** `skip`: bytes before the header. */
  constructor(shape: CsvShape, skip: number) {
    this.shape = shape
    this.#skip = skip
    this.#lineStart = skip
    this.#rowStart = { at: skip, line: 1, lineStart: skip }
    this.#kinds[shape.delimiter.charCodeAt(0)] = DELIMITER
    this.#kinds[LF] = NEWLINE
    this.#kinds[CR] = NEWLINE
    this.#kinds['"'.charCodeAt(0)] = QUOTE
    this.#kinds[' '.charCodeAt(0)] = SPACE
  }

  /** The next bytes of the file, cut between characters. Returns what is wrong first, after which it must not go on. */
  scan(chunk: Uint8Array): CsvFault | null {
    const kinds = this.#kinds
    const length = chunk.length
    for (let i = this.#skip; i < length; i++) {
      if (this.#state === PLAIN || this.#state === QUOTED) {
        while (i < length && kinds[chunk[i]!] === ORDINARY) i++
        if (i === length) break
      }
      const fault = this.#step(chunk[i]!, kinds[chunk[i]!]!, this.#offset + i)
      if (fault !== null) return fault
    }
    this.#skip = 0
    this.#offset += length
    return null
  }

  end(): CsvFault | null {
    if (this.#afterCr) return this.faultHere('newline')
    if (this.#state === QUOTED) return { ...this.#opened!, is: 'open-quote' }
    return this.#isBlank(this.#offset) && !this.#isHeader ? null : this.#endRow(this.#offset)
  }

  /** After what was scanned. */
  faultHere(is: CsvFault['is']): CsvFault {
    return { ...this.#place(this.#offset), is }
  }

  #place(at: number): Place {
    return { at, line: this.#line, lineStart: this.#lineStart }
  }

  #step(byte: number, kind: number, at: number): CsvFault | null {
    if (this.#state === QUOTED) {
      if (kind === QUOTE) this.#state = MAYBE_CLOSED
      else if (byte === (this.shape.newline === '\r' ? CR : LF)) this.#nextLine(at)
      return null
    }
    if (this.#afterCr && byte !== LF) return { ...this.#place(at), is: 'newline' }
    switch (kind) {
      case DELIMITER:
        if (this.#isHeader && this.#state === START) return this.#unnamed(at)
        this.#state = START
        if (++this.#fields === this.shape.columns.length + 1) this.#surplus = this.#place(at + 1)
        return null
      case NEWLINE:
        return this.#newline(byte, at)
      case QUOTE:
        return this.#quote(at)
      case SPACE:
        if (this.#state === MAYBE_CLOSED) this.#state = CLOSED
        return null
      default:
        if (this.#state === MAYBE_CLOSED || this.#state === CLOSED)
          return { ...this.#place(at), is: 'after-quote' }
        this.#state = PLAIN
        return null
    }
  }

  #quote(at: number): CsvFault | null {
    if (this.#state === CLOSED) return { ...this.#place(at), is: 'after-quote' }
    if (this.#state === START) this.#opened = this.#place(at)
    if (this.#state !== PLAIN) this.#state = QUOTED
    return null
  }

  #newline(byte: number, at: number): CsvFault | null {
    const { newline } = this.shape
    if (newline === '\r\n' && byte === CR) {
      this.#afterCr = true
      return null
    }
    if ((newline === '\r\n' && !this.#afterCr) || byte !== newline.charCodeAt(newline.length - 1))
      return { ...this.#place(at), is: 'newline' }
    this.#afterCr = false
    const fault = this.#endRow(at - newline.length + 1)
    this.#nextLine(at)
    this.#rowStart = this.#place(at + 1)
    this.#state = START
    this.#fields = 1
    this.#isHeader = false
    return fault
  }

  #nextLine(at: number): void {
    this.#line++
    this.#lineStart = at + 1
  }

  /** An empty line is not a row; in a file of one column DuckDB reads it as NULL. */
  #endRow(at: number): CsvFault | null {
    const isBlank = this.#isBlank(at)
    if (this.#isHeader) {
      if (isBlank) return { ...this.#rowStart, is: 'blank-header' }
      return this.#state === START ? this.#unnamed(at) : null
    }
    if (isBlank || this.#fields === this.shape.columns.length) return null
    const fields = this.#fields
    const place = fields > this.shape.columns.length ? this.#surplus! : this.#rowStart
    return { ...place, is: 'fields', fields }
  }

  /** DuckDB would make a name up. */
  #unnamed(at: number): CsvFault {
    return { ...this.#place(at), is: 'unnamed', fields: this.#fields }
  }

  #isBlank(at: number): boolean {
    return at === this.#rowStart.at
  }
}

const delimiters = [',', ';', '\t', '|'] as const
type Delimiter = (typeof delimiters)[number]

export const isDelimiter = (text: string): text is Delimiter =>
  delimiters.some((sign) => sign === text)

export interface CsvShape {
  readonly delimiter: Delimiter
  /** Names as the header has them. */
  readonly columns: readonly string[]
  readonly newline: Newline
}

type Newline = '\n' | '\r' | '\r\n'

/** The first thing that is wrong with the file. */
export interface CsvFault {
  readonly is:
    | 'utf-16'
    | 'not-utf-8'
    | 'blank-header'
    | 'tie'
    | 'unnamed'
    | 'fields'
    | 'open-quote'
    | 'after-quote'
    | 'newline'
  /** Bytes from the start of the file. */
  readonly at: number
  /** The line of `at`, counted from 1, and where it starts. */
  readonly line: number
  readonly lineStart: number
  /** Fields of the row, when their number is wrong; or the number of the field that has no name. */
  readonly fields?: number
  /** Another sign that may part the fields. */
  readonly other?: Delimiter
}
