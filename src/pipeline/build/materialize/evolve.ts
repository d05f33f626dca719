// Changes of columns that keep all that a table holds: a new column, and a type that holds every value of the old one.

import { columnChanges } from '../../plan/next-publication.ts'
import type { KeptModel, OnSchemaChange } from '../../../core/model.ts'
import { annotationName, type ModelName } from '../../../core/names.ts'
import type { Column, ColumnType } from '../../../core/relation.ts'
import type { StoredColumnChange } from '../../../store/table-storage.ts'
import { fullRefreshOf, ModelFailure } from '../../failure.ts'
import { renamingOf } from './renames.ts'
import { decimalForBoth, isLosslessWidening } from './widening.ts'

interface Evolution {
  readonly model: ModelName
  readonly from: readonly Column[]
  readonly to: readonly Column[]
  readonly kind: KeptModel['kind'] | 'events'
  readonly policy: OnSchemaChange
  /** True where all rows can be rebuilt from the source. */
  readonly canRebuild: boolean
}

/** `rebuild` leaves the table to the caller. */
export interface Adaptation {
  readonly is: 'same' | 'evolved' | 'rebuild'
  readonly changes: readonly StoredColumnChange[]
}

/** How `@on_schema_change` handles the difference. Throws ModelFailure for one that it does not allow. */
export function adaptationOf(evolution: Evolution): Adaptation {
  const { model, kind, from, to, policy, canRebuild } = evolution
  const differences = columnChanges(from, to, kind === 'events' || policy === 'keep')
  if (differences.length === 0) return { is: 'same', changes: [] }
  if (policy === 'evolve' || policy === 'keep')
    return { is: 'evolved', changes: planEvolution(evolution, differences) }
  if (policy === 'rebuild' && canRebuild) return { is: 'rebuild', changes: [] }
  const rebuild = fullRefreshOf(model)
  const rule =
    kind === 'events'
      ? '; to apply the changes, write @on_schema_change: evolve'
      : policy === 'fail'
        ? ` and @on_schema_change is fail; rebuild the table: ${rebuild}`
        : `; the table holds rows that its source may no longer have, so it is rebuilt only when asked: ${rebuild}`
  const changed = differences.map(wordsFor).join(', ')
  throw new ModelFailure(`the columns changed (${changed})${rule}`, 'on_schema_change')
}

type Difference = ReturnType<typeof columnChanges<ColumnType>>[number]

const wordsFor = ({ column, from, to }: Difference): string =>
  from === null
    ? `new "${column}"`
    : to === null
      ? `no "${column}"`
      : `"${column}" from ${from} to ${to}`

// A seed that happens to be empty would cost the table its rows.
const seedHint = (model: ModelName) =>
  `; if it comes from a seed without rows, declare its type in the .yml next to the seed; otherwise rebuild the table: ${fullRefreshOf(model)}`

/** Throws ModelFailure for a change that would lose values. */
function planEvolution(
  { model, kind }: Evolution,
  differences: readonly Difference[],
): readonly StoredColumnChange[] {
  const lost = differences.filter(({ to }) => to === null)
  if (kind !== 'events' && lost.length > 0) {
    const names = lost.map(({ column }) => `"${column}"`).join(', ')
    throw new ModelFailure(
      `the model no longer has ${names}, which the table holds${waysFor(model, kind, differences)}`,
      'on_schema_change',
    )
  }
  return differences.flatMap(({ column: name, from, to: type }) => {
    if (type === null) return []
    if (from !== null && !isLosslessWidening(from, type)) {
      const help = typeHint(model, kind, { name, from, to: type })
      throw new ModelFailure(
        `column "${name}" cannot change from ${from} to ${type} without losing values${help}`,
        { column: name },
      )
    }
    return [{ name, type, isNew: from === null }]
  })
}

const WITH_OR_WITHOUT_ZONE = 'TIMESTAMP,TIMESTAMP WITH TIME ZONE'

/** What keeps the rows of a column whose values the new type does not all hold. */
function typeHint(
  model: ModelName,
  kind: Evolution['kind'],
  { name, from, to }: { readonly name: string; readonly from: ColumnType; readonly to: ColumnType },
): string {
  const both = decimalForBoth(from, to)
  if (kind === 'events')
    return both === null
      ? '; give the column another name, or keep its type'
      : `; give it the type ${both}, which holds both, or give the column another name`
  if (isLosslessWidening(to, from)) return narrowerHint(model, kind, { name, from })
  if (to === 'VARCHAR') return seedHint(model)
  const rebuild = rebuildOf(model, kind)
  if (both !== null)
    return `; to keep the rows, take a type that holds both: CAST(${annotationName(name)} AS ${both}); otherwise ${rebuild}`
  return [from, to].toSorted().join() === WITH_OR_WITHOUT_ZONE
    ? `; to keep the rows, ${zoneHint(name)}; otherwise ${rebuild}`
    : `; ${rebuild}`
}

/** The same words in both directions. */
function zoneHint(column: string): string {
  const name = annotationName(column)
  return `keep the type of the table, with the zone of its times: ${name} AT TIME ZONE 'UTC' AS ${name}`
}

/** The table may have got its type by a SELECT that has been taken back. */
function narrowerHint(
  model: ModelName,
  kind: KeptModel['kind'],
  { name, from }: { readonly name: string; readonly from: ColumnType },
): string {
  const losses =
    kind === 'scd2' ? 'ends its history' : 'keeps only rows that the SELECT still gives'
  return `; to keep the rows, keep the type of the table: CAST(${annotationName(name)} AS ${from}); to take the new type, rebuild the table, which ${losses}: ${fullRefreshOf(model)}`
}

const rebuildOf = (model: ModelName, kind: KeptModel['kind']) =>
  `rebuild the table${kind === 'scd2' ? ', which ends its history' : ''}: ${fullRefreshOf(model)}`

/** What the author may have meant, and how to say so; a new column of that type is most likely the same one. */
function waysFor(
  model: ModelName,
  kind: KeptModel['kind'],
  differences: readonly Difference[],
): string {
  const [lost] = differences.filter(({ to }) => to === null)
  const first = lost?.column ?? ''
  const alike = differences.filter(({ from, to }) => from === null && to === lost?.from)
  const to = (alike.length === 1 && alike[0]?.column) || 'NEW'
  const older = kind === 'scd2' ? 'older versions' : 'the rows that have it'
  const keep = `; to keep it in ${older}, write -- @on_schema_change: keep`
  return `; if "${first}" has another name now, write -- @renamed_from ${annotationName(to)}: ${annotationName(first)}, or run ${renamingOf(model, first, to)}${keep}; otherwise ${rebuildOf(model, kind)}`
}
