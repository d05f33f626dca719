// What one published snapshot looks like to OData: entity sets, types, properties, and the navigation between them.

import type { EntitySetName } from '../../core/names.ts'
import type { LeveledHierarchy, Measure, RollupOf } from '../../core/meaning.ts'
import type { Column } from '../../core/relation.ts'
import type { RowFilter } from '../../core/row-filter.ts'
import type { PublishedRelation, RowParts, TableName } from '../../core/snapshot.ts'
import type { EdmType } from './types.ts'

export interface EntityModel {
  readonly snapshotId: string
  readonly sets: ReadonlyMap<string, EntitySet>
  /** Keys that too many sets have for each to be led to; see infer-navigation.ts. */
  readonly sharedKeys: readonly SharedKey[]
}

export interface EntitySet {
  readonly name: EntitySetName
  readonly relation: PublishedRelation
  readonly type: EntityType
  /** The rows as they are published in this snapshot. */
  readonly table: TableName
  /** The reader who asks may read the rows that pass all of these. */
  readonly only: readonly RowFilter[]
  /** Those that are read to find them. */
  readonly storedRows: number
  /** Whether rows that are read without an order come in that of the key. */
  readonly inKeyOrder: boolean
  /** The tables that have the rows, where these are not in one, and the reader may read all. */
  readonly parts: RowParts | null
}

/** Under which an earlier state of a set is open in an engine. No set has a space in its name. */
export const nameBefore = (set: EntitySetName): string => `${set} before`

export interface EntityType {
  /** The name of its entity set: each set has its own type. */
  readonly name: string
  readonly description: string | null
  /** Empty when the model is exposed without a key. */
  readonly key: readonly Property[]
  readonly properties: readonly Property[]
  readonly navigation: readonly NavigationProperty[]
  /** Those whose columns are all there. */
  readonly measures: readonly MeasureProperty[]
  /** Names of properties by which measures are mostly asked for. */
  readonly dimensions: readonly string[]
  /** The name of the property with the time of a row. */
  readonly time: string | null
  /** Those whose columns are all there, and whose rows have navigation to the one above. */
  readonly hierarchies: readonly RecursiveHierarchy[]
  /** Those whose columns are all there. */
  readonly levels: readonly LeveledHierarchy[]
  /** Absent where the set is no rollup. */
  readonly rollup?: RollupOf | undefined
  /** Of rows that $apply has made. */
  readonly isResult?: true
}

/** Entities as nodes of trees (Data Aggregation 4.0, section 5.5.2). */
export interface RecursiveHierarchy {
  /** The qualifier of the annotation. */
  readonly name: string
  readonly node: Property
  /** Its value is that of `node` in the entity above. */
  readonly parent: Property
  /** The name of the navigation property that leads there. */
  readonly navigation: string
}

/** A custom aggregate. */
export interface MeasureProperty {
  readonly name: string
  readonly type: EdmType
  readonly measure: Measure
}

export interface Property {
  readonly name: string
  readonly column: Column
  readonly type: EdmType
  readonly nullable: boolean
  /** Whether the column holds times outside OData's range, which are read as the nearest one (temporal-range.ts). */
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

/** A key name that too many sets have to link them all. */
export interface SharedKey {
  readonly name: string
  readonly sets: number
}
