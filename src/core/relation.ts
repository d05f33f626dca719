// Columns as DuckDB describes them.

declare const columnTypeBrand: unique symbol

/** DuckDB's own spelling of a type, such as `DECIMAL(18,4)` or `STRUCT("a b" INTEGER)[]`. */
export type ColumnType = string & { readonly [columnTypeBrand]: true }

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** One line for people. */
  readonly description?: string
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
