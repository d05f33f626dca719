// nest and addnested: what sequences make, as values of a row (Data Aggregation 4.0, sections 3.4.3 and 3.5.2).
//
// They become expansions of the rows of the answer. The rows of all parents are made at once, grouped by what they have in
// common with their parent, as those of a join are.

import { edm } from '../../edm/types.ts'
import { typeMismatch, invalidOption } from '../../protocol/errors.ts'
import type { NestItem, TransformationSyntax } from '../../syntax/syntax.ts'
import { call, type Expression } from '../bound.ts'
import { wholeNumber } from '../expression/constants.ts'
import { newName } from '../scope.ts'
import { bindAggregate } from './aggregate.ts'
import { relatedBy, rowsPerParent } from './join.ts'
import { LINK, linkOf, withLink } from './parents.ts'
import {
  type ApplyRows,
  type BindSequence,
  type Input,
  type NestedRows,
  partitionOf,
  pathKey,
  withinSize,
  withValues,
} from './rows.ts'
import { scopeOfRows } from './row-scope.ts'

type Nest = TransformationSyntax & { readonly kind: 'nest' }
type AddNested = TransformationSyntax & { readonly kind: 'addnested' }

const NEST = 'link to nest'

/** One row for each group, which is no entity. */
export function bindNest({ items }: Nest, input: Input, bindSequence: BindSequence): ApplyRows {
  const { rows, groups, context } = input
  requireNames(items, [])
  const one = oneOfEach(input)
  const keyed = withValues(
    { rows: one, groups, context },
    [{ path: [NEST], ...groupLink(one, groups) }],
    [],
  )
  const ours = keyed.values.find(({ path }) => path[0] === NEST)!.property
  const parents = { ...keyed, values: [{ path: [LINK], property: ours }], unique: [LINK] }
  const members = withLink(rows, groupLink(rows, groups), context)
  // What is reached through navigation came with the grouping, and is said of the group.
  const added = rows.added === null ? [] : groups.filter((key) => key.includes('/'))
  const values = members.values.filter(({ path }) => !added.includes(pathKey(path)))
  const nested = items.map(({ sequence, name }): NestedRows => {
    const given = { rows: { ...members, values }, groups: [LINK], context, parents }
    const found = bindSequence(sequence, given)
    return { path: [name], many: true, rows: found, link: linkOf(found), ours }
  })
  return withinSize({
    ...keyed,
    values: keyed.values.filter(({ path }) => groups.includes(pathKey(path))),
    unique: groups,
    added: null,
    nested,
    size: nested.reduce((sum, each) => sum + each.rows.size, keyed.size),
  })
}

function oneOfEach(input: Input): ApplyRows {
  if (input.parents !== undefined) return input.parents
  const count = { value: null, method: null, from: [], name: 'rows', at: 0 }
  return bindAggregate(input.groups.length === 0 ? [count] : [], input)
}

/** One value for all that a group has in common. */
function groupLink(rows: ApplyRows, groups: readonly string[]) {
  const [first, ...more] = partitionOf(rows, groups).map((value): Expression =>
    call('linkText', edm.String, value),
  )
  if (first === undefined) return { value: wholeNumber(1), type: edm.Int64 }
  const value = more.reduce((all, each) => call('concat', edm.String, all, each), first)
  return { value, type: edm.String }
}

/** Of one entity a sequence makes one. */
const ofOne: readonly TransformationSyntax['kind'][] = ['identity', 'compute', 'addnested']

export function bindAddNested(
  { path, items }: AddNested,
  input: Input,
  bindSequence: BindSequence,
): ApplyRows {
  const { rows, context } = input
  const before = rows.nested ?? []
  const scope = scopeOfRows(rows, context)
  const navigation = relatedBy(path, rows, 'addnested')
  for (const item of items) newName(item, scope)
  requireNames(items, before)
  const { on, many, name } = navigation
  const other = items
    .flatMap(({ sequence }) => sequence)
    .find(({ kind }) => !many && !ofOne.includes(kind))
  if (other !== undefined)
    throw typeMismatch(
      `${name} leads to one entity, of which addnested takes identity, compute and addnested, not ${other.kind}`,
    )
  const nested = items.map((item): NestedRows => ({
    path: [item.name],
    many,
    ...rowsPerParent(navigation, item.sequence, input, bindSequence),
    ours: on.ours,
  }))
  const size = nested.reduce((sum, each) => sum + each.rows.size, rows.size)
  return withinSize({ ...rows, nested: [...before, ...nested], size })
}

function requireNames(items: readonly NestItem[], before: readonly NestedRows[]): void {
  const taken = new Set(before.map(({ path }) => path[0]))
  for (const { name, at } of items) {
    if (taken.has(name)) throw invalidOption(`the name "${name}" is taken (at character ${at + 1})`)
    taken.add(name)
  }
}
