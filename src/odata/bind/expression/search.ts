// $search: a term holds when any string property of the row contains it, ignoring case.

import { limits } from '../../../core/limits.ts'
import { type Expression, propertyOf, type RowVariable } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import type { SearchSyntax } from '../../syntax/syntax.ts'
import { edm } from '../../edm/types.ts'
import { booleanConstant } from './constants.ts'

/** Throws RequestError 400 for more terms than are allowed. */
export function bindSearch(search: SearchSyntax, row: RowVariable): Expression {
  if (termsIn(search) > limits.searchTerms)
    throw odataError(
      'expression-too-long',
      `a search may have at most ${limits.searchTerms} words and phrases`,
    )
  return bindTerms(search, row)
}

function termsIn(search: SearchSyntax): number {
  if (search.kind === 'term') return 1
  if (search.kind === 'not') return termsIn(search.operand)
  return search.operands.reduce((sum, operand) => sum + termsIn(operand), 0)
}

function bindTerms(search: SearchSyntax, row: RowVariable): Expression {
  switch (search.kind) {
    case 'term':
      return bindTerm(search.text, row)
    case 'not':
      return { kind: 'not', operand: bindTerms(search.operand, row) }
    default:
      // A draft without a word in it says nothing about the rows.
      if (search.operands.length === 0) return booleanConstant(true)
      return {
        kind: 'logical',
        operator: search.kind,
        operands: search.operands.map((operand) => bindTerms(operand, row)),
      }
  }
}

/** Null has no parts: a term is true or false of a row, so NOT finds the rows that lack it. */
function bindTerm(text: string, row: RowVariable): Expression {
  const term: Expression = { kind: 'constant', type: edm.String, value: text }
  const matches = row.set.type.properties
    .filter(({ type }) => type.name === 'Edm.String')
    .map((property): Expression => ({
      kind: 'call',
      type: edm.Boolean,
      name: 'search',
      operands: [propertyOf(row, property), term],
    }))
  if (matches.length === 0) return booleanConstant(false)
  return matches.length === 1 ? matches[0]! : { kind: 'logical', operator: 'or', operands: matches }
}
