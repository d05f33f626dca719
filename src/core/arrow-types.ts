// Columns of Arrow, as far as rows of DuckDB become them without being converted value by value.

export type ArrowType =
  /** A moment is one in UTC; it, a time and a duration count microseconds. */
  | { readonly kind: 'boolean' | 'date' | 'time' | 'moment' | 'duration' | 'text' | 'bytes' }
  | { readonly kind: 'integer'; readonly bytes: 1 | 2 | 4 | 8 }
  | { readonly kind: 'float'; readonly bytes: 4 | 8 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'list'; readonly item: ArrowType }
  | { readonly kind: 'struct'; readonly fields: readonly ArrowField[] }

export interface ArrowField {
  readonly name: string
  readonly type: ArrowType
}
