// join and outerjoin: each row with each of the rows that a navigation property leads to from it (Data Aggregation 4.0,
// section 3.5.1).
//
// The other rows become values of the row, at paths below the name that the request gives them, so that DuckDB joins two
// tables once, whatever is asked of the pairs then.

import { didYouMean } from '../../../core/suggest.ts'
import type { NavigationProperty } from '../../edm/model.ts'
import { edm, isCastTo } from '../../edm/types.ts'
import { typeMismatch, unknownProperty, unsupported, invalidOption } from '../../protocol/errors.ts'
import type { PathSyntax, TransformationSyntax, NestItem } from '../../syntax/syntax.ts'
import { compare, NULL, propertyOf } from '../bound.ts'
import { findNavigation, newName, newRow } from '../scope.ts'
import {
  applyContext,
  type ApplyRows,
  type BindSequence,
  besides,
  entityRows,
  type Input,
  pathKey,
  projectionOf,
  propertyValue,
  rowsOfValues,
  rowVariable,
  scopeOfRows,
  type ValueColumn,
  withNavigation,
  withRowCount,
  type NestedRows,
  withinSize,
} from './rows.ts'
import { wholeNumber } from '../expression/constants.ts'
import { bindAggregate } from './aggregate.ts'
import { isLink, LINK, linkOf, withLink } from './parents.ts'

type Join = TransformationSyntax & { readonly kind: 'join' }

export function bindJoin(syntax: Join, input: Input, bindSequence: BindSequence): ApplyRows {
  const { isOuter, path, sequence } = syntax
  const { rows, context } = input
  const word = isOuter ? 'outerjoin' : 'join'
  const navigation = navigationToMany(path, rows, word)
  const scope = scopeOfRows(rows, context)
  const alias = newName(syntax, scope)
  const found = rowsPerParent(navigation, sequence, input, bindSequence)
  const otherRow = newRow(scope, found.rows.set)
  const { columns, renamed, make, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const order = keepOrder()
  const link = { ours: propertyValue(rows, navigation.on.ours), theirs: found.link }
  const isThere = compare('ne', propertyOf(otherRow, found.link), NULL)
  const mark = isOuter ? make('mark', edm.Boolean, isThere) : undefined
  const added = found.rows.values
    .filter((value) => !isLink(value))
    .map((value): ValueColumn => ({
      path: [alias, ...value.path],
      property: make(value.path.at(-1)!, value.property.type, propertyOf(otherRow, value.property)),
      mark: value.mark ? make('mark', edm.Boolean, propertyOf(otherRow, value.mark)) : mark,
      isNullObject: isOuter,
    }))
  const sorted = found.rows.order.map(({ property, descending }) => ({
    property: make('sort', property.type, propertyOf(otherRow, property)),
    descending,
  }))
  const { relation: from } = rows
  const relation = {
    kind: 'join',
    from,
    row: rowVariable(rows),
    other: found.rows.relation,
    otherRow,
    link,
    isOuter,
    columns,
  } as const
  const made = rowsOfValues(rows, relation, [...values, ...added])
  const unique = uniquePairs(rows, found.rows, alias)
  const ties = sorted.length === 0 || unique === null ? [] : values.filter(isTieOf(rows))
  return withRowCount(
    {
      ...made,
      set: withNavigation(made.set, rows.set.type.navigation, renamed),
      unique,
      order: [
        ...order,
        ...ties.map(({ property }) => ({ property, descending: false })),
        ...sorted,
      ],
      added: rows.added,
      ...besides(rows, keep),
      joined: new Map([
        ...(rows.joined ?? []),
        ...(found.rows.added === null ? [] : [[alias, navigation.target] as const]),
      ]),
      size: made.size + found.rows.size,
    },
    Math.max(rows.set.relation.rows, navigation.target.relation.rows),
  )
}

const isTieOf =
  ({ unique }: ApplyRows) =>
  ({ path }: ValueColumn) =>
    unique?.includes(pathKey(path)) ?? false

function uniquePairs(ours: ApplyRows, theirs: ApplyRows, alias: string) {
  if (ours.unique === null || theirs.unique === null) return null
  const other = theirs.unique.filter((path) => path !== LINK)
  return [...ours.unique, ...other.map((path) => pathKey([alias, path]))]
}

/** `mark` and `isNullObject` of a value that is found through a joined entity: there is none where that is not there. */
export function ofJoined({ joined, values }: ApplyRows, path: readonly string[]) {
  if (joined === undefined || !joined.has(path[0]!)) return {}
  const { mark, isNullObject } = values.find((value) => value.path[0] === path[0])!
  return { mark, isNullObject }
}

/** The rows that a navigation property leads to, as a sequence makes them of those of each row alone. */
function rowsPerParent(
  { target, on }: NavigationProperty,
  sequence: readonly TransformationSyntax[],
  { rows: ours, context }: Input,
  bindSequence: BindSequence,
) {
  const entities = entityRows(target)
  if (sequence.length === 0) return { rows: entities, link: on.theirs }
  const inner = applyContext(context, [target])
  const linked = withLink(
    entities,
    { value: propertyValue(entities, on.theirs), type: on.theirs.type },
    inner,
  )
  const parents = hasTotal(sequence)
    ? bindAggregate([], {
        rows: withLink(ours, { value: propertyValue(ours, on.ours), type: on.ours.type }, context),
        groups: [LINK],
        context,
      })
    : undefined
  const rows = bindSequence(sequence, {
    rows: linked,
    groups: [LINK],
    context: inner,
    ...(parents && { parents }),
  })
  return { rows, link: linkOf(rows) }
}

/** Whether it has a row for nothing at all, so that it is not enough to look at the rows that there are. */
export const hasTotal = (sequence: readonly TransformationSyntax[]): boolean =>
  sequence.some(
    (each) => each.kind === 'aggregate' || (each.kind === 'concat' && each.branches.some(hasTotal)),
  )

/** `orders` or `orders/eider.orders`. */
function navigationToMany(
  { names, keys, at }: PathSyntax,
  { set }: ApplyRows,
  word: string,
): NavigationProperty {
  const { type } = set
  const where = `(at character ${at + 1})`
  const [name = '', ...rest] = isCastTo(names[0]!, type) ? names.slice(1) : names
  const navigation = findNavigation(type, name)
  if (navigation === undefined) {
    const toMany = type.navigation.filter(({ many }) => many).map((each) => each.name)
    if (type.properties.some((property) => property.name === name))
      throw unsupported(`${word} of a value, such as the list ${name},`)
    const hint =
      didYouMean(name, toMany) ??
      (toMany.length === 0
        ? `${type.name} leads to no collection of entities`
        : `${type.name} leads to ${toMany.join(', ')}`)
    throw unknownProperty(`${type.name} has no navigation property "${name}" ${where}; ${hint}`)
  }
  if (!navigation.many && word === 'addnested') throw unsupported('addnested of one entity')
  if (!navigation.many)
    throw typeMismatch(
      `${word} takes a navigation property to many entities, and ${name} leads to one ${where}; name its properties where they are needed: ${name}/…`,
    )
  const others = isCastTo(rest[0] ?? '', navigation.target.type) ? rest.slice(1) : rest
  if (others.length > 0 || keys.size > 0)
    throw unsupported(`${word} of more than one navigation property at once`)
  return navigation
}

// nest and addnested: collections that sequences make, as values of a row (Data Aggregation 4.0, sections 3.4.3 and 3.5.2).
//
// They become expansions of the rows of the answer. The rows of all parents are made at once, grouped by what they have in
// common with their parent, as those of a join are.

type Nest = TransformationSyntax & { readonly kind: 'nest' }
type AddNested = TransformationSyntax & { readonly kind: 'addnested' }

/** One row, which is no entity. */
export function bindNest({ items }: Nest, input: Input, bindSequence: BindSequence): ApplyRows {
  const { rows, groups, context } = input
  if (groups.length > 0) throw unsupported('nest within groupby or join')
  requireNames(items, [])
  const all = { value: wholeNumber(1), type: edm.Int64 }
  const count = { value: null, method: null, from: [], name: 'rows', at: 0 }
  const made = withLink(bindAggregate([count], input), all, context)
  const parents = { ...made, values: made.values.filter(isLink) }
  const ours = linkOf(made)
  const linked = withLink(rows, all, context)
  const nested = items.map(({ sequence, name }): NestedRows => {
    const found = bindSequence(sequence, { rows: linked, groups: [LINK], context, parents })
    return { name, rows: found, link: linkOf(found), ours }
  })
  const size = nested.reduce((sum, each) => sum + each.rows.size, made.size)
  return withinSize({
    ...made,
    values: [],
    unique: [],
    nested,
    size,
  })
}

export function bindAddNested(
  { path, items }: AddNested,
  input: Input,
  bindSequence: BindSequence,
): ApplyRows {
  const { rows, context } = input
  const before = rows.nested ?? []
  const scope = scopeOfRows(rows, context)
  const navigation = navigationToMany(path, rows, 'addnested')
  for (const item of items) newName(item, scope)
  requireNames(items, before)
  const { on } = navigation
  const nested = items.map(({ sequence, name }): NestedRows => ({
    name,
    ...rowsPerParent(navigation, sequence, input, bindSequence),
    ours: on.ours,
  }))
  const size = nested.reduce((sum, each) => sum + each.rows.size, rows.size)
  return withinSize({ ...rows, nested: [...before, ...nested], size })
}

function requireNames(items: readonly NestItem[], before: readonly NestedRows[]): void {
  const taken = new Set(before.map(({ name }) => name))
  for (const { name, at } of items) {
    if (taken.has(name)) throw invalidOption(`the name "${name}" is taken (at character ${at + 1})`)
    taken.add(name)
  }
}
