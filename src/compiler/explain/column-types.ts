// Hints for a column of an events model whose type DuckDB does not know: mostly two columns, or a name of two words.

import { isSymbol, nameOf, tokenize } from '../sql/tokens.ts'
import { isTypeName } from './dialects.ts'

/** Words that go on with a type: TIMESTAMP WITH TIME ZONE, DOUBLE PRECISION. */
const CONTINUES = /^(?:with|without|time|zone|precision|varying|local|unsigned|not|null)$/i

/** `name` and `type` as written. */
export function columnHint(name: string, type: string): string | undefined {
  const tokens = tokenize(type)
  const [first, second] = tokens
  if (
    first !== undefined &&
    !isTypeName(first.text) &&
    second !== undefined &&
    isTypeName(second.text)
  )
    return `a name with a space goes in double quotes: "${name} ${first.text}" ${type.slice(second.start)}`
  let depth = 0
  for (const [i, token] of tokens.entries()) {
    if (isSymbol(token, '(')) depth++
    if (isSymbol(token, ')')) depth--
    const isNext = i > 0 && depth === 0 && nameOf(token) !== null && !CONTINUES.test(token.text)
    if (isNext && tokens[i + 1]?.kind === 'word')
      return `is a comma missing before "${token.text}"?`
  }
  return undefined
}
