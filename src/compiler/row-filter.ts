// A row filter of eider.yml, as a condition that SQL takes: one expression over the columns of a set. Whether it fits the
// set is known where the set is.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { WrittenFilter } from '../access/reader.ts'
import type { RowFilter } from '../core/row-filter.ts'
import { ModelBody } from '../core/sql.ts'
import { isPlainCondition } from './checks/checks.ts'
import { isVolatile } from './sql/engine-functions.ts'
import { isSymbol, nameOf, type Token, tokenize } from './sql/tokens.ts'

export function rowFilter(
  { text, source, span, set }: WrittenFilter,
  token: string,
): RowFilter | Diagnostic {
  const written = { path: source.path, text }
  const condition = ModelBody.of(written, { start: 0, end: text.length })
  const wrong = (problem: string) => filterMistake({ set, source, span }, token, problem)
  if (!isPlainCondition(condition)) return wrong('it is not a single expression without subqueries')
  const changing = changingCall(text)
  if (changing !== null) return wrong(`${changing} gives another result each time`)
  return { text, condition: condition.asExpression(), source, span }
}

const HINT = 'write one condition over the columns of the set, such as "country_id = \'NO\'"'

export function filterMistake(
  { set, source, span }: Pick<WrittenFilter, 'set' | 'source' | 'span'>,
  token: string,
  problem: string,
  hint: string = HINT,
): Diagnostic {
  const expected = `a condition that fits ${set ?? 'its sets'} (token "${token}"): ${problem}`
  const parameters = { key: 'odata.tokens.rows', expected }
  return diagnostic('config-invalid-value', parameters, { source, span }, hint)
}

/**
 * A call whose result changes though the rows do not: an answer could be repeated when it has ceased to be true.
 * Bare words may be columns, except those that are reserved.
 */
function changingCall(text: string): string | null {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const found = tokens.find((token, i) => {
    const name = nameOf(token)?.toLowerCase() ?? ''
    if (isSymbol(tokens[i + 1], '(')) return isVolatile(name, argumentCount(tokens.slice(i + 2)))
    return token.kind === 'word' && /^(?:current_|local)/.test(name) && isVolatile(name, 0)
  })
  return found?.text ?? null
}

/** From the token after the opening bracket. */
function argumentCount(tokens: readonly Token[]): number {
  let depth = 0
  let commas = 0
  for (const token of tokens) {
    if (isSymbol(token, ')') && depth === 0) break
    if (isSymbol(token, '(') || isSymbol(token, '[')) depth++
    else if (isSymbol(token, ')') || isSymbol(token, ']')) depth--
    else if (isSymbol(token, ',') && depth === 0) commas++
  }
  return commas + 1
}
