// Expressions of the URL grammar as syntax, each with its depth: an expression is a flat list in the grammar, and becomes
// a tree here.

import type * as ohm from 'ohm-js'
import { limits } from '../../core/limits.ts'
import { odataError } from '../protocol/errors.ts'
import { foreignOperator } from './foreign-words.ts'
import { at, syntaxOf, syntaxWithDepthOf } from './nodes.ts'
import {
  applyPrecedence,
  type SyntaxWithDepth,
  type OperatorAt,
  precedenceOf,
  syntaxNode,
  tooDeep,
} from './precedence.ts'
import { prefixedSyntax, tokenSyntax, wordLiteral } from './read-literal.ts'
import { pathActions, type PathEnd, type PathStep } from './read-path.ts'
import type { BinaryOperator, PathSyntax } from './syntax.ts'

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
    const name = [first, ...more.children].map((part) => part.sourceString).join('.')
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

/** Actions of the operation `syntax`. */
export const partActions: ohm.ActionDict<unknown> = {
  ...pathActions,
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
