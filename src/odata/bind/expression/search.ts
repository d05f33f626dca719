// $search: a term holds when any string property of the row contains it, ignoring case.

import { limits } from '../../../core/limits.ts'
import {
  type Expression,
  propertyOf,
  type RowVariable,
  typeOf,
  call,
  constant,
  not,
  or,
} from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import type { SearchSyntax } from '../../syntax/syntax.ts'
import { edm } from '../../edm/types.ts'
import { booleanConstant } from './constants.ts'

/** Searches a row. Throws RequestError 400 for more terms than are allowed. */
export function bindSearch(search: SearchSyntax, row: RowVariable): Expression {
  const properties = row.set.type.properties.filter(({ type }) => isText(type))
  return boundSearch(
    search,
    properties.map((property) => propertyOf(row, property)),
  )
}

/** Searches an item of a list: a string, or a struct with strings. Throws what bindSearch() throws. */
export function bindItemSearch(search: SearchSyntax, item: Expression): Expression {
  const type = typeOf(item)!
  if (type.kind !== 'complex') return boundSearch(search, isText(type) ? [item] : [])
  const parts = type.properties.filter((part) => isText(part.type))
  return boundSearch(
    search,
    parts.map((part) => ({ kind: 'member', type: part.type, of: item, name: part.name })),
  )
}

const isText = ({ name }: { readonly name: string }) => name === 'Edm.String'

function boundSearch(search: SearchSyntax, texts: readonly Expression[]): Expression {
  if (termsIn(search) > limits.searchTerms)
    throw odataError(
      'expression-too-long',
      `a search may have at most ${limits.searchTerms} words and phrases`,
    )
  return bindTerms(search, texts)
}

function termsIn(search: SearchSyntax): number {
  if (search.kind === 'term') return 1
  if (search.kind === 'not') return termsIn(search.operand)
  return search.operands.reduce((sum, operand) => sum + termsIn(operand), 0)
}

function bindTerms(search: SearchSyntax, texts: readonly Expression[]): Expression {
  switch (search.kind) {
    case 'term':
      return bindTerm(search.text, texts)
    case 'not':
      return not(bindTerms(search.operand, texts))
    default:
      // A draft without a word in it says nothing about the rows.
      if (search.operands.length === 0) return booleanConstant(true)
      return {
        kind: 'logical',
        operator: search.kind,
        operands: search.operands.map((operand) => bindTerms(operand, texts)),
      }
  }
}

/** Null has no parts: a term is true or false of a row, so NOT finds the rows that lack it. */
function bindTerm(text: string, texts: readonly Expression[]): Expression {
  const term = constant(edm.String, text)
  const matches = texts.map((value): Expression => call('search', edm.Boolean, value, term))
  if (matches.length === 0) return booleanConstant(false)
  return matches.length === 1 ? matches[0]! : or(matches)
}
