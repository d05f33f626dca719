// From a match of the URL grammar to syntax. One action for each rule that carries meaning.

import type * as ohm from 'ohm-js'
import { joinExpandOptions, parseExpandOption } from './expand-options.ts'
import { addOperation, at, expressionOf, listOf, type MatchNode, syntaxOf } from './match-nodes.ts'
import { applyActions } from './read-apply.ts'
import { expressionOperations } from './read-expression.ts'
import { searchActions } from './read-search.ts'
import { ruleReader } from './rule-reader.ts'
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

function nestedOption(
  _dollar: ohm.Node,
  name: ohm.Node,
  _: ohm.Node,
  _e: ohm.Node,
  value: ohm.Node,
) {
  return { [name.sourceString.toLowerCase()]: value['syntax']() as unknown }
}

const syntax: ohm.ActionDict<unknown> = {
  ...applyActions,
  wholeExpression: (expression) => expressionOf(expression),
  orderby: (_, first, _commas, more, _end) => listOf(first, more),
  orderItem: (expression, direction): OrderItemSyntax => ({
    value: expressionOf(expression),
    descending: /desc$/i.test(direction.sourceString),
  }),
  select: (_, first, _commas, more, _end) => listOf(first, more),
  selectItem_all(star): SelectItem {
    return { path: ['*'], at: at(star) }
  },
  selectItem_path(path, options): SelectItem {
    const names = path.sourceString.split('/')
    const parts: readonly OptionSyntax[] | undefined = options.children[0]?.['syntax']()
    if (parts === undefined) return { path: names, at: at(path) }
    return { path: names, at: at(path), ...joinExpandOptions(parts) }
  },
  expand: (_, first, _commas, more, _end) => listOf(first, more),
  expandItem(item, form, options): ExpandItem {
    const parts: readonly OptionSyntax[] = options.children[0]?.['syntax']() ?? []
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
  expandOption_filter: nestedOption,
  expandOption_orderby: nestedOption,
  expandOption_select: nestedOption,
  expandOption_compute: nestedOption,
  expandOption_search: nestedOption,
  expandOption_expand: nestedOption,
  expandOption_apply: nestedOption,
  expandOption_alias: (_sign, name, _, _equals, value) => ({
    aliases: new Map([[name.sourceString, expressionOf(value)]]),
  }),
  expandOption_plain: (_dollar, name, _, _equals, value) =>
    parseExpandOption(name.sourceString, value.sourceString),
  compute: (_, first, _commas, more, _end) => listOf(first, more),
  computeItem: (expression, _, _as, _space, name): ComputeItem => ({
    value: expressionOf(expression),
    name: name.sourceString,
    at: at(name),
  }),
  key_named: (_, first, _commas, more, _end): KeySyntax => ({
    kind: 'named',
    values: listOf(first, more),
  }),
  key_value: (_, value, _end): KeySyntax => ({ kind: 'value', value: expressionOf(value) }),
  keyPair: (name, _, _equals, _space, value): NamedValue => ({
    name: name.sourceString,
    value: expressionOf(value),
  }),
  ...searchActions,
}

/** Operations by their names: of the rules of the URL grammar, the actions. */
export const operations = { syntax, ...expressionOperations }

for (const [name, actions] of Object.entries(operations)) addOperation(name, actions)

const readRule = ruleReader(urlGrammar, new Set(Object.values(operations).flatMap(Object.keys)))

/** The match of `text` by `rule`, for readSyntax(); null for a text that is not of the rule. */
export const matchOf = (rule: keyof StartRules, text: string) => readRule(rule, text)

/** Throws RequestError 400 and 501 for what the grammar takes and the service does not. */
export function readSyntax<Rule extends keyof StartRules>(match: MatchNode): StartRules[Rule] {
  return syntaxOf(match as unknown as ohm.Node)
}
