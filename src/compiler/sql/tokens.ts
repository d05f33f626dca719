// Tokens of SQL text, as far as files need them: where comments, names, literals and statements begin and end.
// What the statements mean is asked of the engine. The lexical rules are those of its parser: block comments nest,
// E'…' has backslash escapes, $tag$…$tag$ is a literal, every character beyond ASCII is a letter.

import type { Span } from '../../core/source.ts'

export interface Token extends Span {
  /** `open`: a block comment without an end. It counts as part of a statement, so that the engine refuses it. */
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'comment' | 'open'
  readonly text: string
}

// The most frequent first. An unterminated literal reaches to the end of the text; the engine reports it.
const PATTERNS = [
  ['word', /(?![eE]')[A-Za-z_\u{80}-\u{10ffff}][\w$\u{80}-\u{10ffff}]*/uy],
  ['symbol', /[(),.;=*<>+]/y],
  ['string', /[eE]'(?:[^'\\]|''|\\[^])*'?|'(?:[^']|'')*'?/y],
  ['number', /\d[\w.]*/y],
  ['comment', /--[^\r\n]*/y],
  ['quoted', /"(?:[^"]|"")*"?/y],
  ['string', /\$((?:[A-Za-z_\u{80}-\u{10ffff}][\w\u{80}-\u{10ffff}]*)?)\$(?:[^]*?\$\1\$|[^]*)/uy],
  ['symbol', /[^]/uy],
] as const satisfies readonly (readonly [Token['kind'], RegExp])[]

/** All tokens, comments included; white space and a byte order mark are left out. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = afterSpace(text, 0)
  while (at < text.length) {
    const token = tokenAt(text, at)
    tokens.push(token)
    at = afterSpace(text, token.end)
  }
  return tokens
}

/** The name that a token stands for: a bare word as it is, a quoted one without its quotes; null for other tokens. */
export function nameOf(token: Token | undefined): string | null {
  if (token?.kind === 'word') return token.text
  if (token?.kind !== 'quoted' || token.text.length < 2) return null
  return token.text.slice(1, -1).replaceAll('""', '"')
}

export function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text.toLowerCase() === word
}

export function isSymbol(token: Token | undefined, symbol: string): boolean {
  return token?.kind === 'symbol' && token.text === symbol
}

/** From the first token to the last. */
export function spanOf(tokens: readonly Token[]): Span {
  return { start: tokens[0]?.start ?? 0, end: tokens.at(-1)?.end ?? 0 }
}

function tokenAt(text: string, start: number): Token {
  if (text.startsWith('/*', start)) {
    const end = endOfBlock(text, start)
    return end === null
      ? tokenOf('open', text, start, text.length)
      : tokenOf('comment', text, start, end)
  }
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = start
    if (pattern.test(text)) return tokenOf(kind, text, start, pattern.lastIndex)
  }
  throw new Error('every character begins a token')
}

function tokenOf(kind: Token['kind'], text: string, start: number, end: number): Token {
  return { kind, text: text.slice(start, end), start, end }
}

function afterSpace(text: string, start: number): number {
  const space = /\s*/y
  space.lastIndex = start
  space.test(text)
  return space.lastIndex
}

function endOfBlock(text: string, start: number): number | null {
  const edge = /\/\*|\*\//g
  edge.lastIndex = start
  let depth = 0
  for (let found = edge.exec(text); found !== null; found = edge.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return edge.lastIndex
  }
  return null
}
