// A file as its leading comments and its statements.

import type { SourceFile } from '../../core/source.ts'
import { type Token, isSymbol, tokenize } from './tokens.ts'

/** Tokens of one statement without comments; never empty. */
export type Statement = readonly [Token, ...Token[]]

interface Statements {
  /** Comments before the first token of the first statement. */
  readonly header: readonly Token[]
  /** All other comments. */
  readonly below: readonly Token[]
  readonly statements: readonly Statement[]
}

/** Splits at semicolons; empty statements are left out. */
export function statementsOf({ text }: SourceFile): Statements {
  const tokens = tokenize(text)
  const bodyStart = tokens.findIndex(({ kind }) => kind !== 'comment')
  const header = bodyStart < 0 ? tokens : tokens.slice(0, bodyStart)
  const below = tokens.slice(header.length).filter(({ kind }) => kind === 'comment')
  const statements: Statement[] = []
  let current: Token[] = []
  const finish = () => {
    const [first, ...rest] = current
    if (first !== undefined) statements.push([first, ...rest])
    current = []
  }
  for (const token of tokens) {
    if (isSymbol(token, ';')) finish()
    else if (token.kind !== 'comment') current.push(token)
  }
  finish()
  return { header, below, statements }
}
