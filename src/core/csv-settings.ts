// How a CSV file is read, as far as its author says so; what is left out, DuckDB finds out by itself.

export interface CsvSettings {
  readonly delimiter?: string
  /** Empty: no sign is a quote. */
  readonly quote?: string
  readonly header?: boolean
  /** Texts that are NULL, in addition to nothing at all. */
  readonly nulls?: readonly string[]
  readonly decimal?: string
  readonly thousands?: string
  readonly encoding?: string
  readonly dateFormat?: string
  readonly timestampFormat?: string
  /** A column that a file of a pattern does not have is NULL there. */
  readonly unionByName?: boolean
}

/** What the end of a file's name says of its values; undefined: nothing. */
export const delimiterOf = (file: string): '\t' | undefined =>
  /\.tsv(?:\.(?:gz|zst))?$/i.test(file) ? '\t' : undefined
