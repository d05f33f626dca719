// Paths of the URL grammar as syntax: their steps, and what can end one (`$count`, a lambda, `aggregate`).

import type * as ohm from 'ohm-js'
import { odataError, unsupported } from '../protocol/errors.ts'
import { at, expressionOf, syntaxOf, syntaxWithDepthOf } from './nodes.ts'
import { syntaxNode, type SyntaxWithDepth } from './precedence.ts'
import type { ExpressionSyntax, KeySyntax, PathSyntax, SearchSyntax } from './syntax.ts'

export interface PathStep {
  readonly name: string
  readonly key: KeySyntax | null
}

const keyIn = (key: ohm.Node): KeySyntax | null => key.children.map(syntaxOf)[0] ?? null

const dotted = (first: ohm.Node, more: ohm.Node): string =>
  [first, ...more.children].map((part) => part.sourceString).join('.')

/** Actions of the operation `syntax`: of what ends a path, what makes it of the path before. */
export const pathActions: ohm.ActionDict<unknown> = {
  pathStart_it: (name): PathStep => ({ name: name.sourceString, key: null }),
  pathStart_root: (root, name, key): PathStep => ({
    name: `${root.sourceString}${name.sourceString}`,
    key: keyIn(key),
  }),
  pathStart_alias: (alias, _slash): PathStep => ({ name: alias.sourceString, key: null }),
  pathStart_name: (first, _dots, more, _ahead, key, _slash): PathStep => ({
    name: dotted(first, more),
    key: keyIn(key),
  }),
  pathStep: (_slash, first, _dots, more, _ahead, key): PathStep => ({
    name: dotted(first, more),
    key: keyIn(key),
  }),
  pathKey: (_open, key, _close): KeySyntax => syntaxOf(key),
  totalItem_count(_count, from) {
    requireNoFrom(from)
    return []
  },
  totalItem_value(value, method, from) {
    requireNoFrom(from)
    return [expressionOf(value), syntaxOf(method)]
  },
  pathEnd_count: (segments, _count, options) => (path: PathSyntax) => {
    const { filter: condition, search = null } = countOptionsOf(options)
    const filters = segments.children.map(syntaxWithDepthOf)
    if (condition !== undefined) filters.push(condition)
    const operands = filters.map(({ syntax }) => syntax)
    const filter: ExpressionSyntax | null =
      operands.length > 1
        ? { kind: 'operator', operator: 'and', operands, at: path.at }
        : (operands[0] ?? null)
    return syntaxNode({ kind: 'count', path, filter, search, at: path.at }, filters)
  },
  pathEnd_total: (_aggregate, _, item, _end, _close) => (path: PathSyntax) => {
    const [value = null, method = null] = syntaxOf(item) as [ExpressionSyntax?, string?]
    return syntaxNode({ kind: 'total', path, value, method, at: path.at })
  },
  pathEnd_filtered(_filters, _key, _rest) {
    throw unsupported('/$filter(…) followed by anything but /$count')
  },
  pathEnd_lambda:
    (_slash, word, _open, _, variable, _space, _colon, _space2, condition, _end, _close) =>
    (path: PathSyntax) => {
      const conditions = condition.children.map(syntaxWithDepthOf)
      const lambda = {
        kind: 'lambda',
        quantifier: word.sourceString.toLowerCase() === 'any' ? 'any' : 'all',
        path,
        variable: variable.children[0]?.sourceString ?? '',
        condition: conditions[0]?.syntax ?? null,
        at: path.at,
      } as const
      if (lambda.quantifier === 'all' && lambda.condition === null)
        throw odataError('syntax-error', `all() needs a condition (at character ${at(word) + 1})`)
      return syntaxNode(lambda, conditions)
    },
  countOptions: (_open, _, first, _space, _semicolons, _space2, more, _end, _close) =>
    [first, ...more.children].map((option) => syntaxOf(option) as CountOptions),
  countOption_filter: (_sign, _word, _, _equals, _space, condition): CountOptions => ({
    filter: syntaxWithDepthOf(condition),
  }),
  countOption_search: (_sign, _word, _, _equals, search): CountOptions => ({
    search: syntaxOf(search),
  }),
}

function requireNoFrom(from: ohm.Node): void {
  if (from.numChildren > 0) throw unsupported('"from" in an aggregate of a path')
}

/** What makes the end of the path before it. */
export type PathEnd = (path: PathSyntax) => SyntaxWithDepth

interface CountOptions {
  readonly filter?: SyntaxWithDepth
  readonly search?: SearchSyntax
}

/** Each at most once. */
function countOptionsOf(options: ohm.Node): CountOptions {
  const parts = options.children.flatMap((list) => syntaxOf(list) as readonly CountOptions[])
  const names = parts.flatMap(Object.keys)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined)
    throw odataError('duplicate-option', `$${twice} is given more than once within $count`)
  return Object.assign({}, ...parts) as CountOptions
}
