// A table that somebody has changed with another program, as runs, plans and `eider doctor` say it.

import { count } from '../counts.ts'
import type { ModelName } from '../names.ts'

export type ChangedByHand = {
  readonly model: ModelName
} & (
  | {
      /** Rows of the table. If as many are published, they have other values. */
      readonly rows: number
      readonly published: number
    }
  /** So many events are missing at least, which models follow. */
  | { readonly gone: number }
)

export function byHandProblem(change: ChangedByHand): string {
  if ('gone' in change)
    return `somebody has deleted ${count(change.gone, 'row')} of the table by hand, or more`
  const { rows, published } = change
  const what =
    rows === published
      ? 'has other values than its set'
      : `has ${count(rows, 'row')}, its set ${published}`
  return `somebody has changed the table by hand, which ${what}`
}

/** With the next step. */
export function byHandText(change: ChangedByHand): string {
  const aim = 'gone' in change ? 'to build again what reads it' : 'to publish it'
  return `${byHandProblem(change)}; ${aim}: eider publish ${change.model}`
}
