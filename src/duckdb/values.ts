// Rows of results, and their values as what their column says they are.

import type { Json } from '@duckdb/node-api'

export type Row = Readonly<Record<string, Json>>

/** The value of a VARCHAR column without NULLs. */
export function textOf(value: Row[string] | undefined): string {
  if (typeof value !== 'string') throw new Error(`expected a string, got ${JSON.stringify(value)}`)
  return value
}

/** The value of a number column without NULLs; BIGINT and wider come as text. Exact up to 2^53. */
export function numberOf(value: Row[string] | undefined): number {
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number))
    throw new Error(`expected a number, got ${JSON.stringify(value)}`)
  return number
}
