// `@keep` of a model: how long its rows stay.

import type { Keep, Model } from './model.ts'

/** null: all rows stay. */
export const keepOf = (model: Model): Keep | null => ('keep' in model ? (model.keep ?? null) : null)

/** Such ages end at the beginning of an hour, others at that of a day. */
export const isInHours = ({ age }: Keep): boolean => age.includes('hour')

/** What changes with time in what is removed: where it is the same, no other rows are too old. Empty: nothing is removed. */
export function keepPeriod(models: Iterable<Model>, now: Date): string {
  const kept = Array.from(models, keepOf).filter((keep) => keep !== null)
  if (kept.length === 0) return ''
  return now.toISOString().slice(0, kept.some(isInHours) ? 13 : 10)
}

export interface OldRows {
  readonly rows: number
  /** The rows of the whole table. */
  readonly of: number
  /** Older than this, as DuckDB prints it. */
  readonly before: string
  readonly age: string
}
