// Values as the service sends them with IEEE754Compatible: Int64 and Decimal are text with all their digits.

export type Value =
  string | number | boolean | null | readonly Value[] | { readonly [field: string]: Value }

export type Row = { readonly [property: string]: Value }

/** The text of a value on one line; structs and lists as JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string}`
}

export interface Label {
  readonly text: string
  /** Null, the empty text and "others": words of the page, which must not look like the values of these names. */
  readonly isWord: boolean
}

export function labelOf(value: unknown): Label {
  if (value === null || value === undefined) return { text: 'null', isWord: true }
  return value === ''
    ? { text: 'empty text', isWord: true }
    : { text: textOf(value), isWord: false }
}
