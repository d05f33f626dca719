// What the next run would publish, as far as the compiled models show, and what it would change of columns.

import { publishedColumns } from '../../compiler/contract.ts'
import { kinds } from '../../core/kinds.ts'
import type { Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import {
  type ExpectedRelation,
  type PublishedRelation,
  setMetadata,
  type Snapshot,
} from '../../core/snapshot.ts'
import type { ModelRecord } from '../../store/state.ts'
import type { PlannedStep } from '../../core/report/planned-changes.ts'

type Records = ReadonlyMap<ModelName, Pick<ModelRecord, 'definition'>>

/**
 * In the order of a publication. `succeeding` models would be published as they are compiled, the others as they are, and
 * a model that is gone or no longer exposed is gone in any case. `records` are of the models as they were built last.
 */
export function nextPublication(
  published: Snapshot | null,
  models: ReadonlyMap<ModelName, Model>,
  succeeding: ReadonlySet<ModelName>,
  records: Records,
): readonly ExpectedRelation[] {
  const before = new Map(published?.relations.map((relation) => [relation.model, relation]))
  return [...models.values()].flatMap((model): readonly ExpectedRelation[] => {
    const old = before.get(model.name)
    if (model.expose === null) return []
    if (succeeding.has(model.name)) return [expect(model, model.expose.key, old, records)]
    return old === undefined ? [] : [{ ...old, perhapsNullable: [] }]
  })
}

function expect(
  model: Model,
  key: readonly string[],
  old: PublishedRelation | undefined,
  records: Records,
): ExpectedRelation {
  const { name, kind, definition } = model
  const compiled = expectedRelation(model, key)
  const isRedefined = records.get(name)?.definition !== definition
  const columns = compiled.columns.map((column): Column => {
    const was = old?.columns.find((one) => sameName(one.name, column.name))
    // Where events from before have no value the property stays nullable. A run that has built the model has seen it.
    const stays = kind === 'events' && !isRedefined && was?.nullable === true
    // A table that goes on has its columns as they were first spelled.
    const spelled = kinds[kind].keepsRows ? (was?.name ?? column.name) : column.name
    return { ...column, name: spelled, nullable: column.nullable || stays }
  })
  const sure = columns.filter(({ nullable }) => !nullable).map((column) => column.name)
  return { ...compiled, columns, perhapsNullable: kind === 'events' ? sure : [] }
}

/** The relation of a model of which only the file is known. */
export function expectedRelation(
  model: Pick<Model, 'name' | 'description' | 'columns' | 'meaning'> & { readonly kind: string },
  key: readonly string[],
): ExpectedRelation {
  const columns = publishedColumns(model.kind, key, model.columns)
  const empty = { file: '', bytes: 0, rows: 0, perhapsNullable: [] }
  return { ...empty, model: model.name, ...setMetadata(model, { key, columns }) }
}

/** For a step whose rows and events were not looked at. */
export const nothingKnown = {
  columns: [],
  events: null,
  diff: null,
} as const satisfies Partial<PlannedStep>

/** `keepsGone`: columns that are not among `next` stay in the table. */
export function columnChanges<T extends string>(
  before: readonly { readonly name: string; readonly type: T }[],
  next: readonly { readonly name: string; readonly type: T }[],
  keepsGone: boolean,
) {
  const gone = new Map(before.map(({ name, type }) => [foldCase(name), { name, type }]))
  const changed = next.flatMap(({ name: column, type: to }) => {
    const from = gone.get(foldCase(column))?.type ?? null
    gone.delete(foldCase(column))
    return from === to ? [] : [{ column, from, to }]
  })
  const left = keepsGone ? [] : Array.from(gone.values())
  return [...changed, ...left.map(({ name, type }) => ({ column: name, from: type, to: null }))]
}
