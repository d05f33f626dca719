// Tokens of SQL text, as far as files need them: where comments, names, literals and statements begin and end.
// DuckDB decides what the statements mean. The lexical rules are those of its parser: block comments nest,
// E'…' has backslash escapes, $tag$…$tag$ is a literal, every character beyond ASCII is a letter but for some spaces.

import type { Span, SourceFile } from '../../core/source-text.ts'
import { sameName } from '../../core/names.ts'

export interface Token extends Span {
  /** `open`: a block comment without an end. It counts as part of a statement, so that DuckDB refuses it. */
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'comment' | 'open'
  readonly text: string
}

// The most frequent first. An unterminated literal reaches to the end of the text; DuckDB reports it.
const PATTERNS = [
  [
    'word',
    /(?![eE]')(?:[A-Za-z_]|(?![\u{a0}\u{2000}-\u{200d}\u{202f}\u{205f}\u{2060}\u{3000}\u{feff}])[\u{80}-\u{10ffff}])(?:[\w$]|(?![\u{a0}\u{2000}-\u{200d}\u{202f}\u{205f}\u{2060}\u{3000}\u{feff}])[\u{80}-\u{10ffff}])*/uy,
  ],
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
export function tokensSpan(tokens: readonly Token[]): Span {
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

/** The text that the parser of DuckDB reads, and that its places count in: a space of Unicode is one byte there. */
export function withAsciiSpaces(text: string): string {
  if (!UNICODE_SPACE.test(text)) return text
  const parts: string[] = []
  let end = 0
  for (const token of tokenize(text)) {
    parts.push(text.slice(end, token.start).replaceAll(/\P{ASCII}/gu, ' '), token.text)
    end = token.end
  }
  return parts.join('') + text.slice(end)
}

/** What the parser of DuckDB takes for a space outside of quotes and comments. */
const UNICODE_SPACE = /[\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]/

function afterSpace(text: string, start: number): number {
  const space = /[\s\u200b-\u200d\u2060]*/y
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

/** Tokens of one statement without comments; never empty. */
export type Statement = readonly [Token, ...Token[]]

interface Statements {
  /** Comments before the first token of the first statement, with plain blanks for those of Unicode outside of quotes. */
  readonly header: readonly Token[]
  readonly below: readonly Token[]
  readonly statements: readonly Statement[]
}

/** Splits at semicolons; empty statements are left out. */
export function statementsOf({ text }: SourceFile): Statements {
  const tokens = tokenize(text)
  const bodyStart = tokens.findIndex(({ kind }) => kind !== 'comment')
  const comments = bodyStart < 0 ? tokens : tokens.slice(0, bodyStart)
  const header = comments.map(withPlainBlanks)
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

/** Editors and chats put blanks of Unicode for plain ones, and an annotation is one with these too. */
function withPlainBlanks(comment: Token): Token {
  const { text } = comment
  if (!text.startsWith('--') || !UNICODE_SPACE.test(text)) return comment
  return { ...comment, text: `--${withAsciiSpaces(text.slice(2))}` }
}

export const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** The number of brackets around each token; an opening bracket is outside of itself, a closing one inside. */
export function depthsOf(tokens: readonly Token[]): readonly number[] {
  let depth = 0
  return tokens.map(({ kind, text }) => {
    const here = depth
    if (kind === 'symbol' && text in CLOSING) depth++
    else if (kind === 'symbol' && Object.values(CLOSING).includes(text)) depth--
    return here
  })
}

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

/** Where a name with its dots begins that ends before `at`; null: something else stands there. */
export function startOfName(tokens: readonly Token[], at: number): number | null {
  let first = at - 1
  if (nameOf(tokens[first]) === null) return null
  while (isSymbol(tokens[first - 1], '.') && nameOf(tokens[first - 2]) !== null) first -= 2
  return first
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
