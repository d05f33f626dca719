// The OData contract: which entity sets, keys and properties clients rely on, and what a plan would do to them.

import type { Model } from '../../core/model.ts'
import { entitySetName, foldCase, type ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { PublishedRelation, Snapshot } from '../../core/snapshot.ts'
import type { ModelRecord } from '../store/state.ts'

export interface ContractChange {
  readonly set: string
  /** One line. */
  readonly change: string
  /** A client that works today may fail. */
  readonly breaking: boolean
}

/**
 * What the next publication would change. `selected` models would be published as they are compiled, others stay as
 * they are, and a model that is gone, or no longer exposed, is gone from the service in any case. `records` are of the
 * models as they were built last.
 */
export function contractChanges(
  published: Snapshot | null,
  models: ReadonlyMap<ModelName, Model>,
  selected: ReadonlySet<ModelName>,
  records: ReadonlyMap<ModelName, Pick<ModelRecord, 'definition'>>,
): readonly ContractChange[] {
  const before = new Map(published?.relations.map((relation) => [relation.model, relation]))
  const removed = [...before.keys()]
    .filter((name) => (models.get(name)?.expose ?? null) === null)
    .map((name) => ({ set: entitySetName(name), change: 'entity set removed', breaking: true }))
  const others = [...models.values()]
    .filter(({ name, expose }) => selected.has(name) && expose !== null)
    .flatMap((model): readonly ContractChange[] => {
      const set = entitySetName(model.name)
      const relation = before.get(model.name)
      if (relation === undefined) return [{ set, change: 'entity set added', breaking: false }]
      const isRedefined = records.get(model.name)?.definition !== model.definition
      return setChanges(relation, model, isRedefined).map((change) => ({ set, ...change }))
    })
  return [...removed, ...others]
}

/** What would be published, in the order of a publication: `selected` models as they are compiled, the others as they are. */
export function publishedNext(
  published: Snapshot,
  models: ReadonlyMap<ModelName, Model>,
  selected: ReadonlySet<ModelName>,
): Snapshot {
  const before = new Map(published.relations.map((relation) => [relation.model, relation]))
  const relations = [...models.values()].flatMap((model): readonly PublishedRelation[] => {
    const { name, expose, description, columns } = model
    const old = before.get(name)
    if (expose === null) return []
    if (!selected.has(name)) return old === undefined ? [] : [old]
    const next = { model: name, key: expose.key, description, columns }
    return [{ file: '', bytes: 0, rows: 0, ...next }]
  })
  return { ...published, relations }
}

type Change = Omit<ContractChange, 'set'>

function setChanges(
  before: PublishedRelation,
  model: Model,
  isRedefined: boolean,
): readonly Change[] {
  const changes: Change[] = []
  const key = model.expose?.key ?? []
  if (foldCase(before.key.join('\0')) !== foldCase(key.join('\0'))) {
    const change = `key changed from (${before.key.join(', ')}) to (${key.join(', ')})`
    changes.push({ change, breaking: true })
  }
  const required = requiredColumns(model)
  // Tables that are made anew have their columns as the model spells them now, the others as they were first spelled.
  const isMadeAnew = model.kind === 'table' || model.kind === 'view'
  const spelled = (name: string) => (isMadeAnew ? name : foldCase(name))
  const after = new Map(model.columns.map((column) => [spelled(column.name), column]))
  for (const column of before.columns) {
    const now = after.get(spelled(column.name))
    if (now === undefined)
      changes.push({ change: `property ${column.name} removed`, breaking: true })
    else {
      const isRequired = required.has(foldCase(now.name))
      changes.push(...propertyChanges(column, now, isRequired))
      // A client that is ready for null works on. Where events from before have none, the property stays nullable: a
      // plan says so when the model has changed, and not again and again.
      if (isRequired && column.nullable && (model.kind !== 'events' || isRedefined)) {
        const unless = model.kind === 'events' ? ', unless events from before have none' : ''
        changes.push({ change: `property ${column.name} made non-null${unless}`, breaking: false })
      }
    }
  }
  const known = new Set(before.columns.map(({ name }) => spelled(name)))
  for (const { name } of model.columns)
    if (!known.has(spelled(name)))
      changes.push({ change: `property ${name} added`, breaking: false })
  return changes
}

/** Names in lower case of the columns that the model says are never NULL. */
function requiredColumns({ kind, expose, columns }: Model): ReadonlySet<string> {
  const given = kind === 'events' ? columns.filter(({ nullable }) => !nullable) : []
  return new Set([...(expose?.key ?? []), ...given.map(({ name }) => name)].map(foldCase))
}

function propertyChanges(before: Column, now: Column, isRequired: boolean): readonly Change[] {
  const changes: Change[] = []
  const { name } = before
  if (before.type !== now.type) {
    const change = `property ${name} retyped from ${before.type} to ${now.type}`
    changes.push({ change, breaking: !(isText(before) && isText(now)) })
  }
  if (!isRequired && !before.nullable)
    changes.push({ change: `property ${name} may now be null`, breaking: true })
  return changes
}

/** Types that clients see as one: Edm.String. */
const isText = ({ type }: Column) => type === 'VARCHAR' || type.startsWith('ENUM(')
