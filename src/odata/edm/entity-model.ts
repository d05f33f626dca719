// The entity model of a snapshot, made from the columns that were published and what is known of their values.

import { entitySetName, type ModelName } from '../../core/names.ts'
import { type Meaning, type Measure, visibleMeaning } from '../../core/meaning.ts'
import type { PublishedRelation, Snapshot, StoredRows } from '../../core/snapshot.ts'
import { inSlices } from '../../core/time-slices.ts'
import { addHierarchy, addNavigation, type GrowingSet } from './infer-navigation.ts'
import type { GeoShape } from './geo.ts'
import { isStoredInOrder } from './stored-order.ts'
import { edmTypeOf } from './types.ts'
import {
  type EntityModel,
  type EntitySet,
  type EntityType,
  type MeasureProperty,
  type Property,
  type SharedKey,
} from './model.ts'

/** What the manifest alone does not tell. */
export interface SnapshotFacts {
  /** What the store of the snapshot says of its rows. */
  readonly stored: StoredRows
  /** Names of the TINYINT columns, by model, that hold a negative value. */
  readonly signedTinyints: ReadonlyMap<ModelName, ReadonlySet<string>>
  /** Names of the columns of dates and times, by model, that hold a value outside of what OData has. */
  readonly clampedTimes: ReadonlyMap<ModelName, ReadonlySet<string>>
  /** By model and the name of a column of GEOMETRY: the one shape that all its values have. */
  readonly shapes?: ReadonlyMap<ModelName, ReadonlyMap<string, GeoShape>>
  /** The filters of the reader, by model; all rows when absent. */
  readonly filters?: ReadonlyMap<ModelName, FilteredRows>
}

export type FilteredRows = Pick<EntitySet, 'only' | 'storedRows'>

export function buildEntityModel(snapshot: Snapshot, facts: SnapshotFacts): EntityModel {
  const model = emptyModel(snapshot)
  for (const _ of grow(model, snapshot, facts));
  return model
}

/** The same in slices, between which other requests are served: the model of a thousand sets takes some 50 ms. */
export async function buildEntityModelInSlices(
  snapshot: Snapshot,
  facts: SnapshotFacts,
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
function* grow(model: GrowingModel, snapshot: Snapshot, facts: SnapshotFacts): Generator<void> {
  for (const relation of snapshot.relations) {
    const set = entitySet(relation, facts)
    model.sets.set(set.name, set)
    yield
  }
  yield* addNavigation([...model.sets.values()], model.sharedKeys)
  for (const set of model.sets.values())
    for (const hierarchy of set.relation.meaning?.hierarchies ?? []) addHierarchy(set, hierarchy)
}

function entitySet(relation: PublishedRelation, facts: SnapshotFacts): GrowingSet {
  const name = entitySetName(relation.model)
  const negatives = facts.signedTinyints.get(relation.model)
  const properties = relation.columns.map((column): Property => {
    const isKey = relation.key.includes(column.name)
    const negative = negatives?.has(column.name) ?? false
    const typeName = isKey ? null : `${name}_${column.name}`
    const shape = facts.shapes?.get(relation.model)?.get(column.name) ?? null
    const type = edmTypeOf(column.type, { negative, typeName, shape })
    const nullable = column.nullable && !isKey
    const clamped = facts.clampedTimes.get(relation.model)?.has(column.name) ?? false
    return { name: column.name, column, type, nullable, clamped }
  })
  const { only, storedRows } = facts.filters?.get(relation.model) ?? {
    only: [],
    storedRows: relation.rows,
  }
  const key = relation.key.map((part) => properties.find((property) => property.name === part)!)
  // Where the order of what is read is another one than that of what is stored, the store says what comes first.
  const parts = key.every(isStoredInOrder) ? facts.stored.partsOf(relation, name) : null
  return {
    name,
    relation,
    type: {
      name,
      description: relation.description,
      key,
      properties,
      navigation: [],
      hierarchies: [],
      ...describedMeaning(relation),
    },
    table: parts?.all ?? facts.stored.tableOf(name),
    only,
    storedRows,
    inKeyOrder: facts.stored.inKeyOrder && only.length === 0 && parts === null,
    parts: only.length === 0 ? parts : null,
  }
}

const NOTHING_SAID: Meaning = { measures: [], dimensions: [], time: null }

function describedMeaning({
  meaning = NOTHING_SAID,
  columns,
}: PublishedRelation): Pick<EntityType, 'measures' | 'dimensions' | 'time' | 'levels' | 'rollup'> {
  const { measures, ...others } = visibleMeaning(columns, meaning)
  return {
    ...others,
    measures: measures.map(measureProperty),
    levels: meaning.levels ?? [],
    ...(meaning.rollup && { rollup: meaning.rollup }),
  }
}

const measureProperty = (measure: Measure): MeasureProperty => ({
  name: measure.name,
  type: edmTypeOf(measure.type, { negative: true, typeName: null }),
  measure,
})
