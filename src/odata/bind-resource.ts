// The path of a request: from an entity set along keys and navigation properties to what is asked for. All of it becomes
// one condition on the rows of the last set.

import { didYouMean } from '../core/suggest.ts'
import { bindKey } from './bind-key.ts'
import type { Expression, RowVariable } from './bound.ts'
import type { EntityModel, EntitySet, NavigationProperty, Property } from './entity-model.ts'
import { odataError } from './errors.ts'
import { findNavigation, newRow, type Scope, unsupported } from './scope.ts'
import type { KeySyntax, PathSegment } from './syntax.ts'
import type { EdmType } from './type-map.ts'

interface Step {
  readonly set: EntitySet
  /** How it was reached; null for the first. */
  readonly navigation: NavigationProperty | null
  readonly key: KeySyntax | null
}

export interface Resource {
  readonly steps: readonly [Step, ...Step[]]
  /** Rows of this set are asked for. */
  readonly set: EntitySet
  /** Whether the steps lead to a collection, or to one entity at most. */
  readonly many: boolean
  /** What is asked of them, when it is not they themselves. */
  readonly end: '$count' | '$ref' | ValueEnd | null
  /** The path of the entity as context URLs have it: `shop_orders(7)`. */
  readonly entityPath: string
}

/** A property, and what is asked of its value: a part, an item, its length, or the value without JSON around it. */
export interface ValueEnd {
  readonly property: Property
  /** Names of parts of complex values, and places of items in collections. */
  readonly steps: readonly (string | number)[]
  readonly type: EdmType
  readonly asks: '$value' | '$count' | null
}

/** Throws 404 for a path that leads nowhere, 501 for one that is not served. */
export function findResource(model: EntityModel, path: readonly PathSegment[]): Resource {
  const [first, ...rest] = path as readonly [PathSegment, ...PathSegment[]]
  const steps: [Step, ...Step[]] = [
    { set: findSet(model.sets, first.name), navigation: null, key: first.key },
  ]
  for (const [i, segment] of rest.entries()) {
    const { set } = steps.at(-1)!
    const navigation = isMany(steps) ? undefined : findNavigation(set.type, segment.name)
    if (navigation === undefined) {
      const end = findEnd(steps, [segment, ...rest.slice(i + 1)])
      return { steps, set, many: isMany(steps), end, entityPath: entityPath(steps, path, i + 1) }
    }
    if (!navigation.many && segment.key !== null)
      throw odataError('unknown-resource', `${segment.name} is one entity: it takes no key`)
    steps.push({ set: navigation.target, navigation, key: segment.key })
  }
  const { set } = steps.at(-1)!
  const all = entityPath(steps, path, path.length)
  return { steps, set, many: isMany(steps), end: null, entityPath: all }
}

function isMany(steps: readonly Step[]): boolean {
  const { navigation, key } = steps.at(-1)!
  return key === null && (navigation?.many ?? true)
}

/** What may follow the last set or entity: `$count`, `$ref`, a property and its `$value`. */
function findEnd(
  steps: readonly Step[],
  [segment, ...more]: readonly [PathSegment, ...PathSegment[]],
): Resource['end'] {
  const { name } = segment
  const { type } = steps.at(-1)!.set
  const many = isMany(steps)
  const isLast = more.length === 0 && segment.key === null
  if (name === '$ref' && isLast) return '$ref'
  if (name === '$count' && isLast && many) return '$count'
  const property = many ? undefined : type.properties.find((member) => member.name === name)
  if (property !== undefined && segment.key === null) return findValue(property, more)
  if (many ? /^\$|^-?\d+$/.test(name) : /^\$(?!count|value)/.test(name))
    throw unsupported(`the path /${name} below ${type.name}`)
  throw unknownMember(name, type, many)
}

function findValue(property: Property, segments: readonly PathSegment[]): ValueEnd {
  let type = property.type
  const steps: (string | number)[] = []
  for (const [i, { name, key }] of segments.entries()) {
    const end = key === null && i === segments.length - 1 ? name : null
    if (end === '$value' && type.kind === 'primitive') return { property, steps, type, asks: end }
    if (end === '$count' && type.kind === 'collection') return { property, steps, type, asks: end }
    const part: EdmType | undefined =
      type.kind === 'complex'
        ? type.properties.find((inner) => inner.name === name)?.type
        : type.kind === 'collection' && ORDINAL.test(name)
          ? type.item
          : undefined
    if (part === undefined || key !== null)
      throw odataError('unknown-resource', `${type.name} has nothing called ${name}`)
    steps.push(type.kind === 'complex' ? name : Number(name))
    type = part
  }
  return { property, steps, type, asks: null }
}

/** The place of an item, counted from 0; a negative one is counted from the end. */
const ORDINAL = /^-?\d{1,9}$/

function unknownMember(name: string, type: EntitySet['type'], many: boolean) {
  const names = [...type.properties, ...type.navigation].map((member) => member.name)
  if (many && names.includes(name))
    return odataError('unknown-resource', `${name} is below one entity: a key must stand before it`)
  const hint = many ? undefined : didYouMean(name, names)
  const problem = `${type.name} has no property "${name}"`
  return odataError('unknown-resource', hint === undefined ? problem : `${problem}: ${hint}`)
}

export function findSet(sets: EntityModel['sets'], name: string): EntitySet {
  const set = sets.get(name)
  if (set !== undefined) return set
  const hint = didYouMean(name, sets.keys())
  const problem = `there is no entity set "${name}"`
  throw odataError('unknown-entity-set', hint === undefined ? problem : `${problem}: ${hint}`)
}

/** An entity with a key is named by its own set, whatever way led to it. */
function entityPath(
  steps: readonly Step[],
  path: readonly PathSegment[],
  segments: number,
): string {
  const { set } = steps.at(-1)!
  const key = /\(.*$/s.exec(path[segments - 1]!.text)
  if (key !== null) return `${set.name}${key[0]}`
  return path
    .slice(0, segments)
    .map(({ text }) => text)
    .join('/')
}

/**
 * The condition on a row of the last step that it lies on the path; null for a whole set. `row` is of the last of
 * `steps`.
 */
export function pathCondition(
  steps: readonly Step[],
  row: RowVariable,
  scope: Scope,
): Expression | null {
  const { key, navigation } = steps.at(-1)!
  const conditions: Expression[] = []
  if (key !== null) conditions.push(bindKey(key, { ...scope, row }, navigation?.on.theirs ?? null))
  if (navigation !== null) conditions.push(linkCondition(steps, navigation, row, scope))
  return conditions.length === 0 ? null : { kind: 'logical', operator: 'and', operands: conditions }
}

/** The row has the value that the entity before it has on its side of the link. */
function linkCondition(
  steps: readonly Step[],
  { on }: NavigationProperty,
  row: RowVariable,
  scope: Scope,
): Expression {
  const before = steps.slice(0, -1)
  const parent = newRow(scope, before.at(-1)!.set)
  return {
    kind: 'reached',
    row: parent,
    condition: pathCondition(before, parent, scope)!,
    ours: { kind: 'property', type: on.ours.type, row: parent, property: on.ours },
    theirs: { kind: 'property', type: on.theirs.type, row, property: on.theirs },
  }
}
