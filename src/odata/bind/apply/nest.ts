// nest and addnested: collections that sequences make, as values of a row (Data Aggregation 4.0, sections 3.4.3 and 3.5.2).
//
// They become expansions of the rows of the answer. The rows of all parents are made at once, grouped by what they have in
// common with their parent, as those of a join are.

import { edm } from '../../edm/types.ts'
import { invalidOption, unsupported } from '../../protocol/errors.ts'
import type { NestItem, TransformationSyntax } from '../../syntax/syntax.ts'
import { booleanConstant, wholeNumber } from '../expression/constants.ts'
import { newName } from '../scope.ts'
import { bindAggregate } from './aggregate.ts'
import { hasTotal, isLink, LINK, navigationToMany, rowsPerParent } from './join.ts'
import {
  applyContext,
  type ApplyRows,
  around,
  type BindSequence,
  entityRows,
  type Input,
  type NestedRows,
  rowVariable,
  scopeOfRows,
  withinSize,
  withValues,
} from './rows.ts'

type Nest = TransformationSyntax & { readonly kind: 'nest' }
type AddNested = TransformationSyntax & { readonly kind: 'addnested' }

/** One row, which is no entity. */
export function bindNest({ items }: Nest, input: Input, bindSequence: BindSequence): ApplyRows {
  const { rows, groups, context } = input
  if (groups.length > 0) throw unsupported('nest within groupby or join')
  requireNames(items, [])
  const all = { path: [LINK], value: wholeNumber(1), type: edm.Int64 }
  const linked = withValues(input, [all], [])
  const nested = items.map(({ sequence, name }): NestedRows => {
    const made = bindSequence(sequence, { rows: linked, groups: [LINK], context })
    return {
      name,
      rows: made,
      link: made.values.find(isLink)!.property,
      // The place is taken by that of the one row below.
      ours: made.values.find(isLink)!.property,
      ofNone: ofNone(sequence, rows, context, bindSequence),
    }
  })
  const count = { value: null, method: null, from: [], name: 'rows', at: 0 }
  const one = bindAggregate([count], input)
  const made = withValues({ rows: one, groups: [], context }, [all], [])
  const ours = made.values.find(isLink)!.property
  const size = nested.reduce((sum, each) => sum + each.rows.size, made.size)
  return withinSize({
    ...made,
    values: [],
    unique: [],
    nested: nested.map((each) => ({ ...each, ours })),
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
  const { target, on } = navigation
  const nested = items.map(({ sequence, name }): NestedRows => {
    const found = rowsPerParent(navigation, sequence, context, bindSequence)
    const inner = applyContext(context, [target])
    return {
      name,
      ...found,
      ours: on.ours,
      ofNone: ofNone(sequence, entityRows(target), inner, bindSequence),
    }
  })
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

/** A total of no rows is a row. */
function ofNone(
  sequence: NestItem['sequence'],
  rows: ApplyRows,
  context: Input['context'],
  bindSequence: BindSequence,
): ApplyRows | null {
  if (!hasTotal(sequence)) return null
  const { relation: from } = rows
  const condition = booleanConstant(false)
  const none = around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
  return bindSequence(sequence, { rows: none, groups: [], context })
}
