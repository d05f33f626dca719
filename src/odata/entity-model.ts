// What one published snapshot looks like to OData: entity sets, types, properties, and the navigation between them.
// In SQL the rows of a set are the table `<set name>.main.rows`: each snapshot file is attached under its set's name.

import {
  type EntitySetName,
  entitySetName,
  isODataIdentifier,
  type ModelName,
  splitModelName,
} from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { PublishedRelation, Snapshot } from '../core/snapshot.ts'
import { type EdmType, edmTypeOf } from './type-map.ts'

export interface EntityModel {
  readonly snapshotId: string
  readonly sets: ReadonlyMap<string, EntitySet>
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
  /** Empty when the model is exposed without a key (row Q117). */
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
  const sets = snapshot.relations.map((relation) => entitySet(relation, facts))
  for (const relationship of relationships(sets)) addNavigation(relationship)
  return { snapshotId: snapshot.id, sets: new Map(sets.map((set) => [set.name, set])) }
}

type Growing = EntitySet & { readonly type: { readonly navigation: NavigationProperty[] } }

function entitySet(relation: PublishedRelation, facts: ColumnFacts): Growing {
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

/** `from.column` holds keys of `to`. */
interface Relationship {
  readonly from: Growing
  readonly to: Growing
  readonly column: Property
  readonly key: Property
}

/**
 * Row Q014: a column that has the name and the type of another set's key refers to it; both sets need a key (Q015),
 * and only a key of one column can be referred to. Nearly every table has an `id`, so a key of that name is referred
 * to by columns named `<table>_id` instead.
 */
function relationships(sets: readonly Growing[]): readonly Relationship[] {
  const found: Relationship[] = []
  const columns = columnsByName(sets)
  for (const [i, to] of sets.entries()) {
    const key = onlyKey(to)
    if (key === null) continue
    const { table } = splitModelName(to.relation.model)
    const wanted = /^id$/i.test(key.name) ? `${table}_${key.name}` : key.name
    for (const { from, j, column } of columns.get(wanted) ?? []) {
      if (from === to || !isComparable(column.type, key.type)) continue
      // Two sets with the same key refer to each other: that is one relationship, of the later set to the earlier.
      if (column === onlyKey(from) && wanted === key.name && j < i) continue
      found.push({ from, to, column, key })
    }
  }
  return found
}

interface NamedColumn {
  readonly from: Growing
  /** The place of `from` among the sets. */
  readonly j: number
  readonly column: Property
}

/** Of the sets that have a key. */
function columnsByName(sets: readonly Growing[]): ReadonlyMap<string, readonly NamedColumn[]> {
  const byName = new Map<string, NamedColumn[]>()
  for (const [j, from] of sets.entries()) {
    if (from.type.key.length === 0) continue
    for (const column of from.type.properties) {
      const columns = byName.get(column.name) ?? []
      byName.set(column.name, columns)
      columns.push({ from, j, column })
    }
  }
  return byName
}

function onlyKey(set: EntitySet): Property | null {
  const [key, ...more] = set.type.key
  return key === undefined || more.length > 0 ? null : key
}

const INTEGERS: readonly string[] = ['Edm.Byte', 'Edm.SByte', 'Edm.Int16', 'Edm.Int32', 'Edm.Int64']

function isComparable(a: EdmType, b: EdmType): boolean {
  return a.name === b.name || (INTEGERS.includes(a.name) && INTEGERS.includes(b.name))
}

/**
 * To one: the name of the key without `_id`. To many, and where both sides have the key: the other table's name.
 * A name that is taken gives way to the name of the other set.
 */
function addNavigation({ from, to, column, key }: Relationship): void {
  const oneToOne = column === onlyKey(from)
  const { table } = splitModelName(to.relation.model)
  const there = freeName(from, [oneToOne ? table : column.name.replace(/_id$/i, ''), to.name])
  const back = freeName(to, [splitModelName(from.relation.model).table, from.name])
  from.type.navigation.push({
    name: there,
    target: to,
    many: false,
    holdsKey: true,
    on: { ours: column, theirs: key },
    partner: back,
  })
  to.type.navigation.push({
    name: back,
    target: from,
    many: !oneToOne,
    holdsKey: false,
    on: { ours: key, theirs: column },
    partner: there,
  })
}

function freeName({ type }: Growing, candidates: readonly [string, string]): string {
  const members = [...type.properties, ...type.navigation].map((member) => member.name)
  const taken = new Set([type.name, ...members])
  const [, setName] = candidates
  const numbered = Array.from(taken, (_, i) => `${setName}_${i + 2}`)
  const isFree = (name: string) => isODataIdentifier(name) && !taken.has(name)
  return [...candidates, ...numbered].find(isFree)!
}
