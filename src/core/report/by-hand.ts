// A table that somebody has changed with another program, as runs, plans and `eider doctor` say it.

import { count } from '../counts.ts'
import type { ModelName } from '../names.ts'

export type ChangedByHand = {
  readonly model: ModelName
} & (
  | {
      /** Of the table; as many as published: they have other values. */
      readonly rows: number
      readonly published: number
    }
  /** So many events are missing at least, which models follow. */
  | { readonly gone: number }
)

export function byHandText(change: ChangedByHand): string {
  const { model } = change
  const next = `eider publish ${model}`
  if ('gone' in change)
    return `somebody has deleted ${count(change.gone, 'row')} of the table by hand, or more; to build again what reads it: ${next}`
  const { rows, published } = change
  const what =
    rows === published
      ? `has other values than its set`
      : `has ${count(rows, 'row')}, its set ${published}`
  return `somebody has changed the table by hand, which ${what}; to publish it: ${next}`
}
