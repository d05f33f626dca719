// Values as the service sends them with IEEE754Compatible: Int64 and Decimal are text with all their digits.

export type Value =
  string | number | boolean | null | readonly Value[] | { readonly [field: string]: Value }

export type Row = { readonly [property: string]: Value }

/** The text of a value on one line; structs and lists as JSON. */
export function textOf(value: Value | undefined): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
