// Columns as the engine describes them.

declare const columnTypeBrand: unique symbol

/** The engine's own spelling of a type, such as `DECIMAL(18,4)` or `STRUCT("a b" INTEGER)[]`. */
export type ColumnType = string & { readonly [columnTypeBrand]: true }

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** One line for people. */
  readonly description?: string
}

/** Row E014: such a column is filled with the server's time when an event does not bring one, NOT NULL or not. */
export const isReceivedAt = ({ name, type }: Pick<Column, 'name' | 'type'>): boolean =>
  name === 'received_at' && /^(TIMESTAMPTZ|TIMESTAMP WITH TIME ZONE)$/i.test(type)

/**
 * The engine prints the numbers of JSON anew, each as the nearest double. Where that would change one, the stored event
 * has a member of this name: an object that holds, by column, the whole value as JSON text with its numbers as they were
 * sent. A flush believes it only where it says what the column itself says, so that it means nothing when it was sent.
 */
export const EXACT_MEMBER = '$exact'

/** Columns whose values may be in EXACT_MEMBER; none where a column has its name. */
export function exactColumns<C extends Pick<Column, 'name' | 'type'>>(
  columns: readonly C[],
): readonly C[] {
  const isTaken = columns.some(({ name }) => name.toLowerCase() === EXACT_MEMBER)
  return isTaken ? [] : columns.filter(({ type }) => type === 'JSON')
}

// Words, numbers, brackets, commas and quoted names or ENUM members: all that a type can be made of.
// Nothing that matches can end a statement or open a comment.
const TYPE_TEXT = /^(?:[A-Za-z0-9_ ,()[\]]|"(?:[^"\0]|"")*"|'(?:[^'\0]|'')*')+$/

export const isTypeText = (text: string): boolean => TYPE_TEXT.test(text)

/** For text that the engine printed as a type (DESCRIBE, prepared statements, the catalog). */
export function columnType(text: string): ColumnType {
  if (!isTypeText(text)) throw new Error(`not a column type: ${text}`)
  return text as ColumnType
}
