// From a match of the URL grammar to syntax. One action for each rule that carries meaning.

import type * as ohm from 'ohm-js'
import { at, listOf, syntaxOf, expressionActions, itemsActions } from './read-expression.ts'
import { applyActions } from './read-apply.ts'
import { ENCODED_SEMICOLON } from './options.grammar.ts'
import type {
  ComputeItem,
  ExpandItem,
  ExpressionSyntax,
  KeySyntax,
  NamedValue,
  OptionSyntax,
  OrderItemSyntax,
  SearchSyntax,
  SelectItem,
  TransformationSyntax,
} from './syntax.ts'
import { urlGrammar } from './grammar.ts'
import { odataError, invalidOption, optionNotAllowed } from '../protocol/errors.ts'
import { isPlainOption, optionName, parsePlainOption } from './option-names.ts'

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

const searchActions: ohm.ActionDict<unknown> = {
  search: (_, expression, _end) => syntaxOf(expression),
  searchAny_draft(draft): SearchSyntax {
    const text = textOf(draft).slice(1, -1).replaceAll("''", "'").replaceAll('"', ' ')
    const words = text.split(/\s+/).filter((word) => word !== '')
    const operands = words.map((word): SearchSyntax => ({ kind: 'term', text: word }))
    return operands.length === 1 ? operands[0]! : { kind: 'and', operands }
  },
  searchOr: (first, _space, _or, _space2, more) => searchRun('or', first, more),
  searchAnd: (first, more) => searchRun('and', first, more),
  searchNext_and: (_, _and, _space, term) => syntaxOf(term),
  searchNext_space: (_, term) => syntaxOf(term),
  searchTerm(nots, primary): SearchSyntax {
    const operand: SearchSyntax = syntaxOf(primary)
    return nots.numChildren % 2 === 0 ? operand : { kind: 'not', operand }
  },
  searchPrimary_group: (_open, _, expression, _end, _close) => syntaxOf(expression),
  searchPrimary_phrase: (_open, text, _close): SearchSyntax => ({
    kind: 'term',
    text: textOf(text),
  }),
  searchPrimary_word: (text): SearchSyntax => ({ kind: 'term', text: textOf(text) }),
}

const textOf = (node: ohm.Node) => node.sourceString.replaceAll(ENCODED_SEMICOLON, ';')

function searchRun(kind: 'and' | 'or', first: ohm.Node, more: ohm.Node): SearchSyntax {
  const operands: readonly SearchSyntax[] = listOf(first, more)
  return operands.length === 1 ? operands[0]! : { kind, operands }
}

const syntax: ohm.ActionDict<unknown> = {
  ...applyActions,
  ...expressionActions,
  orderby: (_, first, _commas, more, _end) => listOf(first, more),
  orderItem: (expression, direction): OrderItemSyntax => ({
    value: syntaxOf(expression),
    descending: /desc$/i.test(direction.sourceString),
  }),
  select: (_, first, _commas, more, _end) => listOf(first, more),
  selectItem_all(star): SelectItem {
    return { path: ['*'], at: at(star) }
  },
  selectItem_path(path, options): SelectItem {
    const names = path.sourceString.split('/')
    const parts: readonly OptionSyntax[] | undefined = options.children.map(syntaxOf)[0]
    if (parts === undefined) return { path: names, at: at(path) }
    return { path: names, at: at(path), ...joinExpandOptions(parts) }
  },
  expand: (_, first, _commas, more, _end) => listOf(first, more),
  expandItem(item, form, options): ExpandItem {
    const parts: readonly OptionSyntax[] = options.children.map(syntaxOf)[0] ?? []
    const word = form.sourceString
    return {
      path: item.sourceString.split('/'),
      at: at(item),
      form: word === '/$ref' ? 'references' : word === '/$count' ? 'count' : 'entities',
      ...joinExpandOptions(parts),
    }
  },
  expandOptions: (_open, _, first, _space, _semicolons, _space2, more, _end, _close) =>
    listOf(first, more),
  namedOption: (_dollar, name, _, _equals, value) => ({
    [name.sourceString.toLowerCase()]: syntaxOf(value),
  }),
  expandOption_alias: (_sign, name, _, _equals, value) => ({
    aliases: new Map([[name.sourceString, syntaxOf(value)]]),
  }),
  expandOption_plain: (_dollar, name, _, _equals, value) =>
    parseExpandOption(name.sourceString, value.sourceString),
  compute: (_, first, _commas, more, _end) => listOf(first, more),
  computeItem: (expression, _, _as, _space, name): ComputeItem => ({
    value: syntaxOf(expression),
    name: name.sourceString,
    at: at(name),
  }),
  key_named: (_, first, _commas, more, _end): KeySyntax => ({
    kind: 'named',
    values: listOf(first, more),
  }),
  key_value: (_, value, _end): KeySyntax => ({ kind: 'value', value: syntaxOf(value) }),
  keyPair: (name, _, _equals, _space, value): NamedValue => ({
    name: name.sourceString,
    value: syntaxOf(value),
  }),
  ...searchActions,
}

const semantics = urlGrammar.createSemantics()
for (const [name, actions] of Object.entries({ syntax, items: itemsActions }))
  semantics.addOperation(name, actions)

/** Throws RequestError 400 and 501 for what the grammar takes and the service does not. */
export function readSyntax<Rule extends keyof StartRules>(
  match: ohm.MatchResult,
): StartRules[Rule] {
  return semantics(match)['syntax']()
}

// The options in the parentheses of $expand whose values are plain: numbers and flags, as at the top of a query.

/** `$levels` exists in $expand only. */
type ExpandOption = OptionSyntax & {
  readonly levels?: number
  readonly aliases?: ReadonlyMap<string, ExpressionSyntax>
}

function parseExpandOption(name: string, text: string): ExpandOption {
  const value = text.trim()
  if (name.toLowerCase() === 'levels') return { levels: levels(value) }
  const option = optionName(`$${name}`, value)
  if (isPlainOption(option)) return parsePlainOption(option, value, ';')
  throw optionNotAllowed(`$${option ?? name} is not allowed within $expand`)
}

function levels(text: string): number {
  if (/^max$/i.test(text)) return Infinity
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw invalidOption('$levels must be max or a positive integer')
}

function joinExpandOptions(parts: readonly ExpandOption[]) {
  const joined: Record<string, unknown> = {}
  const aliases = new Map<string, ExpressionSyntax>()
  for (const [name, value] of parts.flatMap(({ aliases: more, ...part }) => {
    for (const [alias, syntax] of more ?? []) {
      if (aliases.has(alias))
        throw odataError('duplicate-option', `@${alias} is given more than once within $expand`)
      aliases.set(alias, syntax)
    }
    return Object.entries(part)
  })) {
    if (Object.hasOwn(joined, name))
      throw odataError('duplicate-option', `$${name} is given more than once within $expand`)
    joined[name] = value
  }
  const { levels: depth = 1, ...options } = joined as ExpandOption
  return { levels: depth, options, aliases }
}
