// The words of a CSV file: how it is laid out, and what is wrong with it.

export const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]

export interface CsvShape {
  readonly delimiter: Delimiter
  /** Names as the header has them. */
  readonly columns: readonly string[]
  readonly newline: Newline
}

export type Newline = '\n' | '\r' | '\r\n'

/** The first thing that is wrong with the file. */
export interface CsvFault {
  readonly is:
    | 'utf-16'
    | 'not-utf-8'
    | 'blank-header'
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
}
