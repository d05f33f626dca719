// The rules of $search, as syntax.

import type * as ohm from 'ohm-js'
import { ENCODED_SEMICOLON } from './search.grammar.ts'
import type { SearchSyntax } from './syntax.ts'

/** Actions of the operation `syntax`. */
export const searchActions: ohm.ActionDict<unknown> = {
  search: (_, expression, _end) => expression['syntax'](),
  searchAny_or: (expression) => expression['syntax'](),
  searchAny_draft(draft): SearchSyntax {
    const text = textOf(draft).slice(1, -1).replaceAll("''", "'").replaceAll('"', ' ')
    const words = text.split(/\s+/).filter((word) => word !== '')
    const operands = words.map((word): SearchSyntax => ({ kind: 'term', text: word }))
    return operands.length === 1 ? operands[0]! : { kind: 'and', operands }
  },
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
    text: textOf(text),
  }),
  searchPrimary_word: (text): SearchSyntax => ({ kind: 'term', text: textOf(text) }),
}

const textOf = (node: ohm.Node) => node.sourceString.replaceAll(ENCODED_SEMICOLON, ';')

function searchRun(kind: 'and' | 'or', first: ohm.Node, more: ohm.Node): SearchSyntax {
  const operands = [first, ...more.children].map((term) => term['syntax']() as SearchSyntax)
  return operands.length === 1 ? operands[0]! : { kind, operands }
}
