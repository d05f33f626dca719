// Relations that no file of the project creates any more, with the next steps.

import { count } from '../core/counts.ts'
import type { Orphan } from '../core/report/progress.ts'

/** `isUncounted`: nobody knows how many rows they have, since a run holds the warehouse. */
export const orphanLines = (
  orphans: readonly Orphan[],
  width: number,
  isUncounted: boolean,
): readonly string[] =>
  orphans.map((orphan) => {
    const state = isUncounted ? wayOn(orphan) : orphanState(orphan)
    return `orphan     ${orphan.model.padEnd(width)}  ${state}`
  })

export const orphanState = ({ rows, ...orphan }: Orphan): string =>
  `${sizeOf(rows)}, and ${wayOn(orphan)}`

/** Where the rows cannot be counted. */
export function wayOn(orphan: Omit<Orphan, 'rows'>): string {
  const { model } = orphan
  const kept = howToKeep(orphan)
  const ways = [...(kept === null ? [] : [kept]), `eider drop ${model} removes it`]
  return `no file defines it: ${ways.join(', ')}`
}

/** How to keep it; null for what its file alone can make again. */
function howToKeep({ model, kind, renamed_to: heir }: Omit<Orphan, 'rows'>): string | null {
  if (kind === 'view' || kind === 'seed') return null
  // Events are sent and wait under the name of their model.
  if (kind === 'events') return `models/${model.replace('.', '/')}.sql of kind events takes it over`
  if (heir !== undefined)
    return `${heir} has the same SQL, and eider mv ${model} ${heir} --replace gives it these rows`
  return `eider mv ${model} NEW keeps it as the model NEW`
}

export const sizeOf = (rows: number | null): string =>
  rows === null ? 'a view' : count(rows, 'row')
