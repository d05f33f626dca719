// Rows as text, one after the other, so that there may be any number of them. Rows are values by the name of their column.

import type { Column } from '../relation.ts'

export interface RowText {
  readonly begin: string
  /** `i` counts from 0. */
  readonly row: (row: object, i: number) => string
  /** After so many rows. */
  readonly end: (rows: number) => string
}

export type MakeRowText = (columns: readonly Pick<Column, 'name' | 'type'>[]) => RowText
