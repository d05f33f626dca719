// The column by which a model reads, or rebuilds, only a part of its rows.

import type { Model, Watermark } from './model.ts'
import { sameName } from './names.ts'
import type { Column } from './relation.ts'

/** null: the SELECT is read whole. */
export const watermarkOf = (model: Model): Watermark | null =>
  'watermark' in model ? model.watermark : null

/** The column of which a step may be about a range, and the annotation that names it. */
export interface RangeColumn {
  readonly column: string
  readonly at: 'incremental' | 'period'
}

export function rangeColumnOf(model: Model): RangeColumn | null {
  if (model.kind === 'period') return { column: model.period.column, at: 'period' }
  const watermark = watermarkOf(model)
  return watermark && { column: watermark.column, at: 'incremental' }
}

/** The same with its type; null also where the columns of the model are not known yet. */
export function typedRangeColumn(model: Model): Column | null {
  const column = rangeColumnOf(model)?.column
  if (column === undefined) return null
  return model.columns.find(({ name }) => sameName(name, column)) ?? null
}
