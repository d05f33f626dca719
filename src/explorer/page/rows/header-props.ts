// A column of the header, as its cell and its menu know it.

import type { Order } from '../address/order.ts'
import type { RowColumn } from './columns.ts'
import type { RowsContext } from './rows-context.ts'

export interface HeaderCellProps {
  readonly context: RowsContext
  readonly column: RowColumn
  /** Names of all columns that are shown, in their order. */
  readonly shown: readonly string[]
  readonly index: number
  readonly orders: readonly Order[]
  readonly widthPx: number
  /** Of a pinned column, how far from the left it stays. */
  readonly stickyPx: number | undefined
  readonly isActive: boolean
}
