// Expressions of the URL grammar as syntax, each with its depth: an expression is a flat list in the grammar, and becomes
// a tree here.

import type * as ohm from 'ohm-js'
import { limits } from '../../core/limits.ts'
import { odataError, unsupported } from '../protocol/errors.ts'
import { foreignOperator } from './foreign-words.ts'
import {
  applyPrecedence,
  type SyntaxWithDepth,
  type OperatorAt,
  precedenceOf,
  syntaxNode,
  tooDeep,
} from './precedence.ts'
import type {
  BinaryOperator,
  PathSyntax,
  ExpressionSyntax,
  KeySyntax,
  SearchSyntax,
  LiteralForm,
  LiteralSyntax,
} from './syntax.ts'
import { ENCODED_SEMICOLON } from './options.grammar.ts'

const syntaxWithDepth: ohm.ActionDict<unknown> = {
  pathFilter: (_word, _, condition, _end, _close) => syntaxWithDepthOf(condition),
  expression: (first, operators, _spaces, operands) =>
    applyPrecedence(
      syntaxWithDepthOf(first),
      operators.children.map(binaryOperator),
      operands.children.map(syntaxWithDepthOf),
    ),
  otherOperand(prefixes, primary) {
    const texts = prefixes.children.map((prefix) =>
      prefix.sourceString.startsWith('-') ? 'negate' : 'not',
    )
    if (texts.length > limits.expressionDepth) throw tooDeep()
    return texts.reduceRight(
      ({ syntax, depth }, kind, i): SyntaxWithDepth => ({
        syntax: { kind, operand: syntax, at: at(prefixes.children[i]!) },
        depth: depth + 1,
      }),
      syntaxWithDepthOf(primary),
    )
  },
  list(open, first, _commas, more, _close) {
    const items = itemsOf(first, more)
    const [only] = items
    if (only !== undefined && items.length === 1)
      return { syntax: { ...only.syntax, inParentheses: true }, depth: only.depth + 1 }
    return syntaxNode(
      { kind: 'list', items: items.map(({ syntax }) => syntax), at: at(open) },
      items,
    )
  },
  call(first, _dots, more, list) {
    const operands: readonly SyntaxWithDepth[] = list['items']()
    const name = dotted(first, more)
    const syntaxes = operands.map(({ syntax }) => syntax)
    return syntaxNode({ kind: 'call', name, operands: syntaxes, at: at(first) }, operands)
  },
  array(open, _, first, _commas, more, _end, _close) {
    const items = itemsOf(first, more)
    return syntaxNode(
      { kind: 'array', items: items.map(({ syntax }) => syntax), at: at(open) },
      items,
    )
  },
  object(open, _, first, _commas, more, _end, _close) {
    const rest = more.children.flatMap((iteration) => iteration.children)
    const members = [...first.children, ...rest].map(syntaxOf) as ObjectMember[]
    const names = members.map(({ name }) => name)
    const twice = names.find((name, i) => names.indexOf(name) < i)
    if (twice !== undefined)
      throw odataError('syntax-error', `"${twice}" is given more than once in {…}`)
    const values = members.map(({ name, value, at: position }) => ({
      name,
      value: value.syntax,
      at: position,
    }))
    const operands = members.map(({ value }) => value)
    return syntaxNode({ kind: 'object', members: values, at: at(open) }, operands)
  },
  jsonString(_open, _characters, _close) {
    return syntaxNode({
      kind: 'literal',
      form: 'string',
      text: parseJsonString(this),
      at: at(this),
    })
  },
  case(word, _open, _, first, _commas, more, _end, _close) {
    const items = [first, ...more.children].map((item) => syntaxOf(item) as CaseItem)
    const branches = items.map(({ condition, value }) => ({
      condition: condition.syntax,
      value: value.syntax,
    }))
    const operands = items.flatMap(({ condition, value }) => [condition, value])
    return syntaxNode({ kind: 'case', branches, at: at(word) }, operands)
  },
  path(start, more, _ahead, end) {
    const steps = [start, ...more.children].map((step) => syntaxOf(step) as PathStep)
    const names = steps.map(({ name }) => name)
    const keys = new Map(steps.flatMap(({ key }, i) => (key === null ? [] : [[i, key] as const])))
    const path: PathSyntax = { kind: 'path', names, keys, at: at(start) }
    const [last] = end.children
    if (last === undefined && names.length === 1) {
      const word = wordLiteral(names[0]!, at(start))
      if (word !== null) return syntaxNode(word)
    }
    return last === undefined ? syntaxNode(path) : (syntaxOf(last) as PathEnd)(path)
  },
  alias: (sign, name) => syntaxNode({ kind: 'alias', name: name.sourceString, at: at(sign) }),
  prefixed(_prefix, _string) {
    return syntaxNode(prefixedSyntax(this))
  },
  string(_open, _text, _close) {
    return syntaxNode(tokenSyntax(this))
  },
  /** Names, numbers, dates and times are tokens, which are read where they are used, without a node of their rule. */
  _terminal() {
    return syntaxNode(tokenSyntax(this))
  },
}

interface ObjectMember {
  readonly name: string
  readonly value: SyntaxWithDepth
  readonly at: number
}

interface CaseItem {
  readonly condition: SyntaxWithDepth
  readonly value: SyntaxWithDepth
}

/** Actions of the operation `syntax`: of what ends a path, what makes it of the path before. */
export const partActions: ohm.ActionDict<unknown> = {
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
  objectMember: (name, _, _colon, _space, value): ObjectMember => ({
    name: parseJsonString(name),
    value: syntaxWithDepthOf(value),
    at: at(name),
  }),
  caseItem: (condition, _, _colon, _space, value): CaseItem => ({
    condition: syntaxWithDepthOf(condition),
    value: syntaxWithDepthOf(value),
  }),
}

const itemsOfList: ohm.ActionDict<unknown> = {
  list: (_open, first, _commas, more, _close) => itemsOf(first, more),
}

function itemsOf(first: ohm.Node, more: ohm.Node): readonly SyntaxWithDepth[] {
  const rest = more.children.flatMap((iteration) => iteration.children)
  return [...first.children, ...rest].map(syntaxWithDepthOf)
}

/** Not every text that the grammar takes for a JSON string is one. */
function parseJsonString(string: ohm.Node): string {
  try {
    return JSON.parse(string.sourceString) as string
  } catch {
    throw odataError('syntax-error', `invalid JSON string (at character ${at(string) + 1})`)
  }
}

const OPERATORS = Object.keys(precedenceOf)

/** The word with the spaces before it. */
function binaryOperator(operator: ohm.Node): OperatorAt {
  const text = operator.sourceString
  const word = text.trim()
  const position = at(operator) + text.indexOf(word)
  const name = word.toLowerCase()
  if (Object.hasOwn(precedenceOf, name)) return { name: name as BinaryOperator, at: position }
  throw odataError(
    'syntax-error',
    foreignOperator(word, operator.source.sourceString, position, OPERATORS),
  )
}

/** Operations by their names. */
export const expressionOperations = { syntaxWithDepth, items: itemsOfList }

// Paths of the URL grammar as syntax: their steps, and what can end one (`$count`, a lambda, `aggregate`).

interface PathStep {
  readonly name: string
  readonly key: KeySyntax | null
}

const keyIn = (key: ohm.Node): KeySyntax | null => key.children.map(syntaxOf)[0] ?? null

/** Names with dots between them. */
export const dotted = (first: ohm.Node, more: ohm.Node): string =>
  [first, ...more.children].map((part) => part.sourceString).join('.')

function requireNoFrom(from: ohm.Node): void {
  if (from.numChildren > 0) throw unsupported('"from" in an aggregate of a path')
}

/** What makes the end of the path before it. */
type PathEnd = (path: PathSyntax) => SyntaxWithDepth

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

// A literal of the URL grammar as syntax: its form, and its text without quotes and prefix.

/** null, NaN and INF are case-sensitive. */
function wordLiteral(text: string, at: number): LiteralSyntax | null {
  if (text === 'null') return { kind: 'literal', form: 'null', text, at }
  if (/^(?:true|false)$/i.test(text))
    return { kind: 'literal', form: 'boolean', text: text.toLowerCase(), at }
  return /^(?:NaN|-?INF)$/.test(text) ? { kind: 'literal', form: 'number', text, at } : null
}

/** A literal or a path of names: the characters at its beginning tell which. */
function tokenSyntax(token: ohm.Node): ExpressionSyntax {
  const text = token.sourceString
  const at = token.source.startIdx
  if (text.startsWith("'")) return { kind: 'literal', form: 'string', text: unquote(text), at }
  const { form } = forms.find(({ begins }) => begins.test(text)) ?? {}
  if (form !== undefined) return { kind: 'literal', form, text, at }
  return wordLiteral(text, at) ?? { kind: 'path', names: text.split('/'), keys: NO_KEYS, at }
}

/** The first that fits. */
const forms: readonly { readonly form: LiteralForm; readonly begins: RegExp }[] = [
  { form: 'guid', begins: /^[\da-f]{8}-[\da-f]{4}-/i },
  { form: 'date-time', begins: /^-?\d{4,}-\d\d-\d\dT/i },
  { form: 'date', begins: /^-?\d{4,}-/ },
  { form: 'time-of-day', begins: /^\d\d:/ },
  { form: 'number', begins: /^[-+]?\d/ },
]

const NO_KEYS = new Map<number, never>()

const formOfPrefix: Readonly<Record<string, LiteralForm>> = {
  duration: 'duration',
  binary: 'binary',
  geography: 'geo',
  geometry: 'geo',
}

function prefixedSyntax(token: ohm.Node): LiteralSyntax {
  const text = token.sourceString
  const quote = text.indexOf("'")
  const form = formOfPrefix[text.slice(0, quote).toLowerCase()] ?? 'enum'
  return { kind: 'literal', form, text: unquote(text.slice(quote)), at: token.source.startIdx }
}

const unquote = (text: string) =>
  text.slice(1, -1).replaceAll("''", "'").replaceAll(ENCODED_SEMICOLON, ';')

// What the readers of the URL grammar ask of the nodes of a match.

/** Characters before the node. */
export const at = (node: ohm.Node): number => node.source.startIdx

const syntaxWithDepthOf = (node: ohm.Node): SyntaxWithDepth => node['syntaxWithDepth']()

export const expressionOf = (node: ohm.Node): ExpressionSyntax => syntaxWithDepthOf(node).syntax

export const syntaxOf = (node: ohm.Node) => node['syntax']()

/** The items of a list: the first, and those after commas. */
export const listOf = (first: ohm.Node, more: ohm.Node) => [first, ...more.children].map(syntaxOf)
