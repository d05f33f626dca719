// join and outerjoin: each row with each of the rows that a navigation property leads to from it (Data Aggregation 4.0,
// section 3.5.1).
//
// The other rows become values of the row, at paths below the name that the request gives them, so that DuckDB joins two
// tables once, whatever is asked of the pairs then.

import { didYouMean } from '../../../core/suggest.ts'
import type { NavigationProperty } from '../../edm/model.ts'
import { edm, isCastTo } from '../../edm/types.ts'
import { typeMismatch, unknownProperty, unsupported } from '../../protocol/errors.ts'
import type { PathSyntax, TransformationSyntax } from '../../syntax/syntax.ts'
import { compare, NULL, propertyOf, type RowVariable } from '../bound.ts'
import { findNavigation, newName, newRow } from '../scope.ts'
import {
  applyContext,
  type ApplyRows,
  type BindSequence,
  besides,
  entityRows,
  type Input,
  isInner,
  type NestedRows,
  pathKey,
  projectionOf,
  propertyValue,
  rowsOfValues,
  type ValueColumn,
  withNavigation,
  withRowCount,
} from './rows.ts'
import { scopeOfRows } from './row-scope.ts'
import { bindAggregate } from './aggregate.ts'
import { joinOf, LINK, linked, linkOf, withLink } from './parents.ts'

type Join = TransformationSyntax & { readonly kind: 'join' }

export function bindJoin(syntax: Join, input: Input, bindSequence: BindSequence): ApplyRows {
  const { isOuter, path, sequence } = syntax
  const { rows, context } = input
  const word = isOuter ? 'outerjoin' : 'join'
  const navigation = relatedBy(path, rows, word)
  const scope = scopeOfRows(rows, context)
  const alias = newName(syntax, scope)
  const found = rowsPerParent(navigation, sequence, input, bindSequence)
  const otherRow = newRow(scope, found.rows.set)
  const { columns, renamed, make, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const order = keepOrder()
  const theirs = propertyOf(otherRow, found.link)
  const isThere = compare('ne', theirs, NULL)
  const mark = isOuter ? make('mark', edm.Boolean, isThere) : undefined
  const added = found.rows.values
    .filter((value) => !isInner(value))
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
  const nested = nestedBeside(found.rows, alias, { make, otherRow, mark, isNullObject: isOuter })
  const on = [linked(propertyValue(rows, navigation.on.ours), theirs)]
  const relation = joinOf(rows, { other: found.rows.relation, otherRow, on, isOuter, columns })
  const made = rowsOfValues(rows, relation, [...values, ...added])
  const beside = besides(rows, keep)
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
      ...beside,
      nested: [...(beside.nested ?? []), ...nested],
      joined: new Map([
        ...(rows.joined ?? []),
        ...(found.rows.added === null ? [] : [[alias, navigation.target] as const]),
      ]),
      size: made.size + found.rows.size,
    },
    Math.max(rows.set.relation.rows, navigation.target.relation.rows),
  )
}

/** What the other row has of collections, below its name. */
function nestedBeside(
  { nested = [] }: ApplyRows,
  alias: string,
  {
    make,
    otherRow,
    mark,
    isNullObject,
  }: Pick<ValueColumn, 'mark' | 'isNullObject'> & {
    readonly make: ReturnType<typeof projectionOf>['make']
    readonly otherRow: RowVariable
  },
): readonly NestedRows[] {
  return nested.map((one) => ({
    ...one,
    path: [alias, ...one.path],
    ours: make('link', one.ours.type, propertyOf(otherRow, one.ours)),
    mark: one.mark ? make('mark', edm.Boolean, propertyOf(otherRow, one.mark)) : mark,
    isNullObject,
  }))
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
export function rowsPerParent(
  { target, on }: NavigationProperty,
  sequence: readonly TransformationSyntax[],
  { rows: ours, context }: Input,
  bindSequence: BindSequence,
) {
  const entities = entityRows(target)
  if (sequence.length === 0) return { rows: entities, link: on.theirs }
  const inner = applyContext(context, [target])
  const own = withLink(
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
    rows: own,
    groups: [LINK],
    context: inner,
    ...(parents && { parents }),
  })
  return { rows, link: linkOf(rows) }
}

/** Whether it has a row for nothing at all, so that it is not enough to look at the rows that there are. */
const hasTotal = (sequence: readonly TransformationSyntax[]): boolean =>
  sequence.some((each) => {
    switch (each.kind) {
      case 'aggregate':
      case 'nest':
        return true
      case 'groupby':
        return each.groups.some(({ nodes, withTotal }) => nodes !== undefined || withTotal)
      case 'concat':
        return each.branches.some(hasTotal)
      default:
        return false
    }
  })

/** `orders` or `orders/eider.orders`. */
export function relatedBy(
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
  if (!navigation.many && word !== 'addnested')
    throw typeMismatch(
      `${word} takes a navigation property to many entities, and ${name} leads to one ${where}; name its properties where they are needed: ${name}/…`,
    )
  const others = isCastTo(rest[0] ?? '', navigation.target.type) ? rest.slice(1) : rest
  if (others.length > 0 || keys.size > 0)
    throw unsupported(`${word} of more than one navigation property at once`)
  return navigation
}
