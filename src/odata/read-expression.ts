// Expressions of the URL grammar as syntax, each with its depth: an expression is a flat list in the grammar, and becomes
// a tree here.

import type * as ohm from 'ohm-js'
import { limits } from '../core/limits.ts'
import { didYouMean } from '../core/suggest.ts'
import { odataError } from './errors.ts'
import { at, expressionOf, measuredOf, syntaxOf } from './match-nodes.ts'
import {
  applyPrecedence,
  type Measured,
  type Operator,
  precedenceOf,
  tooDeep,
} from './precedence.ts'
import { literalSyntax, prefixedSyntax, tokenSyntax, wordLiteral } from './read-literal.ts'
import { unsupported } from './scope.ts'
import type {
  BinaryOperator,
  ExpressionSyntax,
  KeySyntax,
  PathSyntax,
  SearchSyntax,
} from './syntax.ts'

const measured: ohm.ActionDict<unknown> = {
  pathFilter: (_word, _, condition, _end, _close) => measuredOf(condition),
  expression: (first, operators, _spaces, operands) =>
    applyPrecedence(
      measuredOf(first),
      operators.children.map(binaryOperator),
      operands.children.map(measuredOf),
    ),
  otherOperand(_ahead, prefixes, primary) {
    const texts = prefixes.children.map((prefix) => prefix['prefix']() as 'not' | 'negate')
    if (texts.length > limits.expressionDepth) throw tooDeep()
    return texts.reduceRight(
      ({ syntax, depth }, kind, i): Measured => ({
        syntax: { kind, operand: syntax, at: at(prefixes.children[i]!) },
        depth: depth + 1,
      }),
      measuredOf(primary),
    )
  },
  list(open, _, first, _commas, more, _end, _close) {
    const items = itemsOf(first, more)
    const [only] = items
    if (only !== undefined && items.length === 1)
      return { syntax: { ...only.syntax, inParentheses: true }, depth: only.depth + 1 }
    return node({ kind: 'list', items: items.map(({ syntax }) => syntax), at: at(open) }, items)
  },
  call(first, _dots, more, list) {
    const operands: readonly Measured[] = list['items']()
    const name = [first, ...more.children].map((part) => part.sourceString).join('.')
    const syntaxes = operands.map(({ syntax }) => syntax)
    return node({ kind: 'call', name, operands: syntaxes, at: at(first) }, operands)
  },
  array(open, _, first, _commas, more, _end, _close) {
    const items = itemsOf(first, more)
    return node({ kind: 'array', items: items.map(({ syntax }) => syntax), at: at(open) }, items)
  },
  object(open, _, first, _commas, more, _end, _close) {
    const rest = more.children.flatMap((iteration) => iteration.children)
    const members = [...first.children, ...rest].map(objectMember)
    const names = members.map(({ name }) => name)
    const twice = names.find((name, i) => names.indexOf(name) < i)
    if (twice !== undefined) throw odataError('syntax-error', `"${twice}" is given twice in {…}`)
    const values = members.map(({ name, value, at: position }) => ({
      name,
      value: value.syntax,
      at: position,
    }))
    const operands = members.map(({ value }) => value)
    return node({ kind: 'object', members: values, at: at(open) }, operands)
  },
  jsonString(_open, _characters, _close) {
    return node({ kind: 'literal', form: 'string', text: parseJsonString(this), at: at(this) })
  },
  case(word, _open, _, first, _commas, more, _end, _close) {
    const items = [first, ...more.children].map((item) => item['caseItem']() as CaseItem)
    const branches = items.map(({ condition, value }) => ({
      condition: condition.syntax,
      value: value.syntax,
    }))
    const operands = items.flatMap(({ condition, value }) => [condition, value])
    return node({ kind: 'case', branches, at: at(word) }, operands)
  },
  path(start, more, _ahead, end) {
    const steps = [start, ...more.children].map((step) => step['step']() as PathStep)
    const names = steps.map(({ name }) => name)
    const keys = new Map(steps.flatMap(({ key }, i) => (key === null ? [] : [[i, key] as const])))
    const path: PathSyntax = { kind: 'path', names, keys, at: at(start) }
    const [last] = end.children
    if (last === undefined && names.length === 1) {
      const word = wordLiteral(names[0]!, at(start))
      if (word !== null) return node(word)
    }
    return last === undefined ? node(path) : last['pathEnd'](path)
  },
  alias: (sign, name) => node({ kind: 'alias', name: name.sourceString, at: at(sign) }),
  word: (text) => node(tokenSyntax(text)),
  number: (text) => node(tokenSyntax(text)),
  string: (text) => node(tokenSyntax(text)),
  plainItem: (text) => node(tokenSyntax(text)),
  keyword: (text) => node(tokenSyntax(text)),
  date: (text) => node(literalSyntax('date', text)),
  dateTime: (text) => node(literalSyntax('date-time', text)),
  timeOfDay: (text) => node(literalSyntax('time-of-day', text)),
  guid: (text) => node(literalSyntax('guid', text)),
  prefixed(_prefix, _string) {
    return node(prefixedSyntax(this))
  },
}

const prefixOf: ohm.ActionDict<unknown> = {
  prefix_not: (_n, _o, _t, _space) => 'not',
  prefix_negate: (_ahead, _minus, _space) => 'negate',
}

interface PathStep {
  readonly name: string
  readonly key: KeySyntax | null
}

const keyIn = (key: ohm.Node): KeySyntax | null => key.children[0]?.['step']() ?? null

const pathStep: ohm.ActionDict<unknown> = {
  pathStart_it: (name): PathStep => ({ name: name.sourceString, key: null }),
  pathStart_root: (root, name, key): PathStep => ({
    name: `${root.sourceString}${name.sourceString}`,
    key: keyIn(key),
  }),
  pathStart_alias: (alias, _slash): PathStep => ({ name: alias.sourceString, key: null }),
  pathStart_name: (first, _dots, more, _ahead, key, _slash): PathStep => ({
    name: [first, ...more.children].map((part) => part.sourceString).join('.'),
    key: keyIn(key),
  }),
  pathStep: (_slash, name, _ahead, key, _slash2): PathStep => ({
    name: name.sourceString,
    key: keyIn(key),
  }),
  pathKey: (_open, key, _close): KeySyntax => syntaxOf(key),
}

interface ObjectMember {
  readonly name: string
  readonly value: Measured
  readonly at: number
}

const objectMember = (member: ohm.Node) => member['objectMember']() as ObjectMember

const objectMemberOf: ohm.ActionDict<unknown> = {
  objectMember: (name, _, _colon, _space, value): ObjectMember => ({
    name: parseJsonString(name),
    value: measuredOf(value),
    at: at(name),
  }),
}

interface CaseItem {
  readonly condition: Measured
  readonly value: Measured
}

const totalItemOf: ohm.ActionDict<unknown> = {
  totalItem_count(_count, from) {
    requireNoFrom(from)
    return []
  },
  totalItem_value(value, method, from) {
    requireNoFrom(from)
    return [expressionOf(value), syntaxOf(method)]
  },
}

function requireNoFrom(from: ohm.Node): void {
  if (from.numChildren > 0) throw unsupported('"from" in an aggregate of a path')
}

const caseItemOf: ohm.ActionDict<unknown> = {
  caseItem: (condition, _, _colon, _space, value): CaseItem => ({
    condition: measuredOf(condition),
    value: measuredOf(value),
  }),
}

const pathEnd: ohm.ActionDict<unknown> = {
  pathEnd_count(segments, _count, options) {
    const { path } = this['args'] as { readonly path: PathSyntax }
    const { filter: condition, search = null } = countOptionsOf(options)
    const filters = segments.children.map(measuredOf)
    if (condition !== undefined) filters.push(condition)
    const operands = filters.map(({ syntax }) => syntax)
    const filter: ExpressionSyntax | null =
      operands.length > 1
        ? { kind: 'operator', operator: 'and', operands, at: path.at }
        : (operands[0] ?? null)
    return node({ kind: 'count', path, filter, search, at: path.at }, filters)
  },
  pathEnd_total(_aggregate, _, item, _end, _close) {
    const { path } = this['args'] as { readonly path: PathSyntax }
    const [value = null, method = null] = item['totalItem']() as [ExpressionSyntax?, string?]
    return node({ kind: 'total', path, value, method, at: path.at })
  },
  pathEnd_filtered(_filters, _key, _rest) {
    throw unsupported('/$filter(…) before something else than /$count')
  },
  pathEnd_lambda(
    _slash,
    word,
    _open,
    _,
    variable,
    _space,
    _colon,
    _space2,
    condition,
    _end,
    _close,
  ) {
    const { path } = this['args'] as { readonly path: PathSyntax }
    const conditions = condition.children.map(measuredOf)
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
    return node(lambda, conditions)
  },
}

interface CountOptions {
  readonly filter?: Measured
  readonly search?: SearchSyntax
}

/** Each at most once. */
function countOptionsOf(options: ohm.Node): CountOptions {
  const parts = options.children.flatMap(
    (list) => list['countOptions']() as readonly CountOptions[],
  )
  const names = parts.flatMap(Object.keys)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined)
    throw odataError('duplicate-option', `$${twice} is given twice within $count`)
  return Object.assign({}, ...parts) as CountOptions
}

const countOptions: ohm.ActionDict<unknown> = {
  countOptions: (_open, _, first, _space, _semicolons, _space2, more, _end, _close) =>
    [first, ...more.children].map((option) => option['countOptions']() as CountOptions),
  countOption_filter: (_sign, _word, _, _equals, _space, condition): CountOptions => ({
    filter: measuredOf(condition),
  }),
  countOption_search: (_sign, _word, _, _equals, search): CountOptions => ({
    search: syntaxOf(search),
  }),
}

const itemsOfList: ohm.ActionDict<unknown> = {
  list: (_open, _, first, _commas, more, _end, _close) => itemsOf(first, more),
}

function itemsOf(first: ohm.Node, more: ohm.Node): readonly Measured[] {
  const rest = more.children.flatMap((iteration) => iteration.children)
  return [...first.children, ...rest].map(measuredOf)
}

/** Not every text that the grammar takes for a JSON string is one. */
function parseJsonString(string: ohm.Node): string {
  try {
    return JSON.parse(string.sourceString) as string
  } catch {
    throw odataError('syntax-error', `no JSON string at character ${at(string) + 1}`)
  }
}

function node(syntax: ExpressionSyntax, operands: readonly Measured[] = []): Measured {
  const depth = Math.max(0, ...operands.map((operand) => operand.depth)) + 1
  if (depth > limits.expressionDepth) throw tooDeep()
  return { syntax, depth }
}

/** The word with the spaces before it. */
function binaryOperator(operator: ohm.Node): Operator {
  const text = operator.sourceString
  const word = text.trim()
  const position = at(operator) + text.indexOf(word)
  const name = word.toLowerCase()
  if (Object.hasOwn(precedenceOf, name)) return { name: name as BinaryOperator, at: position }
  const hint = didYouMean(name, Object.keys(precedenceOf))
  const problem = `no operator "${word}" at character ${position + 1}`
  throw odataError('syntax-error', hint === undefined ? problem : `${problem}: ${hint}`)
}

/** Operations by their signatures, as ohm-js wants them. */
export const expressionOperations: Readonly<Record<string, ohm.ActionDict<unknown>>> = {
  measured,
  prefix: prefixOf,
  caseItem: caseItemOf,
  'pathEnd(path)': pathEnd,
  items: itemsOfList,
  totalItem: totalItemOf,
  countOptions,
  step: pathStep,
  objectMember: objectMemberOf,
}
