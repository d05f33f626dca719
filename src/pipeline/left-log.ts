// Whether a run may leave its log next to the warehouse, to be replayed by whoever opens it next (Warehouse.settle()).

import { limits } from '../core/limits.ts'
import type { RunSummary } from '../core/report/run-summary.ts'

/** Whether it built so few of the `known` models, and rows, that describing all relations again would cost more. */
export function wroteLittle({ flushed, models }: RunSummary, known: number): boolean {
  const touched = models.filter(({ status }) => status !== 'unchanged')
  return (
    flushed.length === 0 &&
    touched.length * limits.leftLogModels <= known &&
    touched.every(({ rows = 0 }) => rows <= limits.leftLogRows)
  )
}
