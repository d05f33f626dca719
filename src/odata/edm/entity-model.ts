// What one published snapshot looks like to OData: entity sets, types, properties, and the navigation between them.
// In SQL the rows of a set are the table `<set name>.main.rows`: each snapshot file is attached under its set's name.

import { type EntitySetName, entitySetName, type ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { PublishedRelation, Snapshot } from '../../core/snapshot.ts'
import { addNavigation, type GrowingSet, type SharedKey } from './infer-navigation.ts'
import { inSlices } from './time-slices.ts'
import { type EdmType, edmTypeOf } from './types.ts'

export interface EntityModel {
  readonly snapshotId: string
  readonly sets: ReadonlyMap<string, EntitySet>
  /** Keys that too many sets have for each to be led to; see navigation.ts. */
  readonly sharedKeys: readonly SharedKey[]
}

export interface EntitySet {
  readonly name: EntitySetName
  readonly relation: PublishedRelation
  readonly type: EntityType
}

export interface EntityType {
  /** The name of its entity set: each set has a type of its own. */
  readonly name: string
  readonly description: string | null
  /** Empty when the model is exposed without a key. */
  readonly key: readonly Property[]
  readonly properties: readonly Property[]
  readonly navigation: readonly NavigationProperty[]
}

export interface Property {
  readonly name: string
  readonly column: Column
  readonly type: EdmType
  readonly nullable: boolean
  /** Whether the column holds times that OData has not, which are read as the nearest one (see temporal-range.ts). */
  readonly clamped: boolean
  /** Whether its values are calculated by the query, so that nothing is known of them but their type. */
  readonly isCalculated?: boolean
}

/** Rows of `target` whose property `on.theirs` equals `on.ours` of this entity. */
export interface NavigationProperty {
  readonly name: string
  readonly target: EntitySet
  readonly many: boolean
  /** Whether `on.ours` refers to the key of the target; the partner of such a property is referred to. */
  readonly holdsKey: boolean
  readonly on: { readonly ours: Property; readonly theirs: Property }
  /** The same relationship seen from the target. */
  readonly partner: string
}

/** What the column types alone do not tell. */
export interface ColumnFacts {
  /** Names of the TINYINT columns, by model, that hold a negative value. */
  readonly signedTinyints: ReadonlyMap<ModelName, ReadonlySet<string>>
  /** Names of the columns of dates and times, by model, that hold a value outside of what OData has. */
  readonly clampedTimes: ReadonlyMap<ModelName, ReadonlySet<string>>
}

export function buildEntityModel(snapshot: Snapshot, facts: ColumnFacts): EntityModel {
  const model = emptyModel(snapshot)
  for (const _ of grow(model, snapshot, facts));
  return model
}

/** The same in slices, between which other requests are served: the model of a thousand sets takes some 50 ms. */
export async function buildEntityModelInSlices(
  snapshot: Snapshot,
  facts: ColumnFacts,
): Promise<EntityModel> {
  const model = emptyModel(snapshot)
  for await (const _ of inSlices(grow(model, snapshot, facts)));
  return model
}

/** While it is being made. */
interface GrowingModel extends EntityModel {
  readonly sets: Map<string, GrowingSet>
  readonly sharedKeys: SharedKey[]
}

const emptyModel = ({ id }: Snapshot): GrowingModel => {
  return { snapshotId: id, sets: new Map(), sharedKeys: [] }
}

/** Yields after each small step. */
function* grow(model: GrowingModel, snapshot: Snapshot, facts: ColumnFacts): Generator<void> {
  for (const relation of snapshot.relations) {
    const set = entitySet(relation, facts)
    model.sets.set(set.name, set)
    yield
  }
  yield* addNavigation([...model.sets.values()], model.sharedKeys)
}

function entitySet(relation: PublishedRelation, facts: ColumnFacts): GrowingSet {
  const name = entitySetName(relation.model)
  const negatives = facts.signedTinyints.get(relation.model)
  const properties = relation.columns.map((column): Property => {
    const isKey = relation.key.includes(column.name)
    const negative = negatives?.has(column.name) ?? false
    const typeName = isKey ? null : `${name}_${column.name}`
    const type = edmTypeOf(column.type, { negative, typeName })
    const nullable = column.nullable && !isKey
    const clamped = facts.clampedTimes.get(relation.model)?.has(column.name) ?? false
    return { name: column.name, column, type, nullable, clamped }
  })
  const key = relation.key.map((part) => properties.find((property) => property.name === part)!)
  return {
    name,
    relation,
    type: { name, description: relation.description, key, properties, navigation: [] },
  }
}
