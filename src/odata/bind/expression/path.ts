// Paths: what they lead to, along navigation properties and through complex values. Rows on the other side of a
// navigation property become a subquery that DuckDB joins.

import { bindKey } from './key.ts'
import {
  type Expression,
  propertyOf,
  type RowSource,
  type RowVariable,
  typeOf,
  compare,
  type ItemSource,
  not,
  and,
} from '../bound.ts'
import { unsupported, typeMismatch, unknownProperty } from '../../protocol/errors.ts'
import {
  findNavigation,
  findPart,
  findProperty,
  findSet,
  type RowNames,
  newRow,
  type Scope,
  scopeOf,
  THIS_ABOVE,
  itemsOf,
  NOTHING_NAMED,
  type ScopeVariable,
} from '../scope.ts'
import {
  type ExpressionSyntax,
  type KeySyntax,
  type NamesSyntax,
  type PathSyntax,
  ROLLUP_NODE,
} from '../../syntax/syntax.ts'
import { isCastTo } from '../../edm/types.ts'
import type { NavigationProperty } from '../../edm/model.ts'
import { bindTotal } from '../apply/aggregate.ts'
import { bindExpression } from './expression.ts'
import { bindSearch } from './search.ts'
import { asCondition } from './constants.ts'

/** How a value found at the end of a path becomes one of the expression around it. */
type Wrap = (value: Expression) => Expression

/** What a path leads to. `name` is what messages call it. */
type Target =
  /** An entity that is there for certain: `$it`, or the variable of a lambda. */
  | { readonly kind: 'row'; readonly row: RowVariable; readonly wrap: Wrap }
  /** An entity that may be missing, or entities, reached through a navigation property or `$root`. */
  | {
      readonly kind: 'one' | 'many'
      readonly source: RowSource
      readonly navigation: NavigationProperty | null
      readonly name: string
      readonly wrap: Wrap
      readonly named?: RowNames
    }
  | { readonly kind: 'value'; readonly value: Expression; readonly wrap: Wrap }

export interface Step {
  readonly name: string
  readonly key: KeySyntax | null
}

export function bindPath(path: PathSyntax, scope: Scope): Expression {
  const { names, at } = path
  const computed = scope.computed.get(names.join('/'))
  if (computed !== undefined) return computed
  const target = pathTarget(path, at, scope)
  switch (target.kind) {
    case 'value':
      return target.wrap(target.value)
    case 'row':
      throw typeMismatch(
        `an entity is not a value: name one of its properties (at character ${at + 1})`,
      )
    case 'many':
      throw noValueOfMany(target.name, at)
    case 'one':
      throw typeMismatch(
        `${target.name} is an entity: name one of its properties (at character ${at + 1})`,
      )
  }
}

export function pathTarget({ names, keys }: NamesSyntax, at: number, scope: Scope): Target {
  const steps = names.map((name, i): Step => ({ name, key: keys.get(i) ?? null }))
  const added = addedTarget(names, scope)
  if (added !== null) return follow(added.target, steps.slice(added.names), at, scope)
  const pair = names.length > 2 ? scope.computed.get(`${names[0]!}/${names[1]!}`) : undefined
  if (pair !== undefined)
    return follow({ kind: 'value', value: pair, wrap: asIs }, steps.slice(2), at, scope)
  const start = startOf(steps[0]!, at, scope)
  return start === null
    ? follow(here(scope), steps, at, scope)
    : follow(start, steps.slice(1), at, scope)
}

/** What nest, addnested or groupby has added under the first names; null: nothing. */
function addedTarget(names: readonly string[], scope: Scope) {
  if (scope.collections.size === 0) return null
  for (let count = 1; count <= names.length; count++) {
    const found = scope.collections.get(names.slice(0, count).join('/'))?.(scope)
    if (found === undefined) continue
    const target: Target = { navigation: null, ...found, name: names[count - 1]!, wrap: asIs }
    return { target, names: count }
  }
  return null
}

export const asIs: Wrap = (value) => value

/** Where unqualified names are looked for. */
const here = ({ row, item }: Scope): Target =>
  item === null ? { kind: 'row', row, wrap: asIs } : { kind: 'value', value: item, wrap: asIs }

/** Null when the first name of a path is that of a member. */
function startOf({ name, key }: Step, at: number, scope: Scope): Target | null {
  if (name === '$this') return here(scope)
  if (name === '$these') return theseTarget(scope)
  if (name === THIS_ABOVE) throw unsupported(name)
  if (name.startsWith(ROLLUP_NODE)) return nodeTarget(name.slice(ROLLUP_NODE.length), at, scope)
  if (name.startsWith('@')) return aliasTarget(name.slice(1), at, scope)
  if (name.startsWith('$root/')) return rootTarget(name.slice('$root/'.length), key, scope)
  const variable = name === '$it' ? scope.request.it : scope.variables.get(name)
  if (variable !== undefined)
    return 'kind' in variable
      ? { kind: 'value', value: variable, wrap: asIs }
      : { kind: 'row', row: variable, wrap: asIs }
  const computed = scope.computed.get(name)
  return computed === undefined ? null : { kind: 'value', value: computed, wrap: asIs }
}

/** `@a/name`, where `@a` is a path to an entity or to a complex value. */
function aliasTarget(name: string, at: number, { request }: Scope): Target {
  const syntax = request.aliases.get(name)
  if (syntax?.kind !== 'path' || syntax.names[0]!.startsWith('@'))
    throw typeMismatch(`@${name} has no properties (at character ${at + 1})`)
  return pathTarget(syntax, at, scopeOf(request))
}

function theseTarget(scope: Scope): Target {
  const found = scope.request.these?.(scope)
  if (found === undefined) throw unsupported('$these outside of the transformations of $apply')
  return { kind: 'many', ...found, navigation: null, name: '$these', wrap: asIs }
}

/** The node that rolluprecursive works on, by the place of that in groupby (Data Aggregation 4.0, section 6.3). */
function nodeTarget(position: string, at: number, scope: Scope): Target {
  const { rollups = [], row } = scope.request
  const rollup = rollups[Number(position) - 1]
  const node = row.set.type.properties.find(({ name }) => name === rollup?.key)
  if (rollup === undefined || node === undefined)
    throw typeMismatch(
      `rollupnode(Position=${position}) is known only in what groupby makes of the nodes of rolluprecursive (at character ${at + 1})`,
    )
  const link = { ours: propertyOf(row, node), theirs: rollup.hierarchy.node }
  const source: RowSource = { kind: 'rows', row: newRow(scope, rollup.set), link, key: null }
  return { kind: 'one', source, navigation: null, name: 'rollupnode()', wrap: asIs }
}

function rootTarget(name: string, key: KeySyntax | null, scope: Scope): Target {
  const row = newRow(scope, findSet(scope.request.sets, name, 'unknown-property'))
  const bound = key === null ? null : bindKey(key, { ...scope, row, item: null })
  const source: RowSource = { kind: 'rows', row, link: null, key: bound }
  const kind = key === null ? 'many' : 'one'
  return { kind, source, navigation: null, name, wrap: asIs }
}

export function follow(target: Target, steps: readonly Step[], at: number, scope: Scope): Target {
  const [step, ...rest] = steps
  if (step === undefined) return target
  if (step.key === null && isCast(step.name, target)) return follow(target, rest, at, scope)
  switch (target.kind) {
    case 'row':
      return follow(memberOf(target.row, step, target.wrap, at, scope), rest, at, scope)
    case 'one': {
      const { source, wrap } = target
      const related: Wrap = (value) =>
        value.kind === 'null' ? value : wrap({ kind: 'related', source, value })
      return follow({ kind: 'row', row: source.row, wrap: related }, steps, at, scope)
    }
    case 'many':
      throw noValueOfMany(target.name, at)
    case 'value':
      return follow(partOf(target.value, step, target.wrap, at), rest, at, scope)
  }
}

function isCast(name: string, target: Target): boolean {
  if (!name.includes('.')) return false
  switch (target.kind) {
    case 'row':
      return isCastTo(name, target.row.set.type)
    case 'one':
    case 'many':
      return isCastTo(name, target.source.row.set.type)
    case 'value': {
      const type = typeOf(target.value)
      return type !== null && isCastTo(name, type.kind === 'collection' ? type.item : type)
    }
  }
}

export function memberOf(
  row: RowVariable,
  step: Step,
  wrap: Wrap,
  at: number,
  scope: Scope,
): Target {
  const { name, key } = step
  const navigation = findNavigation(row.set.type, name)
  if (navigation === undefined) {
    const property = findProperty(row.set.type, name, at)
    if (key !== null) throw noKey(name, at)
    return { kind: 'value', value: propertyOf(row, property), wrap }
  }
  const { on, many } = navigation
  if (key !== null && !many) throw noKey(name, at)
  const theirs = newRow(scope, navigation.target)
  const bound = key === null ? null : bindKey(key, { ...scope, row: theirs, item: null }, on.theirs)
  const link = { ours: propertyOf(row, on.ours), theirs: on.theirs }
  const source: RowSource = { kind: 'rows', row: theirs, link, key: bound }
  return { kind: many && key === null ? 'many' : 'one', source, navigation, name, wrap }
}

const noValueOfMany = (name: string, at: number) =>
  typeMismatch(`${name} is a collection: any, all or $count can follow (at character ${at + 1})`)

const noKey = (name: string, at: number) =>
  typeMismatch(`${name} takes no key (at character ${at + 1})`)

function partOf(value: Expression, { name, key }: Step, wrap: Wrap, at: number): Target {
  const type = typeOf(value)
  if (type?.kind !== 'complex')
    throw unknownProperty(
      `"${name}" is not a property of ${type?.name ?? 'null'} (at character ${at + 1})`,
    )
  const part = findPart(type, name, at)
  if (key !== null) throw noKey(name, at)
  return { kind: 'value', value: { kind: 'member', type: part.type, of: value, name }, wrap }
}

/** `customer eq null`: null when the path leads to no entity that may be missing. */
export function bindEntityIsNull(path: PathSyntax, scope: Scope): Expression | null {
  if (scope.computed.has(path.names.join('/'))) return null
  const target = pathTarget(path, path.at, scope)
  if (target.kind !== 'one') return null
  const { source } = target
  const exists = target.wrap({ kind: 'exists', quantifier: 'any', source, condition: null })
  return not(exists)
}

/** `customer eq $root/customers(7)`: entities are equal by their keys. Null when the sides are not entities. */
export function bindSameEntity(
  left: ExpressionSyntax,
  right: ExpressionSyntax,
  scope: Scope,
): Expression | null {
  if (left.kind !== 'path' || right.kind !== 'path') return null
  if ([left, right].some(({ names }) => scope.computed.has(names.join('/')))) return null
  const targets = [left, right].map((path) => pathTarget(path, path.at, scope))
  const sets = targets.map((target) => {
    if (target.kind === 'row') return target.row.set
    return target.kind === 'one' ? target.source.row.set : null
  })
  const [a, b] = sets
  if (a == null || b == null) return null
  // Rows of $apply that still are entities have their keys among their values.
  const { key } = a.type.key.length === 0 ? b.type : a.type
  if (a.name !== b.name || key.length === 0)
    throw typeMismatch(`cannot compare entities of type ${a.name} and ${b.name}`)
  const operands = key.map(({ name }): Expression => {
    const [ours, theirs] = targets.map((target) => {
      const part = follow(target, [{ name, key: null }], left.at, scope)
      if (part.kind !== 'value') throw new Error(`the key ${name} is not a value`)
      return part.wrap(part.value)
    }) as [Expression, Expression]
    return compare('eq', ours, theirs)
  })
  return and(operands)
}

// What is said of the members of a collection: `orders/any(o:…)`, `tags/all(t:…)`, `orders/$count($filter=…)`.

interface Members {
  readonly source: RowSource | ItemSource
  /** One of them. */
  readonly member: ScopeVariable
  readonly wrap: Wrap
  readonly named: RowNames
}

/** The entities that a navigation property leads to, or the items of a collection. */
function membersOf(path: NamesSyntax, at: number, scope: Scope): Members {
  const target = pathTarget(path, at, scope)
  if (target.kind === 'many') {
    const { source, wrap, named = NOTHING_NAMED } = target
    return { source, member: source.row, wrap, named }
  }
  const type = target.kind === 'value' ? typeOf(target.value) : null
  if (target.kind === 'value' && type?.kind === 'collection') {
    const { value, wrap } = target
    return { ...itemsOf(value, scope), wrap, named: NOTHING_NAMED }
  }
  throw typeMismatch(`${path.names.join('/')} is not a collection (at character ${at + 1})`)
}

type CountSyntax = ExpressionSyntax & { readonly kind: 'count' }

/** `orders/$count`, or `orders/$count($filter=…;$search=…)`, whose condition speaks of an order. */
export function bindCount({ path, filter, search, at }: CountSyntax, scope: Scope): Expression {
  const { source, member, wrap, named } = membersOf(path, at, scope)
  const inner = scopeWithin(scope, member, named)
  const conditions: Expression[] = []
  if (search !== null) {
    if (source.kind === 'items') throw unsupported('$search in a list')
    conditions.push(bindSearch(search, source.row))
  }
  if (filter !== null) conditions.push(asCondition(bindExpression(filter, inner), '$filter'))
  return wrap({ kind: 'count', source, condition: allOf(conditions) })
}

/** Null when there is none. */
function allOf(operands: readonly Expression[]): Expression | null {
  const [only = null, ...more] = operands
  return more.length === 0 ? only : and(operands)
}

/** Unqualified names are those of the member. */
const scopeWithin = (scope: Scope, member: ScopeVariable, named = NOTHING_NAMED): Scope =>
  'kind' in member
    ? { ...scope, item: member, ...named }
    : { ...scope, row: member, item: null, ...named }

type TotalSyntax = ExpressionSyntax & { readonly kind: 'total' }

/** `orders/aggregate(amount with sum)`, whose expression speaks of an order. */
export function bindPathTotal({ path, value, method, at }: TotalSyntax, scope: Scope): Expression {
  const { source, member, wrap, named } = membersOf(path, at, scope)
  if (value === null) return wrap({ kind: 'count', source, condition: null })
  const total = bindTotal({ value, method, at }, scopeWithin(scope, member, named))
  return wrap({ kind: 'total', source, ...total })
}

type LambdaSyntax = ExpressionSyntax & { readonly kind: 'lambda' }

/** `orders/any(o:…)`; `any()` is whether there is a member at all. */
export function bindLambda(syntax: LambdaSyntax, scope: Scope): Expression {
  const { quantifier, path, variable, condition, at } = syntax
  const { source, member, wrap, named } = membersOf(path, at, scope)
  const prefixed = <T>(values: ReadonlyMap<string, T>) =>
    Array.from(values, ([name, value]) => [`${variable}/${name}`, value] as const)
  const inner = {
    ...scope,
    computed: new Map([...scope.computed, ...prefixed(named.computed)]),
    marks: new Map([...scope.marks, ...prefixed(named.marks)]),
    collections: new Map([...scope.collections, ...prefixed(named.collections)]),
    variables: new Map([...scope.variables, [variable, member]]),
  }
  const bound =
    condition === null ? null : asCondition(bindExpression(condition, inner), quantifier)
  return wrap({ kind: 'exists', quantifier, source, condition: bound })
}
