// The path of a request: from an entity set along keys and navigation properties to the resource. All of it becomes
// one condition on the rows of the last set.

import { didYouMean } from '../../core/suggest.ts'
import { bindKey, openKey } from './expression/key.ts'
import { type Expression, propertyOf, compare, and } from './bound.ts'
import { odataError, unsupported, unknownResource } from '../protocol/errors.ts'
import { parseText, withTarget } from '../syntax/parse-option.ts'
import { findNavigation, findSet, measureHint, newRow, type Scope } from './scope.ts'
import type {
  ExpressionSyntax,
  KeySyntax,
  NamedValue,
  OrderItemSyntax,
  PathSegment,
} from '../syntax/syntax.ts'
import { isCastTo, type EdmType } from '../edm/types.ts'
import { bindFilter, bindOrder } from './expression/expression.ts'
import type { EntityModel, EntitySet, NavigationProperty, Property } from '../edm/model.ts'
import type { Conventions } from '../protocol/conventions.ts'

interface PathStep {
  readonly set: EntitySet
  /** How it was reached; null for the first. */
  readonly navigation: NavigationProperty | null
  readonly key: KeySyntax | null
  /** `/$filter(…)`: what holds for the rows. */
  readonly filters: readonly ExpressionSyntax[]
  /** `/0`: the place of one row in the order of $orderby, a negative one counted from the end. */
  readonly place: number | null
}

export interface Resource {
  readonly steps: readonly [PathStep, ...PathStep[]]
  /** The request is for rows of this set. */
  readonly set: EntitySet
  /** Whether the steps lead to a collection, or to one entity at most. */
  readonly many: boolean
  /** What is requested of them, unless the rows themselves. */
  readonly end: '$count' | '$ref' | ValueEnd | null
  /** The path of the entity as context URLs have it: `shop_orders(7)`. */
  readonly entityPath: string
}

/** A property, and what is requested of its value: a part, an item, its length, or the value without JSON around it. */
export interface ValueEnd {
  readonly property: Property
  /** Names of parts of complex values, and places of items in collections. */
  readonly steps: readonly (string | number)[]
  readonly type: EdmType
  readonly asks: '$value' | '$count' | null
}

/** Throws 404 for a path that leads nowhere, 501 for one that is not served. */
export function findResource(
  model: EntityModel,
  path: readonly PathSegment[],
  { keyAsSegment }: Conventions,
): Resource {
  const [first, ...rest] = path as readonly [PathSegment, ...PathSegment[]]
  if (first.argument !== null) throw unsupported(`the path /${first.name}(…)`)
  const steps: [PathStep, ...PathStep[]] = [
    stepTo(findSet(model.sets, first.name), null, first.key),
  ]
  let taken = 0
  while (taken < rest.length) {
    const more = stepAlong(steps, rest.slice(taken), keyAsSegment)
    if (more === 0) break
    taken += more
  }
  const { set } = steps.at(-1)!
  const [next, ...others] = rest.slice(taken)
  return {
    steps,
    set,
    many: isMany(steps),
    end: next === undefined ? null : findEnd(steps, [next, ...others]),
    entityPath: entityPath(steps, path, taken + 1),
  }
}

const stepTo = (
  set: EntitySet,
  navigation: NavigationProperty | null,
  key: KeySyntax | null,
): PathStep => ({ set, navigation, key, filters: [], place: null })

/** Adds the next segments to the steps. Returns how many: none when they end the path. */
function stepAlong(steps: PathStep[], segments: readonly PathSegment[], keyAsSegment: boolean) {
  const last = steps.at(-1)!
  const [segment] = segments as readonly [PathSegment, ...PathSegment[]]
  const change = (step: Partial<PathStep>) => steps.splice(-1, 1, { ...last, ...step })
  if (isCastTo(segment.name, last.set.type) && (segment.key === null || isMany(steps))) {
    if (segment.key !== null) change({ key: segment.key })
    return 1
  }
  if (!isMany(steps)) {
    const navigation = findNavigation(last.set.type, segment.name)
    if (navigation === undefined) return 0
    if (!navigation.many && segment.key !== null)
      throw unknownResource(`${segment.name} leads to one entity, so it takes no key`)
    steps.push(stepTo(navigation.target, navigation, segment.key))
    return 1
  }
  if (segment.name.toLowerCase() === '$filter' && segment.argument !== null) {
    const condition = parseText('wholeExpression', segment.argument, '/$filter')
    change({ filters: [...last.filters, condition] })
    return 1
  }
  if (segment.name.startsWith('$')) return 0
  if (keyAsSegment) {
    const open = openKey(last.set.type, last.navigation?.on.theirs ?? null)
    change({ key: keyOfSegments(last.set, open, segments.slice(0, open.length)) })
    return open.length
  }
  if (!ORDINAL.test(segment.name)) return 0
  change({ place: placeOf(segment.name) })
  return 1
}

/** Texts stand in segments as they are, other values as in parentheses. */
function keyOfSegments(
  set: EntitySet,
  open: readonly Property[],
  segments: readonly PathSegment[],
): KeySyntax {
  if (open.length === 0 || segments.length < open.length)
    throw unknownResource(`${set.name} needs a key of ${open.length} segments`)
  const values = open.map(({ name, type }, i): NamedValue => {
    const { decoded } = segments[i]!
    if (type.name === 'Edm.String')
      return { name, value: { kind: 'literal', form: 'string', text: decoded, at: 0 } }
    const key = parseText('key', decoded, 'the key')
    if (key.kind === 'value') return { name, value: key.value }
    throw odataError('invalid-key', `"${decoded.slice(0, 60)}" is not a value of ${name}`)
  })
  return { kind: 'named', values }
}

function isMany(steps: readonly PathStep[]): boolean {
  const { navigation, key, place } = steps.at(-1)!
  return key === null && place === null && (navigation?.many ?? true)
}

/** What may follow the last set or entity: `$count`, `$ref`, a property and its `$value`. */
function findEnd(
  steps: readonly PathStep[],
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
  const isEnd = name === '$ref' || name === '$count' || name === '$value'
  if (isEnd && more.length > 0) throw unknownResource(`nothing can follow /${name}`)
  if ((many ? /^\$(?!value)/ : /^\$(?!count|value)/).test(name))
    throw unsupported(`the path /${name} below ${type.name}`)
  throw unknownMember(name, type, many)
}

function findValue(property: Property, segments: readonly PathSegment[]): ValueEnd {
  let type = property.type
  const steps: (string | number)[] = []
  for (const [i, { name, key }] of segments.entries()) {
    const end = key === null && i === segments.length - 1 ? name : null
    if (key === null && isCastTo(name, type)) continue
    if (end === '$value' && type.kind === 'primitive') return { property, steps, type, asks: end }
    if (end === '$count' && type.kind === 'collection') return { property, steps, type, asks: end }
    const part: EdmType | undefined =
      type.kind === 'complex'
        ? type.properties.find((inner) => inner.name === name)?.type
        : type.kind === 'collection' && ORDINAL.test(name)
          ? type.item
          : undefined
    if (part === undefined || key !== null)
      throw unknownResource(`${type.name} has no part "${name}"`)
    steps.push(type.kind === 'complex' ? name : placeOf(name))
    type = part
  }
  return { property, steps, type, asks: null }
}

/** The place of an item, counted from 0; a negative one is counted from the end. */
const ORDINAL = /^-?\d+$/

/** Beyond every end: what no collection holds need not be counted exactly. */
const MOST = 2 ** 31

const placeOf = (text: string) => Math.max(-MOST, Math.min(MOST, Number(text)))

const SYSTEM_SEGMENTS: readonly string[] = ['$count', '$value', '$ref', '$filter']

function unknownMember(name: string, type: EntitySet['type'], many: boolean) {
  const names = [...type.properties, ...type.navigation].map((member) => member.name)
  if (many && names.includes(name))
    return unknownResource(`${name} belongs to one entity: add its key before /${name}`)
  const hint = measureHint(type, name) ?? (many ? undefined : didYouMean(name, names))
  const problem = `${type.name} has no property "${name}"`
  const system = SYSTEM_SEGMENTS.includes(`$${name.toLowerCase()}`)
    ? `did you mean /$${name.toLowerCase()}?`
    : hint
  return unknownResource(system === undefined ? problem : `${problem}; ${system}`)
}

/** An entity with a key is named by its own set, also when a navigation led to it. */
function entityPath(steps: readonly PathStep[], path: readonly PathSegment[], segments: number) {
  const { set } = steps.at(-1)!
  const key = /\(.*$/s.exec(path[segments - 1]!.text)
  if (key !== null) return `${set.name}${key[0]}`
  return path
    .slice(0, segments)
    .filter(({ name }) => !name.includes('.'))
    .map(({ text }) => text)
    .join('/')
}

type Order = readonly OrderItemSyntax[]

/**
 * The condition on the row of the scope, which is of the last step, that it lies on the path; null for a whole set.
 * `orderby`: the order of its places.
 */
export function pathCondition(steps: readonly PathStep[], scope: Scope, orderby: Order = []) {
  const last = steps.at(-1)!
  const { key, navigation, filters, place } = last
  if (place !== null) return placeCondition(steps, place, scope, orderby)
  const conditions: Expression[] = filters.map((filter) =>
    withTarget('/$filter', () => bindFilter(filter, scope)),
  )
  if (key !== null) conditions.push(bindKey(key, scope, navigation?.on.theirs ?? null))
  if (navigation !== null) conditions.push(linkCondition(steps, navigation, scope))
  return conditions.length === 0 ? null : and(conditions)
}

/**
 * Rows have no inherent order, and people who know REST take `orders/1` for the order with the key 1: a place needs
 * `$orderby`, and ends the path. Throws 404.
 */
export function requireOrder({ steps, end }: Resource, isOrdered: boolean): void {
  const placed = steps.findIndex(({ place }) => place !== null)
  if (placed < 0) return
  const { set, place } = steps[placed]!
  const { key } = set.type
  if (key.length === 0)
    throw odataError('no-key', `${set.name} has no key, so its rows have no positions`)
  const isLast = placed === steps.length - 1 && (end === null || end === '$ref')
  if (isLast && isOrdered) return
  const [first, ...more] = key as readonly [Property, ...Property[]]
  const values = more.length === 0 ? `${place}` : key.map(({ name }) => `${name}=…`).join(',')
  const position = isLast
    ? `, or add $orderby=${first.name} for the row at position ${place} of that order`
    : ''
  throw unknownResource(
    `/${place} is a position and not a key: write ${set.name}(${values})${position}`,
  )
}

/** The row is the one at that place among those of the last step. */
function placeCondition(
  steps: readonly PathStep[],
  place: number,
  scope: Scope,
  orderby: Order,
): Expression {
  const { row } = scope
  const { type } = row.set
  const before = [...steps.slice(0, -1), { ...steps.at(-1)!, place: null }]
  const operands = type.key.map((property): Expression => {
    const other = newRow(scope, row.set)
    const inner = { ...scope, row: other }
    const within = pathCondition(before, inner)
    const ties = type.key.map((part) => ({ value: propertyOf(other, part), descending: false }))
    const asked = withTarget('$orderby', () => bindOrder(orderby, inner))
    const right: Expression = {
      kind: 'nth',
      source: { kind: 'rows', row: other, link: null, key: within },
      order: [...asked, ...ties].map(({ value, descending }) => ({
        value,
        descending: descending !== place < 0,
      })),
      place: place < 0 ? -1 - place : place,
      value: propertyOf(other, property),
    }
    return compare('eq', propertyOf(row, property), right)
  })
  return and(operands)
}

/** The row has the value that the entity before it has on its side of the link. */
function linkCondition(
  steps: readonly PathStep[],
  { on }: NavigationProperty,
  scope: Scope,
): Expression {
  const before = steps.slice(0, -1)
  const parent = newRow(scope, before.at(-1)!.set)
  return {
    kind: 'reached',
    row: parent,
    condition: pathCondition(before, { ...scope, row: parent })!,
    ours: propertyOf(parent, on.ours),
    theirs: propertyOf(scope.row, on.theirs),
  }
}
