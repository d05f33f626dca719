// Expressions of the URL grammar as syntax, each with its depth: an expression is a flat list in the grammar, and becomes
// a tree here.

import type * as ohm from 'ohm-js'
import { limits } from '../../core/limits.ts'
import { odataError, unsupported, malformed } from '../protocol/errors.ts'
import { foreignOperator } from './foreign-words.ts'
import {
  above,
  applyPrecedence,
  around,
  type OperatorAt,
  precedenceOf,
  tooDeep,
} from './precedence.ts'
import {
  type BinaryOperator,
  type PathSyntax,
  type ExpressionSyntax,
  type KeySyntax,
  type SearchSyntax,
  type LiteralForm,
  type LiteralSyntax,
  type MemberSyntax,
  type BranchSyntax,
  ROLLUP_NODE,
} from './syntax.ts'
import { ENCODED_SEMICOLON } from './options.grammar.ts'

/** Actions of the operation `syntax`. */
export const expressionActions: ohm.ActionDict<unknown> = {
  pathFilter: (_word, _, condition, _end, _close) => syntaxOf(condition),
  expression: (first, operators, _spaces, operands) =>
    applyPrecedence(
      syntaxOf(first),
      operators.children.map(binaryOperator),
      operands.children.map(syntaxOf),
    ),
  otherOperand(prefixes, primary) {
    if (prefixes.numChildren > limits.expressionDepth) throw tooDeep()
    return prefixes.children.reduceRight((operand: ExpressionSyntax, prefix) => {
      const kind = prefix.sourceString.startsWith('-') ? 'negate' : 'not'
      return around(operand, { kind, operand, at: at(prefix) })
    }, syntaxOf(primary))
  },
  list(open, first, _commas, more, _close) {
    const items = itemsOf(first, more)
    const [only] = items
    return only !== undefined && items.length === 1
      ? around(only, { ...only, inParentheses: true })
      : above(items, { kind: 'list', items, at: at(open) })
  },
  call(first, _dots, more, list) {
    const call = { kind: 'call', name: dotted(first, more), at: at(first) } as const
    if (list.ctorName === 'list') {
      const operands: readonly ExpressionSyntax[] = list['items']()
      return above(operands, { ...call, operands })
    }
    const named: readonly (readonly [string, ExpressionSyntax])[] = syntaxOf(list)
    const operands = named.map(([, operand]) => operand)
    return above(operands, { ...call, operands, names: named.map(([name]) => name) })
  },
  namedList: (_open, first, _commas, more, _close) => listOf(first, more),
  namedOperand: (name, _, _equals, _space, value) => [name.sourceString, syntaxOf(value)],
  array(open, _, first, _commas, more, _end, _close) {
    const items = itemsOf(first, more)
    return above(items, { kind: 'array', items, at: at(open) })
  },
  object(open, _, first, _commas, more, _end, _close) {
    const members: readonly MemberSyntax[] = itemsOf(first, more)
    const names = members.map(({ name }) => name)
    const twice = names.find((name, i) => names.indexOf(name) < i)
    if (twice !== undefined) throw malformed(`"${twice}" is given more than once in {…}`)
    const values = members.map(({ value }) => value)
    return above(values, { kind: 'object', members, at: at(open) })
  },
  objectMember: (name, _, _colon, _space, value): MemberSyntax => ({
    name: parseJsonString(name),
    value: syntaxOf(value),
    at: at(name),
  }),
  jsonString(_open, _characters, _close): ExpressionSyntax {
    return { kind: 'literal', form: 'string', text: parseJsonString(this), at: at(this) }
  },
  case(word, _open, _, first, _commas, more, _end, _close) {
    const branches: readonly BranchSyntax[] = listOf(first, more)
    const operands = branches.flatMap(({ condition, value }) => [condition, value])
    return above(operands, { kind: 'case', branches, at: at(word) })
  },
  caseItem: (condition, _, _colon, _space, value): BranchSyntax => ({
    condition: syntaxOf(condition),
    value: syntaxOf(value),
  }),
  path(start, more, _ahead, end) {
    const steps: readonly PathStep[] = listOf(start, more)
    const names = steps.map(({ name }) => name)
    const keys = new Map(steps.flatMap(({ key }, i) => (key === null ? [] : [[i, key] as const])))
    const path: PathSyntax = { kind: 'path', names, keys, at: at(start) }
    const [last] = end.children.map(syntaxOf) as readonly PathEnd[]
    if (last !== undefined) return above(last.operands, { ...last.node, path, at: path.at })
    return (names.length === 1 ? wordLiteral(names[0]!, path.at) : null) ?? path
  },
  pathStart_it: (name): PathStep => ({ name: name.sourceString, key: null }),
  pathStart_root: (root, name, key): PathStep => ({
    name: `${root.sourceString}${name.sourceString}`,
    key: keyIn(key),
  }),
  pathStart_alias: (alias, _slash): PathStep => ({ name: alias.sourceString, key: null }),
  pathStart_rollup: (node): PathStep => ({ name: syntaxOf(node), key: null }),
  rollupNode: (_space, _word, _open, _, _name, _before, _equals, _after, digits, _end, _close) =>
    `${ROLLUP_NODE}${digits.children.map(({ sourceString }) => Number(sourceString))[0] ?? 1}`,
  pathStart_name: (first, _dots, more, _ahead, key, _slash): PathStep => ({
    name: dotted(first, more),
    key: keyIn(key),
  }),
  pathStep: (_slash, first, _dots, more, _ahead, key): PathStep => ({
    name: dotted(first, more),
    key: keyIn(key),
  }),
  pathKey: (_open, key, _close): KeySyntax => syntaxOf(key),
  pathEnd_count(segments, _count, options): PathEnd {
    const { filter: condition, search = null } = countOptionsOf(options)
    const operands: readonly ExpressionSyntax[] = [
      ...segments.children.map(syntaxOf),
      ...(condition === undefined ? [] : [condition]),
    ]
    const filter: ExpressionSyntax | null =
      operands.length > 1
        ? { kind: 'operator', operator: 'and', operands, at: at(segments) }
        : (operands[0] ?? null)
    return { node: { kind: 'count', filter, search }, operands }
  },
  pathEnd_total(_aggregate, _, item, _end, _close): PathEnd {
    const [value = null, method = null] = syntaxOf(item) as [ExpressionSyntax?, string?]
    return { node: { kind: 'total', value, method }, operands: [] }
  },
  totalItem_count(_count, from) {
    requireNoFrom(from)
    return []
  },
  totalItem_value(value, method, from) {
    requireNoFrom(from)
    return [syntaxOf(value), syntaxOf(method)]
  },
  pathEnd_filtered(_filters, _key, _rest) {
    throw unsupported('/$filter(…) followed by anything but /$count')
  },
  pathEnd_lambda(_slash, word, _o, _, name, _s, _colon, _s2, conditions, _end, _close): PathEnd {
    const quantifier = word.sourceString.toLowerCase() === 'any' ? 'any' : 'all'
    const operands: readonly ExpressionSyntax[] = conditions.children.map(syntaxOf)
    const [condition = null] = operands
    if (quantifier === 'all' && condition === null)
      throw malformed(`all() needs a condition (at character ${at(word) + 1})`)
    const variable = name.children[0]?.sourceString ?? ''
    return { node: { kind: 'lambda', quantifier, variable, condition }, operands }
  },
  countOptions: (_open, _, first, _space, _semicolons, _space2, more, _end, _close) =>
    listOf(first, more),
  countOption_filter: (_sign, _word, _, _equals, _space, condition): CountOptions => ({
    filter: syntaxOf(condition),
  }),
  countOption_search: (_sign, _word, _, _equals, search): CountOptions => ({
    search: syntaxOf(search),
  }),
  alias: (sign, name): ExpressionSyntax => ({
    kind: 'alias',
    name: name.sourceString,
    at: at(sign),
  }),
  prefixed(_prefix, _string) {
    return prefixedSyntax(this)
  },
  string(_open, _text, _close) {
    return tokenSyntax(this)
  },
  /** Names, numbers, dates and times are tokens, which are read where they are used, without a node of their rule. */
  _terminal() {
    return tokenSyntax(this)
  },
}

/** Actions of the operation `items`: those of the operands of a call. */
export const itemsActions: ohm.ActionDict<unknown> = {
  list: (_open, first, _commas, more, _close) => itemsOf(first, more),
}

/** Where there need not be a first one. */
const itemsOf = (first: ohm.Node, more: ohm.Node) =>
  [...first.children, ...more.children.flatMap(({ children }) => children)].map(syntaxOf)

/** Not every text that the grammar takes for a JSON string is one. */
function parseJsonString(string: ohm.Node): string {
  try {
    return JSON.parse(string.sourceString) as string
  } catch {
    throw malformed(`invalid JSON string (at character ${at(string) + 1})`)
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
  throw malformed(foreignOperator(word, operator.source.sourceString, position, OPERATORS))
}

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

/** What ends a path, without the path, and the expressions in it. */
interface PathEnd {
  readonly node: Ends<'count'> | Ends<'total'> | Ends<'lambda'>
  readonly operands: readonly ExpressionSyntax[]
}

type Ends<Kind> = Omit<ExpressionSyntax & { readonly kind: Kind }, 'path' | 'at'>

interface CountOptions {
  readonly filter?: ExpressionSyntax
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
  geography: 'geography',
  geometry: 'geometry',
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

export const syntaxOf = (node: ohm.Node) => node['syntax']()

/** The items of a list: the first, and those after commas. */
export const listOf = (first: ohm.Node, more: ohm.Node) => [first, ...more.children].map(syntaxOf)
