// From a match of the URL grammar to syntax. One action for each rule that carries meaning.

import type * as ohm from 'ohm-js'
import { limits } from '../core/limits.ts'
import { didYouMean } from '../core/suggest.ts'
import { odataError } from './errors.ts'
import {
  applyPrecedence,
  type Measured,
  type Operation,
  precedenceOf,
  tooDeep,
} from './precedence.ts'
import type {
  BinaryOperator,
  ComputeItem,
  ExpandItem,
  ExpressionSyntax,
  KeySyntax,
  NamedValue,
  OptionSyntax,
  OrderItemSyntax,
  PathSyntax,
  SearchSyntax,
  SelectItem,
  TransformationSyntax,
} from './syntax.ts'
import { joinExpandOptions, parseExpandOption } from './expand-options.ts'
import { applyActions } from './read-apply.ts'
import { literalSyntax, wordLiteral } from './read-literal.ts'
import { urlGrammar } from './url.grammar.ts'

/** The rules that options are parsed with, and what each gives. */
export interface StartRules {
  readonly apply: readonly TransformationSyntax[]
  readonly wholeExpression: ExpressionSyntax
  readonly orderby: readonly OrderItemSyntax[]
  readonly select: readonly SelectItem[]
  readonly expand: readonly ExpandItem[]
  readonly search: SearchSyntax
  readonly key: KeySyntax
  readonly compute: readonly ComputeItem[]
}

const semantics = urlGrammar.createSemantics()

export function readSyntax<Rule extends keyof StartRules>(
  match: ohm.MatchResult,
): StartRules[Rule] {
  return semantics(match)['syntax']()
}

const at = (node: ohm.Node) => node.source.startIdx
const measuredOf = (node: ohm.Node): Measured => node['measured']()

function nestedOption(
  _dollar: ohm.Node,
  name: ohm.Node,
  _: ohm.Node,
  _e: ohm.Node,
  value: ohm.Node,
) {
  return { [name.sourceString.toLowerCase()]: value['syntax']() as unknown }
}

semantics.addOperation('syntax', {
  ...applyActions,
  wholeExpression: (_, expression, _end) => measuredOf(expression).syntax,
  orderby: (_, first, _commas, more, _end) =>
    [first, ...more.children].map((item) => item['syntax']()),
  orderItem: (expression, direction): OrderItemSyntax => ({
    value: measuredOf(expression).syntax,
    descending: /desc$/i.test(direction.sourceString),
  }),
  select: (_, first, _commas, more, _end) =>
    [first, ...more.children].map((item) => item['syntax']()),
  selectItem_all(star): SelectItem {
    return { path: ['*'], at: at(star) }
  },
  selectItem_path: (first, _slashes, more): SelectItem => ({
    path: [first, ...more.children].map((name) => name.sourceString),
    at: at(first),
  }),
  expand: (_, first, _commas, more, _end) =>
    [first, ...more.children].map((item) => item['syntax']()),
  expandItem(item, form, options): ExpandItem {
    const selected: SelectItem = item['syntax']()
    const parts: readonly OptionSyntax[] = options.children[0]?.['syntax']() ?? []
    const word = form.sourceString
    return {
      ...selected,
      form: word === '/$ref' ? 'references' : word === '/$count' ? 'count' : 'entities',
      ...joinExpandOptions(parts),
    }
  },
  expandOptions: (_open, _, first, _space, _semicolons, _space2, more, _end, _close) =>
    [first, ...more.children].map((option) => option['syntax']()),
  expandOption_filter: nestedOption,
  expandOption_orderby: nestedOption,
  expandOption_select: nestedOption,
  expandOption_compute: nestedOption,
  expandOption_search: nestedOption,
  expandOption_expand: nestedOption,
  expandOption_apply: nestedOption,
  expandOption_plain: (_dollar, name, _, _equals, value) =>
    parseExpandOption(name.sourceString, value.sourceString),
  compute: (_, first, _commas, more, _end) =>
    [first, ...more.children].map((item) => item['syntax']()),
  computeItem: (expression, _, _as, _space, name): ComputeItem => ({
    value: measuredOf(expression).syntax,
    name: name.sourceString,
    at: at(name),
  }),
  key_named: (_, first, _commas, more, _end): KeySyntax => ({
    kind: 'named',
    values: [first, ...more.children].map((pair) => pair['syntax']()),
  }),
  key_value: (_, value, _end): KeySyntax => ({ kind: 'value', value: measuredOf(value).syntax }),
  keyPair: (name, _, _equals, _space, value): NamedValue => ({
    name: name.sourceString,
    value: measuredOf(value).syntax,
  }),
  search: (_, expression, _end) => expression['syntax'](),
  searchOr: (first, _space, _or, _space2, more) => searchRun('or', first, more),
  searchAnd: (first, more) => searchRun('and', first, more),
  searchNext_and: (_, _and, _space, term) => term['syntax'](),
  searchNext_space: (_, term) => term['syntax'](),
  searchTerm(nots, primary): SearchSyntax {
    const operand: SearchSyntax = primary['syntax']()
    return nots.numChildren % 2 === 0 ? operand : { kind: 'not', operand }
  },
  searchPrimary_group: (_open, _, expression, _end, _close) => expression['syntax'](),
  searchPrimary_phrase: (_open, text, _close): SearchSyntax => ({
    kind: 'term',
    text: text.sourceString,
  }),
  searchPrimary_word: (text): SearchSyntax => ({ kind: 'term', text: text.sourceString }),
})

function searchRun(kind: 'and' | 'or', first: ohm.Node, more: ohm.Node): SearchSyntax {
  const operands = [first, ...more.children].map((term) => term['syntax']() as SearchSyntax)
  return operands.length === 1 ? operands[0]! : { kind, operands }
}

semantics.addOperation('measured', {
  expression: (first, operations) =>
    applyPrecedence(
      measuredOf(first),
      operations.children.map((node) => node['operation']()),
    ),
  operand(_ahead, prefixes, primary) {
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
    if (only !== undefined && items.length === 1) return { ...only, depth: only.depth + 1 }
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
    return node({ kind: 'list', items: items.map(({ syntax }) => syntax), at: at(open) }, items)
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
  path(start, _slashes, more, _ahead, end) {
    const names = [start, ...more.children].map((name) => name.sourceString)
    const path: PathSyntax = { kind: 'path', names, at: at(start) }
    const [last] = end.children
    if (last === undefined && names.length === 1) {
      const word = wordLiteral(names[0]!, at(start))
      if (word !== null) return node(word)
    }
    return last === undefined ? node(path) : last['pathEnd'](path)
  },
  alias: (sign, name) => node({ kind: 'alias', name: name.sourceString, at: at(sign) }),
  literal: (literal) => node(literalSyntax(literal)),
  plainLiteral: (_ahead, literal) => node(literalSyntax(literal)),
})

semantics.addOperation('operation', {
  operation: (_, operator, _space, operand): Operation => ({
    operator: binaryOperator(operator),
    at: at(operator),
    operand: measuredOf(operand),
  }),
})

semantics.addOperation('prefix', {
  prefix_not: (_n, _o, _t, _space) => 'not',
  prefix_negate: (_ahead, _minus, _space) => 'negate',
})

interface CaseItem {
  readonly condition: Measured
  readonly value: Measured
}

semantics.addOperation('caseItem', {
  caseItem: (condition, _, _colon, _space, value): CaseItem => ({
    condition: measuredOf(condition),
    value: measuredOf(value),
  }),
})

semantics.addOperation('pathEnd(path)', {
  pathEnd_count(_count, _open, _, _filter, _space, _equals, _space2, condition, _end, _close) {
    const { path } = this['args'] as { readonly path: PathSyntax }
    const filters = condition.children.map(measuredOf)
    const filter = filters[0]?.syntax ?? null
    return node({ kind: 'count', path: path.names, filter, at: path.at }, filters)
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
      path: path.names,
      variable: variable.children[0]?.sourceString ?? '',
      condition: conditions[0]?.syntax ?? null,
      at: path.at,
    } as const
    if (lambda.quantifier === 'all' && lambda.condition === null)
      throw odataError('syntax-error', `all() needs a condition (at character ${at(word) + 1})`)
    return node(lambda, conditions)
  },
})

semantics.addOperation('items', {
  list: (_open, _, first, _commas, more, _end, _close) => itemsOf(first, more),
})

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

function binaryOperator(word: ohm.Node): BinaryOperator {
  const name = word.sourceString.toLowerCase()
  if (Object.hasOwn(precedenceOf, name)) return name as BinaryOperator
  const hint = didYouMean(name, Object.keys(precedenceOf))
  const problem = `no operator "${word.sourceString}" at character ${at(word) + 1}`
  throw odataError('syntax-error', hint === undefined ? problem : `${problem}: ${hint}`)
}
