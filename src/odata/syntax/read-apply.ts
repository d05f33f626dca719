// The rules of the URL grammar for $apply, as syntax.

import type * as ohm from 'ohm-js'
import { didYouMean } from '../../core/suggest.ts'
import { unsupported, typeMismatch, malformed } from '../protocol/errors.ts'
import { at, listOf, syntaxOf, dotted } from './read-expression.ts'
import { aggregateHint } from './syntax-error.ts'
import type {
  AggregateItem,
  ExpressionSyntax,
  FromSyntax,
  GroupItem,
  HierarchySyntax,
  NestItem,
  PathSyntax,
  TransformationSyntax,
} from './syntax.ts'
import { isAggregateMethod } from './aggregate.ts'
import { servedTransformations, unservedTransformations } from './transformations.ts'

type Action = ohm.ActionDict<unknown>[string]

const withItems =
  (kind: 'aggregate' | 'compute' | 'orderby'): Action =>
  (_, _open, first, _commas, more, _end) => ({ kind, items: listOf(first, more) })

/** Actions of the operation `syntax`. */
export const applyActions: ohm.ActionDict<unknown> = {
  apply: (_, sequence, _end) => syntaxOf(sequence),
  transformations: (first, _slashes, more) => listOf(first, more),
  applyIdentity: (_word): TransformationSyntax => ({ kind: 'identity' }),
  applyAggregate: withItems('aggregate'),
  applyGroupBy: (
    _,
    _open,
    _open2,
    first,
    _commas,
    more,
    _close2,
    _comma,
    inner,
    _close,
  ): TransformationSyntax => ({
    kind: 'groupby',
    groups: listOf(first, more),
    sequence: inner.children.flatMap(syntaxOf),
  }),
  applyConcat: (_, _open, first, _commas, more, _close): TransformationSyntax => ({
    kind: 'concat',
    branches: listOf(first, more),
  }),
  applyJoin: (word, _open, path, _space, _as, _space2, name, _comma, sequence, _close) => ({
    kind: 'join',
    isOuter: word.sourceString.length > 'join'.length,
    path: plainPath(path, word.sourceString),
    name: name.sourceString,
    at: at(name),
    sequence: sequence.children.flatMap(syntaxOf),
  }),
  applyNodes: (
    word,
    _open,
    hierarchy,
    _comma,
    start,
    _comma2,
    within,
    _comma3,
    distance,
    keepStart,
    _close,
  ) => ({
    kind: word.sourceString.toLowerCase(),
    ...(syntaxOf(hierarchy) as object),
    start: syntaxOf(start),
    within: within.children.map(syntaxOf)[0] ?? null,
    distance: distance.numChildren === 0 ? null : Number(distance.children[0]!.sourceString),
    keepStart: keepStart.numChildren > 0,
  }),
  applyTraverse: (_, _open, hierarchy, _comma, order, within, _commas, items, _close) => ({
    kind: 'traverse',
    ...(syntaxOf(hierarchy) as object),
    isPreorder: order.sourceString.toLowerCase() === 'preorder',
    within: within.children.map(syntaxOf)[0] ?? null,
    items: items.children.map(syntaxOf),
  }),
  traverseWithin: (_comma, _ahead, _space, _open, sequence) => syntaxOf(sequence),
  hierarchy: (nodes, _comma, qualifier, _comma2, path) => ({
    nodes: plainPath(nodes, 'a hierarchy'),
    qualifier: qualifier.sourceString,
    path: plainPath(path, 'a hierarchy'),
    at: at(qualifier),
  }),
  applyNest: (_, _open, first, _commas, more, _close): TransformationSyntax => ({
    kind: 'nest',
    items: listOf(first, more),
  }),
  applyAddNested: (_, _open, path, _commas, items, _close): TransformationSyntax => ({
    kind: 'addnested',
    path: plainPath(path, 'addnested'),
    items: items.children.map(syntaxOf),
  }),
  nestItem: (sequence, _space, _as, _space2, name): NestItem => ({
    sequence: syntaxOf(sequence),
    name: name.sourceString,
    at: at(name),
  }),
  applyFilter: (_, _open, condition, _close): TransformationSyntax => ({
    kind: 'filter',
    condition: syntaxOf(condition),
  }),
  applySearch: (_, _open, search, _close): TransformationSyntax => ({
    kind: 'search',
    search: syntaxOf(search),
  }),
  applyCompute: withItems('compute'),
  applyOrderBy: withItems('orderby'),
  applyWindow: (word, _open, digits, _close): TransformationSyntax => ({
    kind: word.sourceString.toLowerCase() as 'top' | 'skip',
    rows: Math.min(Number(digits.sourceString), Number.MAX_SAFE_INTEGER),
  }),
  applyRanked: (side, until, _open, limit, _comma, value, _close): TransformationSyntax => ({
    kind: 'ranked',
    isTop: side.sourceString.toLowerCase() === 'top',
    until: until.sourceString.toLowerCase() as 'count' | 'sum' | 'percent',
    limit: syntaxOf(limit),
    value: syntaxOf(value),
  }),
  applyOther(first, _dots, more, _open, _arguments, _close) {
    throw noTransformation(dotted(first, more), at(first))
  },
  aggregateItem_count: (word, from, name): AggregateItem => ({
    value: null,
    method: null,
    from: from.children.map(syntaxOf),
    name: syntaxOf(name),
    at: at(word),
  }),
  aggregateItem_value(expression, methods, from, name): AggregateItem {
    const value = syntaxOf(expression)
    const [method = null] = methods.children.map(syntaxOf) as readonly string[]
    const isName = value.kind === 'path' && value.names.length === 1
    if (method === null && value.kind !== 'count' && !isName)
      throw noMethod(value, syntaxOf(name) as string, at(expression))
    return {
      value,
      method,
      from: from.children.map(syntaxOf),
      name: syntaxOf(name),
      at: at(expression),
    }
  },
  aggregateItem_measure(name): AggregateItem {
    const value = {
      kind: 'path',
      names: [name.sourceString],
      keys: new Map(),
      at: at(name),
    } as const
    return { value, method: null, from: [], name: name.sourceString, at: at(name) }
  },
  aggregateFrom: (_, _from, _space, first, _commas, more, method): FromSyntax => ({
    paths: [first, ...more.children].map((path) => plainPath(path)),
    method: syntaxOf(method),
  }),
  aggregateName: (_, _as, _space, name) => name.sourceString,
  aggregateMethod: (_, _with, _space, first, _dots, more) => dotted(first, more),
  groupItem_path: (path): GroupItem => ({
    paths: [plainPath(path)],
    isRollup: false,
    withTotal: false,
  }),
  groupItem_recursive: (_word, _open, hierarchy, _comma, within, _close): GroupItem => ({
    paths: [],
    isRollup: false,
    withTotal: false,
    nodes: {
      ...(syntaxOf(hierarchy) as Omit<HierarchySyntax, 'within'>),
      within: within.children.map(syntaxOf)[0] ?? null,
    },
  }),
  groupItem_rollup: (_word, _open, total, _comma, first, _commas, more, _close): GroupItem => ({
    paths: [first, ...more.children].map((path) => plainPath(path)),
    isRollup: true,
    withTotal: total.numChildren > 0,
  }),
}

/** `sum(amount) as total` is how SQL has it. */
function noMethod(value: ExpressionSyntax, name: string, position: number) {
  const isCall = value.kind === 'call' && isAggregateMethod(value.name.toLowerCase())
  const [operand] = isCall ? value.operands : []
  const of = operand?.kind === 'path' ? operand.names.join('/') : ''
  const hint = isCall ? `; ${aggregateHint(value.name, of)}` : ''
  return malformed(
    `"${name}" needs a method, such as "with sum" (at character ${position + 1})${hint}`,
  )
}

function plainPath(path: ohm.Node, of = 'groupby'): PathSyntax {
  const syntax = syntaxOf(path)
  if (syntax.kind === 'path') return syntax
  throw typeMismatch(`${of} takes properties only (at character ${at(path) + 1})`)
}

/** A name with a dot would be a function of the service's own, of which there are none. */
function noTransformation(name: string, position: number) {
  if (unservedTransformations.includes(name.toLowerCase()) || name.includes('.'))
    return unsupported(`the transformation ${name}`)
  const hint = isAggregateMethod(name.toLowerCase())
    ? aggregateHint(name, '')
    : didYouMean(name, servedTransformations)
  const problem = `there is no transformation "${name}" (at character ${position + 1})`
  return malformed(hint === undefined ? problem : `${problem}; ${hint}`)
}
