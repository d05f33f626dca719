// What stands where in the SELECT list of a query, by its tokens: for places that DuckDB does not give.

import { sameName } from '../../core/names.ts'
import type { Span } from '../../core/source.ts'
import { isSymbol, isWord, nameOf, tokensSpan, type Token, tokenize } from './tokens.ts'

const AFTER_LIST = new Set('from where group having window qualify order limit union'.split(' '))

/** The tokens of each item, from the first list that is in no parentheses: its names are those of the columns. */
function selectItems(text: string): readonly (readonly Token[])[] {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const items: Token[][] = []
  let depth = 0
  for (const token of tokens) {
    if (isSymbol(token, ')')) depth--
    const item = items.at(-1)
    if (item === undefined) {
      if (depth === 0 && isWord(token, 'select')) items.push([])
    } else if (depth === 0 && token.kind === 'word' && AFTER_LIST.has(token.text.toLowerCase()))
      break
    else if (depth === 0 && isSymbol(token, ',')) items.push([])
    else item.push(token)
    if (isSymbol(token, '(')) depth++
  }
  return items
}

/** The names that the items give, as far as they say one. */
export const outputNames = (text: string): readonly string[] =>
  selectItems(text).flatMap((item) => nameOf(item.at(-1)) ?? [])

/** The item that gives a column its name; null where none does so in words, as `*`. */
export function outputColumnSpan(text: string, column: string): Span | null {
  const found = selectItems(text).find((item) => {
    const name = nameOf(item.at(-1))
    return name !== null && sameName(name, column)
  })
  return found === undefined ? null : tokensSpan(found)
}

/** The only token of a kind in a query; null where there are others like it. */
export function onlyToken(
  text: string,
  isMeant: (token: Token, next: Token | undefined, before: Token | undefined) => boolean,
): Span | null {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const found = tokens.filter((token, i) => isMeant(token, tokens[i + 1], tokens[i - 1]))
  return found.length === 1 ? found[0]! : null
}
