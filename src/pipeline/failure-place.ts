// Where in a model the cause of a failure stands, when DuckDB gives no place: what it complains about is often named in
// the model once.

import { onlyToken, outputColumnSpan } from '../compiler/sql/select-list.ts'
import { isSymbol, isWord, nameOf, type Token, tokenize } from '../compiler/sql/tokens.ts'
import type { Model } from '../core/model.ts'
import { sameName } from '../core/names.ts'
import type { Span } from '../core/source.ts'

/** Where the model gives the column its name or its type. */
export function columnPlace(model: Model, column: string): Span | null {
  if ('body' in model) {
    const span = outputColumnSpan(model.body.text, column)
    return span === null ? null : model.body.spanInFile(span)
  }
  if (model.kind !== 'events') return null
  const tokens = tokenize(model.source.text).filter(({ kind }) => kind !== 'comment')
  const isColumn = (token: Token, i: number) =>
    (i === 0 || isSymbol(tokens[i - 1], ',')) && sameName(nameOf(token) ?? '', column)
  const at = tokens.findIndex(isColumn)
  return tokens[at + 1] ?? null
}

const OPERATORS: Readonly<Record<string, string>> = {
  addition: '+',
  subtraction: '-',
  multiplication: '*',
  division: '/',
}

/** What the message is about, where the query has it once. */
export function causePlace(model: Model, message: string): Span | null {
  if (!('body' in model)) return null
  const { body } = model
  const isCall = (name: string) => (token: Token, next: Token | undefined) =>
    isWord(token, name) && isSymbol(next, '(')
  const [, operation = ''] = /^Overflow in (\w+) of/.exec(message) ?? []
  const operator = OPERATORS[operation]
  const found =
    operator !== undefined
      ? onlyToken(body.text, (token, _, before) => isSymbol(token, operator) && endsValue(before))
      : message.startsWith('Could not parse string')
        ? onlyToken(body.text, isCall('strptime'))
        : onlyToken(body.text, isCall('error'))
  return found && body.spanInFile(found)
}

/** The `*` of `SELECT *` and of `count(*)` multiplies nothing. */
const endsValue = (token: Token | undefined): boolean =>
  token !== undefined &&
  !isWord(token, 'select') &&
  (token.kind !== 'symbol' || isSymbol(token, ')') || isSymbol(token, ']'))
