// What the author of a condition that DuckDB cannot bind meant: mostly one of the forms of a check.

import { type Explanation } from './engine-words.ts'
import type { Span } from '../../core/source.ts'
import type { ModelBody } from '../../core/sql.ts'
import { nearest } from '../../core/suggest.ts'
import type { DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { checkNames } from '../annotations/annotation-values.ts'
import { foreignTest } from './other-tools.ts'
import { spanAt } from './engine-diagnostic.ts'
import { isSymbol, tokenize } from '../sql/tokens.ts'

interface Misunderstanding extends Explanation {
  readonly span: Span
}

/** null: an ordinary SQL mistake. */
export function misunderstoodCheck(
  { message }: DatabaseErrorDetails,
  body: ModelBody,
): Misunderstanding | null {
  const text = body.text.trim()
  const [, rows = ''] =
    /^(?:row_count|count\s*\(\s*\*?\s*\))\s*((?:[<>=]|<>|<=|>=)\s*\d+)$/i.exec(text) ?? []
  const span = spanAt(body, 0)
  if (rows !== '') {
    const problem = text.toLowerCase().startsWith('count')
      ? 'a condition looks at one row at a time, so it cannot count'
      : '"row_count" takes its condition in parentheses'
    return { problem, hint: `write row_count(${rows})`, span }
  }
  if (message.includes('cannot contain aggregates'))
    return {
      problem: 'a condition looks at one row at a time, so it cannot call an aggregate function',
      hint: 'write a model that selects the aggregate, and check that',
      span,
    }
  const [first, second] = tokenize(text)
  const word = first?.text.toLowerCase() ?? ''
  if (!message.startsWith('Scalar Function with name') || !isSymbol(second, '(')) return null
  const meant = foreignTest(word) ?? nearest(word, checkNames)
  if (meant === null) return null
  const problem = `there is no check or function "${first!.text}"`
  return { problem, hint: `did you mean ${meant}${text.slice(first!.end)}?`, span }
}
