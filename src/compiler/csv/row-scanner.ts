// The rows of a CSV file, byte by byte: whether each has as many fields as the header and each quote is closed.

import type { CsvFault, CsvShape } from './shape.ts'

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

export class RowScanner {
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

  /** At the end of the file. */
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
