// join and outerjoin: each row with each of the rows that a navigation property leads to from it (Data Aggregation 4.0,
// section 3.5.1).
//
// The other rows become values of the row, at paths below the name that the request gives them, so that DuckDB joins two
// tables once, whatever is asked of the pairs then.

import { didYouMean } from '../../../core/suggest.ts'
import { type NavigationProperty } from '../../edm/model.ts'
import { edm, isCastTo } from '../../edm/types.ts'
import { typeMismatch, unknownProperty, unsupported } from '../../protocol/errors.ts'
import type { PathSyntax, TransformationSyntax } from '../../syntax/syntax.ts'
import { compare, NULL, propertyOf } from '../bound.ts'
import { findNavigation, newName, newRow } from '../scope.ts'
import {
  applyContext,
  type ApplyContext,
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
  withValues,
} from './rows.ts'

type Join = TransformationSyntax & { readonly kind: 'join' }

export function bindJoin(syntax: Join, input: Input, bindSequence: BindSequence): ApplyRows {
  const { isOuter, path, sequence } = syntax
  const { rows, context } = input
  const word = isOuter ? 'outerjoin' : 'join'
  const navigation = navigationToMany(path, rows, word)
  const scope = scopeOfRows(rows, context)
  const alias = newName(syntax, scope)
  if (hasTotal(sequence)) throw unsupported(`aggregate within ${word}, but in groupby,`)
  const found = rowsPerParent(navigation, sequence, context, bindSequence)
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

// The rows that a navigation property leads to, as a sequence makes them of those of each row alone: they are grouped by
// the side of the link that they hold, which is a value with a name that no property has.

export const LINK = 'link to parent'

export const isLink = ({ path }: ValueColumn) => path[0] === LINK

export function rowsPerParent(
  { target, on }: NavigationProperty,
  sequence: readonly TransformationSyntax[],
  context: ApplyContext,
  bindSequence: BindSequence,
) {
  const entities = entityRows(target)
  if (sequence.length === 0) return { rows: entities, link: on.theirs }
  const inner = applyContext(context, [target])
  const value = propertyValue(entities, on.theirs)
  const linked = withValues(
    { rows: entities, groups: [], context: inner },
    [{ path: [LINK], value, type: on.theirs.type }],
    [],
  )
  const rows = bindSequence(sequence, { rows: linked, groups: [LINK], context: inner })
  return { rows, link: rows.values.find(isLink)!.property }
}

/** Whether it has a row for nothing at all, so that it is not enough to look at the rows that there are. */
export const hasTotal = (sequence: readonly TransformationSyntax[]): boolean =>
  sequence.some(
    (each) => each.kind === 'aggregate' || (each.kind === 'concat' && each.branches.some(hasTotal)),
  )

/** `orders` or `orders/eider.orders`. */
export function navigationToMany(
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
