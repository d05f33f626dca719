// Columns as DuckDB describes them.

declare const columnTypeBrand: unique symbol

/** DuckDB's own spelling of a type, such as `DECIMAL(18,4)` or `STRUCT("a b" INTEGER)[]`. */
export type ColumnType = string & { readonly [columnTypeBrand]: true }

/** How a value is shown, of a column and of a measure. */
export interface Shown {
  /** One line for people. */
  readonly description?: string
  /** A few words, as the head of a column. */
  readonly label?: string
  /** Such as `EUR`, `kg` or `%`; of a column also the name of one that has it, in each row. */
  readonly unit?: string
  /** How many digits it is shown with, such as `0.00`. */
  readonly format?: string
}

export interface Column extends Shown {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** The column with a text for people that says what this one means. */
  readonly text?: string
}

/** What is said of a column beyond what it is. */
export function textsOf(column: Column): Shown & Pick<Column, 'text'> {
  const { name: _name, type: _type, nullable: _nullable, ...texts } = column
  return texts
}

/** Such a column is filled with the server's time when an event does not bring one, NOT NULL or not. */
export const isReceivedAt = ({ name, type }: Pick<Column, 'name' | 'type'>): boolean =>
  name === 'received_at' && /^(TIMESTAMPTZ|TIMESTAMP WITH TIME ZONE)$/i.test(type)

// Words, numbers, brackets, commas and quoted names or ENUM members: all that a type can be made of.
// Nothing that matches can end a statement or open a comment.
const TYPE_TEXT = /^(?:[A-Za-z0-9_ ,()[\]]|"(?:[^"\0]|"")*"|'(?:[^'\0]|'')*')+$/

export const isTypeText = (text: string): boolean => TYPE_TEXT.test(text)

/** For text that DuckDB printed as a type (DESCRIBE, prepared statements, the catalog). */
export function columnType(text: string): ColumnType {
  if (!isTypeText(text)) throw new Error(`not a column type: ${text}`)
  return text as ColumnType
}

export const isWholeNumber = (type: string): boolean =>
  /^U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/.test(type)

/** Types of which equal values are the same, are written alike, and are read back from their texts as they were. */
export const hasOneText = (type: string): boolean =>
  isWholeNumber(type) ||
  /^(?:BOOLEAN|DECIMAL\(\d+,\s*\d+\)|VARCHAR|UUID|DATE|TIMESTAMP(?:_S|_MS|_NS| WITH TIME ZONE)?)$/.test(
    type,
  )
