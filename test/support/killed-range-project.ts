// A table that a range of days is replaced in, for runs that are killed while they do it.

import type { Model } from '../../src/core/model.ts'
import { query } from './handmade-models.ts'

/** Rows with a letter and the number of their day in January 2024. */
export const appendedFrom = (letter: string, ...days: readonly number[]): Model =>
  query(
    'raw.s',
    `select * from (values ${days.map((day) => `('${letter}${day}', date '2024-01-0${day}')`).join()}) t(id, ts)`,
  )

export const appended = query('mart.t', 'from raw.s', {
  kind: 'append',
  incremental: 'ts',
  reads: ['raw.s'],
})
