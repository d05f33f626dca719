// The OData contract: which entity sets, keys, properties and navigation clients rely on, and what the next publication
// would do to them.

import { entitySetName, foldCase } from '../../core/names.ts'
import type { Column, ColumnType } from '../../core/relation.ts'
import type { ContractChange } from '../../core/report/planned-changes.ts'
import type { ExpectedRelation, PublishedRelation, Snapshot } from '../../core/snapshot.ts'
import { buildEntityModel, type SnapshotFacts } from './entity-model.ts'
import type { EntitySet } from './model.ts'
import { edmTypeOf, type EdmType } from './types.ts'

/** `before`: what is published; null where nothing is. `next`: what would be, in the order of a publication. */
export function contractChanges(
  before: Snapshot | null,
  next: readonly ExpectedRelation[],
): readonly ContractChange[] {
  const relations = before?.relations ?? []
  const old = new Map(relations.map((relation) => [relation.model, relation]))
  const kept = new Set(next.map(({ model }) => model))
  const removed = relations
    .filter(({ model }) => !kept.has(model))
    .map(({ model }) => ({
      set: entitySetName(model),
      change: 'entity set removed',
      breaking: true,
    }))
  const others = next.flatMap((relation): readonly ContractChange[] => {
    const set = entitySetName(relation.model)
    const was = old.get(relation.model)
    if (was === undefined) return [{ set, change: 'entity set added', breaking: false }]
    return setChanges(was, relation).map((change) => ({ set, ...change }))
  })
  if (before === null) return others
  const navigation = navigationChanges(before, { ...before, relations: next })
  return [...removed, ...others, ...navigation]
}

/** What a publication of `after` changes in one set for those who read it now. */
export const shapeChanges = (
  before: PublishedRelation,
  after: ExpectedRelation,
): readonly ContractChange[] =>
  setChanges(before, after).map((change) => ({ set: entitySetName(before.model), ...change }))

/** What breaks those who read sets now that go on. */
export function breakingShapes(
  published: Snapshot | null,
  next: readonly ExpectedRelation[],
): readonly ContractChange[] {
  const before = new Map(published?.relations.map((relation) => [relation.model, relation]))
  return next.flatMap((after) => {
    const was = before.get(after.model)
    return was === undefined ? [] : shapeChanges(was, after).filter(({ breaking }) => breaking)
  })
}

type Change = Omit<ContractChange, 'set'>

function setChanges(before: PublishedRelation, after: ExpectedRelation): readonly Change[] {
  const changes: Change[] = []
  if (foldCase(before.key.join('\0')) !== foldCase(after.key.join('\0'))) {
    const change = `key changed from (${before.key.join(', ')}) to (${after.key.join(', ')})`
    changes.push({ change, breaking: true })
  }
  const columns = new Map(after.columns.map((column) => [column.name, column]))
  for (const column of before.columns) {
    const now = columns.get(column.name)
    if (now === undefined)
      changes.push({ change: `property ${column.name} removed`, breaking: true })
    else changes.push(...propertyChanges(column, now, after.perhapsNullable.includes(now.name)))
  }
  const known = new Set(before.columns.map(({ name }) => name))
  for (const { name } of after.columns)
    if (!known.has(name)) changes.push({ change: `property ${name} added`, breaking: false })
  return changes
}

/** A client that handles null keeps working when there is none. */
function propertyChanges(before: Column, now: Column, perhapsNullable: boolean): readonly Change[] {
  const changes: Change[] = []
  const { name } = before
  if (before.type !== now.type) {
    const change = `property ${name} retyped from ${before.type} to ${now.type}`
    changes.push({ change, breaking: !isSameFor(before.type, now.type) })
  }
  if (now.nullable && !before.nullable)
    changes.push({ change: `property ${name} may now be null`, breaking: true })
  if (!now.nullable && before.nullable) {
    const unless = perhapsNullable ? ', unless events from before have none' : ''
    changes.push({ change: `property ${name} made non-null${unless}`, breaking: false })
  }
  return changes
}

/**
 * Whether clients see one type: what they know of it is its OData type, not how many digits it has. A field that a struct
 * gets is one more property.
 */
const isSameFor = (before: ColumnType, now: ColumnType): boolean =>
  holds(typeOf(now), typeOf(before))

const typeOf = (type: ColumnType): EdmType => edmTypeOf(type, { negative: true, typeName: 'T' })

function holds(now: EdmType, before: EdmType): boolean {
  if (now.kind === 'collection' && before.kind === 'collection') return holds(now.item, before.item)
  if (now.kind !== 'complex' || before.kind !== 'complex') return now.name === before.name
  return before.properties.every(({ name, type }) => {
    const same = now.properties.find((property) => property.name === name)
    return same !== undefined && holds(same.type, type)
  })
}

const NO_ROWS: SnapshotFacts = {
  stored: {
    tableOf: (name) => [name],
    partsOf: () => null,
    keysBetween: () => null,
    inKeyOrder: false,
    ownFilesOnly: true,
  },
  signedTinyints: new Map(),
  clampedTimes: new Map(),
}

/** Changes of the sets that both snapshots have. Types that depend on values are taken as they mostly are. */
export function navigationChanges(before: Snapshot, after: Snapshot): readonly ContractChange[] {
  const now = buildEntityModel(after, NO_ROWS).sets
  return [...buildEntityModel(before, NO_ROWS).sets.values()].flatMap((old) => {
    const set = now.get(old.name)
    return set === undefined ? [] : changesOf(old, set)
  })
}

function changesOf(before: EntitySet, after: EntitySet): readonly ContractChange[] {
  const was = targetsOf(before)
  const now = targetsOf(after)
  const lost = [...was].flatMap(([name, target]) => {
    const next = now.get(name)
    if (next === target) return []
    const change = next === undefined ? 'removed' : `leads to ${next} instead of ${target}`
    return [{ set: before.name, change: `navigation ${name} ${change}`, breaking: true }]
  })
  const added = [...now.keys()]
    .filter((name) => !was.has(name))
    .map((name) => ({ set: before.name, change: `navigation ${name} added`, breaking: false }))
  return [...lost, ...added]
}

const targetsOf = ({ type }: EntitySet): ReadonlyMap<string, string> =>
  new Map(
    type.navigation.map(({ name, target, many }) => [
      name,
      many ? `many ${target.name}` : target.name,
    ]),
  )
