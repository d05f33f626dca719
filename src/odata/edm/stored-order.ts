// Whether the order of a column in its file is that of the property which reads it.

import type { Property } from './model.ts'

/** Types of columns that are read as another one without a change of their order. */
const SAME_ORDER: readonly string[] = [
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP WITH TIME ZONE',
]

/** Whether rows that are stored in the order of the column are in the order of the property too. */
export const isStoredInOrder = ({ column, type, clamped }: Property): boolean =>
  !clamped && (column.type === type.engine || SAME_ORDER.includes(column.type))
