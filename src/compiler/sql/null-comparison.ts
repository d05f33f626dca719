// `x = NULL` and its like, which is NULL for every row: a filter with it takes none, and a check with it never fails.

import type { FilePlace, Span } from '../../core/source-text.ts'
import { isSymbol, isWord, startOfName, type Token, tokenize } from './tokens.ts'

interface NullComparison {
  /** In the text. */
  readonly span: Span
  /** As written, on one line. */
  readonly written: string
  /** What to write instead: `x IS NULL`. */
  readonly meant: string
}

const OPERATORS = ['=', '==', '!=', '<>', '<', '>', '<=', '>=']

/** The first one; null where there is none. An option of a table function, such as `nullstr = NULL`, is none. */
export function nullComparison(text: string): NullComparison | null {
  // Few texts have one, and tokenizing takes longer.
  if (!/[=<>]\s*null\b/i.test(text)) return null
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  for (const [i, token] of tokens.entries()) {
    if (!isWord(token, 'null')) continue
    const first = operatorBefore(tokens, i)
    const operator = tokens.slice(first, i).map((sign) => sign.text)
    if (!OPERATORS.includes(operator.join('')) || isOption(tokens, first)) continue
    const named = startOfName(tokens, first)
    const start = named ?? first
    const span = { start: tokens[start]!.start, end: token.end }
    const name = named === null ? 'x' : text.slice(span.start, tokens[first - 1]!.end)
    const isSame = operator.every((sign) => sign === '=')
    const written = text.slice(span.start, span.end).replaceAll(/\s+/g, ' ')
    return { span, written, meant: `${name} IS ${isSame ? '' : 'NOT '}NULL` }
  }
  return null
}

/** The first one in a part of a file, with its place there. */
export function placedNullComparison({ source, span }: FilePlace) {
  const found = nullComparison(source.text.slice(span.start, span.end))
  if (found === null) return null
  const [start, end] = [span.start + found.span.start, span.start + found.span.end]
  return { ...found, source, span: { start, end } }
}

/** The signs of an operator stand together. */
function operatorBefore(tokens: readonly Token[], at: number): number {
  let first = at
  const isSign = (token: Token | undefined) =>
    token?.kind === 'symbol' && '=<>!:-'.includes(token.text)
  while (
    isSign(tokens[first - 1]) &&
    (first === at || tokens[first - 1]!.end === tokens[first]!.start)
  )
    first--
  return first
}

function isOption(tokens: readonly Token[], at: number): boolean {
  const before = tokens.slice(0, at - 1)
  if (!isSymbol(before.at(-1), '(') && !isSymbol(before.at(-1), ',')) return false
  let depth = 0
  const open = before.findLastIndex((token) => {
    if (isSymbol(token, ')')) depth++
    return isSymbol(token, '(') && depth-- === 0
  })
  return /^read_|_scan$|^sniff_/i.test(tokens[open - 1]?.text ?? '')
}
