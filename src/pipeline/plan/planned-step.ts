// What a plan says of a step beyond what a run has to know.

import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { ColumnChange, PlannedStep } from '../../core/report/planned-changes.ts'

/** For a step whose rows and events were not looked at. */
export const nothingKnown = {
  columns: [],
  events: null,
  diff: null,
} as const satisfies Partial<PlannedStep>

/** `keepsGone`: columns that are not among `next` stay in the table. */
export function columnChanges(
  before: readonly Pick<Column, 'name' | 'type'>[],
  next: readonly Pick<Column, 'name' | 'type'>[],
  keepsGone: boolean,
): readonly ColumnChange[] {
  const gone = new Map(before.map(({ name, type }) => [foldCase(name), { name, type }]))
  const changed = next.flatMap(({ name, type: to }): readonly ColumnChange[] => {
    const from = gone.get(foldCase(name))?.type ?? null
    gone.delete(foldCase(name))
    return from === to ? [] : [{ column: name, from, to }]
  })
  if (keepsGone) return changed
  return [
    ...changed,
    ...Array.from(gone.values(), ({ name, type }) => ({ column: name, from: type, to: null })),
  ]
}
