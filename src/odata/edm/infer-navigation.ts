// Navigation between the sets of a snapshot, which follows from the names of their columns.
//
// A column that has the name and the type of another set's key refers to it; both sets need a key, and only a key of one
// column can be referred to. Nearly every table has an `id`, so a key of that name is referred to by columns named
// `<table>_id` instead. Days and times are the key of whatever is counted by them: such a key is referred to only where the
// table has its name (`days` for `day`).
//
// Where n sets have a key of one name, each refers to each other: n * (n - 1) properties, impossible to tell apart
// when n is large. Above limits.setsOfOneKey only those sets are referred to whose table has the name of the key
// (`order` or `orders` for `order_id`), if they in turn are not more; the others refer to them.

import { limits } from '../../core/limits.ts'
import { isODataIdentifier, splitModelName } from '../../core/names.ts'
import type { Hierarchy } from '../../core/meaning.ts'
import type { EdmType } from './types.ts'
import type {
  EntitySet,
  NavigationProperty,
  Property,
  RecursiveHierarchy,
  SharedKey,
} from './model.ts'
import { isInteger } from './numbers.ts'
import { isTableOf } from './words.ts'

/** A set while its navigation is being found. */
export type GrowingSet = EntitySet & {
  readonly type: {
    readonly navigation: NavigationProperty[]
    readonly hierarchies: RecursiveHierarchy[]
  }
}

/** Adds to `shared` the keys that too many sets have. Each step is a small one. */
export function* addNavigation(
  sets: readonly GrowingSet[],
  shared: SharedKey[],
): Generator<void, void> {
  const columns = new Map<string, NamedColumn[]>()
  const keys = new Map<string, ReferenceTarget[]>()
  const taken = new Map<GrowingSet, Set<string>>()
  for (const [place, set] of sets.entries()) {
    const key = onlyKey(set)
    const name = key === null || isChance(set, key) ? null : nameOfReferences(set, key)
    if (key !== null && name !== null) append(keys, name, { set, place, key, name })
    if (set.type.key.length > 0)
      for (const column of set.type.properties) append(columns, column.name, { set, place, column })
    taken.set(set, namesOf(set))
    yield
  }
  const referred = new Map<GrowingSet, ReferenceTarget>()
  for (const [name, all] of keys) {
    const targets = referredTo(name, all)
    if (targets !== all && columns.has(name)) shared.push({ name, sets: all.length })
    for (const target of targets) referred.set(target.set, target)
  }
  for (const set of sets) {
    const to = referred.get(set)
    if (to === undefined) continue
    for (const from of columns.get(to.name) ?? []) {
      if (!refersTo(from, to, referred)) continue
      relate({ from: from.set, to: set, column: from.column, key: to.key }, taken)
      yield
    }
  }
}

interface NamedColumn {
  readonly set: GrowingSet
  /** The place of `set` among the sets. */
  readonly place: number
  readonly column: Property
}

interface ReferenceTarget {
  readonly set: GrowingSet
  readonly place: number
  readonly key: Property
  /** The name of the columns that refer to it. */
  readonly name: string
}

function refersTo(
  { set, place, column }: NamedColumn,
  to: ReferenceTarget,
  referred: ReadonlyMap<GrowingSet, ReferenceTarget>,
): boolean {
  if (set === to.set || !isComparable(column.type, to.key.type)) return false
  // Two sets with the same key refer to each other: that is one relationship, of the later set to the earlier.
  const isMutual = column === onlyKey(set) && to.name === to.key.name && referred.has(set)
  return !isMutual || place > to.place
}

function append<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [item])
  else list.push(item)
}

function onlyKey(set: EntitySet): Property | null {
  const [key, ...more] = set.type.key
  return key === undefined || more.length > 0 ? null : key
}

const moments: ReadonlySet<string> = new Set(['Edm.Date', 'Edm.DateTimeOffset', 'Edm.TimeOfDay'])

/** Rows of two sets with one day have nothing else to do with each other. */
const isChance = (set: EntitySet, { name, type }: Property) =>
  moments.has(type.name) && !isTableOf(withoutId(name), tableOf(set))

const tableOf = ({ relation }: EntitySet): string => splitModelName(relation.model).table

const nameOfReferences = (set: EntitySet, key: Property): string =>
  /^id$/i.test(key.name) ? `${tableOf(set)}_${key.name}` : key.name

const withoutId = (name: string): string => name.replace(/_id$/i, '')

function referredTo(name: string, all: readonly ReferenceTarget[]): readonly ReferenceTarget[] {
  if (all.length <= limits.setsOfOneKey) return all
  const named = all.filter(({ set }) => isTableOf(withoutId(name), tableOf(set)))
  return named.length <= limits.setsOfOneKey ? named : []
}

const isComparable = (a: EdmType, b: EdmType) => a.name === b.name || (isInteger(a) && isInteger(b))

/** `from.column` holds keys of `to`. */
interface Relationship {
  readonly from: GrowingSet
  readonly to: GrowingSet
  readonly column: Property
  readonly key: Property
}

type TakenNames = ReadonlyMap<GrowingSet, Set<string>>

/**
 * To one: the name of the key without `_id`. To many, and where both sides have the key: the other table's name.
 * A name that is taken gives way to the name of the other set.
 */
function relate({ from, to, column, key }: Relationship, taken: TakenNames): void {
  const oneToOne = column === onlyKey(from)
  const there = takeName(taken.get(from)!, oneToOne ? tableOf(to) : withoutId(column.name), to.name)
  const back = takeName(taken.get(to)!, tableOf(from), from.name)
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

/** Navigation to the row above and to those below, `manager` and `org_children`; nothing where a column is not there. */
export function addHierarchy(set: GrowingSet, { name, node, parent }: Hierarchy): void {
  const { type } = set
  const [ours, theirs] = [parent, node].map((one) =>
    type.properties.find((property) => property.name === one),
  )
  if (ours === undefined || theirs === undefined) return
  const taken = new Set([...namesOf(set), ...type.navigation.map((each) => each.name)])
  const short = withoutId(parent)
  const above = takeName(taken, short === parent ? `${name}_parent` : short, set.name)
  const below = takeName(taken, `${name}_children`, set.name)
  type.navigation.push(
    { name: above, target: set, many: false, holdsKey: true, on: { ours, theirs }, partner: below },
    {
      name: below,
      target: set,
      many: true,
      holdsKey: false,
      on: { ours: theirs, theirs: ours },
      partner: above,
    },
  )
  type.hierarchies.push({ name, node: theirs, parent: ours, navigation: above })
}

const namesOf = ({ type }: EntitySet): Set<string> =>
  new Set([type.name, ...type.properties.map(({ name }) => name)])

/** The first that is free of `wanted`, the name of the other set, and that with a number. */
function takeName(taken: Set<string>, wanted: string, setName: string): string {
  const isFree = (name: string) => isODataIdentifier(name) && !taken.has(name)
  let name = isFree(wanted) ? wanted : setName
  for (let n = 2; taken.has(name); n++) name = `${setName}_${n}`
  taken.add(name)
  return name
}
