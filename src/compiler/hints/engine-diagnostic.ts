// Places that DuckDB gives, as spans of a model file.

import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { type Span, offsetOfByte } from '../../core/source-text.ts'
import type { ModelBody } from '../../core/sql.ts'
import type { DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { explainBinding, typographicSign } from './binding.ts'
import { problemOf, quotedNames, type Explanation, type PlacedError } from './engine-words.ts'
import { isSymbol, nameOf, tokenize, withAsciiSpaces, isWord, type Token } from '../sql/tokens.ts'
import { nearest } from '../../core/suggest.ts'
import { otherFunction } from './dialects.ts'
import { isUnnest, orderedAggregateHint, otherSyntax } from './other-syntax.ts'

/** The token at an offset into the body, with what dots join to it; the first token when there is no offset. */
export function spanAt(body: ModelBody, offset: number | null): Span {
  const tokens = tokenize(body.text)
  const first = tokens.findIndex(({ end }) => end > (offset ?? 0))
  const token = tokens[first]
  if (token === undefined) return { start: body.span.end, end: body.span.end + 1 }
  let last = first
  while (isSymbol(tokens[last + 1], '.') && nameOf(tokens[last + 2]) !== null) last += 2
  return body.spanInFile({ start: token.start, end: tokens[last]!.end })
}

/** The span of what stands at a byte of the body: syntax trees and the binder count bytes of UTF-8. */
export function spanAtByte(body: ModelBody, byte: number | null): Span {
  return spanAt(body, byte === null ? null : offsetOfByte(withAsciiSpaces(body.text), byte))
}

/**
 * A mistake that DuckDB found in a statement that begins with `prefix` and goes on with `body`.
 * The parser counts characters, all others bytes.
 */
export function engineDiagnostic(
  details: DatabaseErrorDetails,
  body: ModelBody,
  prefix = '',
): Diagnostic {
  const span = spanOfError(details, body, prefix)
  const isSyntax = details.type === 'Parser'
  const tokens = tokenize(body.text).filter(({ kind }) => kind !== 'comment')
  const offset = offsetOfError(details, body, prefix) ?? 0
  const found = tokens.findIndex((token) => token.end > offset)
  const at = found < 0 ? tokens.length : found
  const error = { ...details, tokens, at, text: body.text }
  const { problem, hint } = isSyntax ? explainSyntax(error) : explainBinding(error)
  const code = isSyntax ? 'sql-syntax' : 'sql-binding'
  const { source } = body
  const isVariable = source.text.startsWith('${', span.start)
  const ofVariable = 'the value of this variable is inserted here; see vars in eider.yml'
  return diagnostic(code, { problem }, { source, span }, isVariable ? ofVariable : hint)
}

const explainSyntax = (error: PlacedError): Explanation =>
  typographicSign(error.tokens) ?? { problem: problemOf(error), hint: syntaxHint(error) }

export const spanOfError = (details: DatabaseErrorDetails, body: ModelBody, prefix: string): Span =>
  spanAt(body, offsetOfError(details, body, prefix))

/** Into the body; null where nothing tells. */
function offsetOfError(
  { type, position, message }: DatabaseErrorDetails,
  body: ModelBody,
  prefix: string,
): number | null {
  if (position === null) return offsetOfQuotedName(message, body)
  if (type !== 'Parser')
    return offsetOfByte(withAsciiSpaces(body.text), position - Buffer.byteLength(prefix))
  const characters = Array.from(body.text).slice(0, position - Array.from(prefix).length)
  return characters.join('').length
}

/** DuckDB names files by their full path; the author knows them from the project's directory on. */
export function withoutDir(details: DatabaseErrorDetails, dir: string): DatabaseErrorDetails {
  return { ...details, message: details.message.replaceAll(join(dir, '/'), '') }
}

/** Errors without a position mostly name what they are about. */
function offsetOfQuotedName(message: string, body: ModelBody): number | null {
  const [, file = ''] = /^File (\S+) requires/.exec(message) ?? []
  const names = [...quotedNames(message), file].map((name) => name.toLowerCase())
  const isOfUnnest = message.startsWith('Cannot group on an UNNEST')
  const token = tokenize(body.text).find((candidate) => {
    if (isOfUnnest) return isUnnest(candidate)
    const text = candidate.kind === 'string' ? candidate.text.slice(1, -1) : nameOf(candidate)
    return text !== null && names.includes(text.toLowerCase())
  })
  return token?.start ?? null
}

/** Keywords that begin or join clauses, for those that are misspelt. */
const clauses = [
  'SELECT',
  'FROM',
  'WHERE',
  'GROUP',
  'ORDER',
  'HAVING',
  'QUALIFY',
  'JOIN',
  'UNION',
  'LIMIT',
  'WITH',
  'DISTINCT',
  'BETWEEN',
]

/** Words that cannot name a table or a column without quotes, and are likely to. */
const reserved = new Set(
  `all and any array as asc both case cast check collate column constraint create default desc distinct do else end
  except false fetch for foreign from group having in initially into lateral leading limit not null offset on only or
  order primary references returning select some symmetric table then to trailing true union unique using variadic when
  where window with`.split(/\s+/),
)

function syntaxHint(error: PlacedError): string | undefined {
  const { message, tokens, at, text } = error
  if (message.startsWith('unterminated quoted string'))
    return "end the text with a single quote; a quote inside it is doubled: 'it''s'"
  if (message.startsWith('unterminated quoted identifier'))
    return 'end the name with a double quote; text goes in single quotes'
  if (message.includes('NOT IMPLEMENTED')) return limitHint(tokens)
  const [here, before] = [tokens[at], tokens[at - 1]]
  if (message.startsWith('Unknown ordered aggregate')) return orderedAggregateHint(error)
  if (isWord(here, 'create') && before !== undefined) return 'a ";" is missing before CREATE'
  if (isSymbol(here, '(') && isWord(before, 'null') && isWord(tokens[at - 2], 'not'))
    return 'a check for this is not_null(column), a condition column IS NOT NULL'
  return (
    otherSyntax(error) ??
    dialectHint(tokens, at) ??
    unclosedCase(tokens, here) ??
    reservedHint(tokens, at) ??
    misspeltHint(tokens, at) ??
    unfinishedHint(tokens, at) ??
    missingBy(here, before) ??
    missingComma(tokens, at, text) ??
    missingAs(tokens, at) ??
    (here === undefined ? endHint(tokens) : undefined)
  )
}

function dialectHint(tokens: readonly Token[], at: number): string | undefined {
  const [here, before] = [tokens[at], tokens[at - 1]]
  const backtick = tokens.findIndex((token) => isSymbol(token, '`'))
  if (backtick >= 0) return namesInQuotes(tokens[backtick + 1])
  if (isSymbol(here, '[')) return namesInQuotes(tokens[at + 1])
  if (isWord(before, 'top') && here?.kind === 'number') return `write LIMIT ${here.text} at the end`
  if (isWord(here, 'apply')) return 'write CROSS JOIN LATERAL (…), or LEFT JOIN LATERAL (…) ON true'
  if (isWord(before, 'at')) return wordAtHint(here)
  if (isWord(here, 'at')) return wordAtHint(tokens[at + 1])
  if (isWord(before, 'minus')) return 'write EXCEPT for MINUS'
  if (isWord(here, 'with') && isSymbol(tokens[at + 1], '('))
    return 'remove hints such as WITH (NOLOCK)'
  const isStar = isSymbol(tokens[at - 3], '*') || isSymbol(tokens[at - 2], '*')
  if (isStar && tokens.slice(at - 2, at).some((token) => isWord(token, 'except')))
    return `write * EXCLUDE (${here?.text ?? '…'})`
  const call = isWord(here, 'as')
    ? tokens.slice(0, at).findLast((_, i) => isSymbol(tokens[i + 1], '('))
    : undefined
  const other = call?.kind === 'word' ? otherFunction(call.text) : undefined
  if (other !== undefined) return `in DuckDB: ${other}`
  const operator = tokens.findIndex(
    (token, i) => i < at && '&|'.includes(token.text) && isNext(tokens, i, token.text),
  )
  if (operator < 0) return undefined
  return isSymbol(tokens[operator], '&') ? 'write AND for &&' : 'write OR; || joins text'
}

/** A column or a table may be named at, or its clause be written otherwise than DuckDB has it: `next` tells. */
function wordAtHint(next: Token | undefined): string | undefined {
  if (isWord(next, 'timezone') || isWord(next, 'zone')) return "write AT TIME ZONE 'UTC'"
  const word = next?.kind === 'word' ? next.text.toLowerCase() : null
  const isName =
    word === null ||
    reserved.has(word) ||
    clauses.includes(word.toUpperCase()) ||
    afterNames.has(word)
  return isName ? 'AT begins a clause of DuckDB; quote the name: "at"' : undefined
}

/** What may follow a name besides. */
const afterNames = new Set(
  'at is like ilike nulls left right inner full cross natural asof'.split(' '),
)

const isNext = (tokens: readonly Token[], i: number, sign: string) =>
  isSymbol(tokens[i + 1], sign) && tokens[i + 1]!.start === tokens[i]!.end

const namesInQuotes = (name: Token | undefined) =>
  `names go in double quotes: "${nameOf(name) ?? 'name'}"`

function limitHint(tokens: readonly Token[]): string | undefined {
  const at = tokens.findLastIndex((token) => isWord(token, 'limit'))
  const [skip, comma, count] = tokens.slice(at + 1)
  if (at < 0 || !isSymbol(comma, ',')) return undefined
  return `write LIMIT ${count?.text} OFFSET ${skip?.text}`
}

function unclosedCase(tokens: readonly Token[], here: Token | undefined): string | undefined {
  const count = (word: string) => tokens.filter((token) => isWord(token, word)).length
  const isAfter = here === undefined || ['from', 'as', 'where'].some((word) => isWord(here, word))
  return isAfter && count('case') > count('end') ? 'a CASE is not closed: add END' : undefined
}

function reservedHint(tokens: readonly Token[], at: number): string | undefined {
  const here = tokens[at]
  const before = tokens[at - 1]
  if (here?.kind !== 'word' || !reserved.has(here.text.toLowerCase())) return undefined
  const isName =
    ['from', 'join', 'select', 'by', 'as'].some((word) => isWord(before, word)) ||
    isSymbol(before, '.') ||
    isSymbol(tokens[at + 1], '.')
  if (!isName) return undefined
  const parts = [here]
  for (let i = at + 1; isSymbol(tokens[i], '.') && tokens[i + 1] !== undefined; i += 2)
    parts.push(tokens[i + 1]!)
  const name = parts.map((part) => `"${nameOf(part) ?? part.text}"`).join('.')
  return `"${here.text}" is a reserved word of SQL; quote it: ${name}`
}

/** A misspelt keyword is taken for a name, so the error is at it or after it. */
function misspeltHint(tokens: readonly Token[], at: number): string | undefined {
  if (at >= tokens.length) return undefined
  for (const i of [at - 1, at]) {
    const token = tokens[i]
    if (token?.kind !== 'word' || token.text.length < 4) continue
    const isPart = isSymbol(tokens[i - 1], '.') || isSymbol(tokens[i + 1], '.')
    const isNamed = ['from', 'join', 'as'].some((word) => isWord(tokens[i - 1], word))
    const word = token.text.toUpperCase()
    const meant = isPart || isNamed || clauses.includes(word) ? null : nearest(word, clauses, 1)
    if (meant !== null) return `did you mean ${meant} for "${token.text}"?`
  }
  return undefined
}

/** A clause that begins before the one above it is complete, or in the wrong order. */
function unfinishedHint(tokens: readonly Token[], at: number): string | undefined {
  const [here, before] = [tokens[at], tokens[at - 1]]
  if (here?.kind !== 'word' || before === undefined) return undefined
  const clause = here.text.toUpperCase()
  const isSetOperation = ['UNION', 'EXCEPT', 'INTERSECT'].includes(clause)
  if (isSetOperation && tokens.slice(0, at).some((token) => isWord(token, 'order')))
    return `ORDER BY comes after the last SELECT of a ${clause}`
  if (!clauses.includes(clause)) return undefined
  const isOpen = ['and', 'or', 'not', 'in', 'like', 'where', 'by', 'on', 'when', 'then'].some(
    (word) => isWord(before, word),
  )
  return isOpen || '=<>+*('.includes(before.text)
    ? `something is missing between ${before.text} and ${here.text}`
    : undefined
}

const missingBy = (here: Token | undefined, before: Token | undefined): string | undefined =>
  ['group', 'order', 'partition'].some((word) => isWord(before, word)) && !isWord(here, 'by')
    ? `write ${before!.text.toUpperCase()} BY`
    : undefined

/** `a b c`: b is taken for a name of a, so the error is at c, often a line too far down. */
function missingComma(tokens: readonly Token[], at: number, text: string): string | undefined {
  const [here, before, first] = [tokens[at], tokens[at - 1], tokens[at - 2]]
  const isName = (token: Token | undefined) => token !== undefined && nameOf(token) !== null
  if (!isName(here) || before === undefined) return undefined
  const startsLine = (token: Token, previous: Token | undefined) =>
    previous !== undefined && text.slice(previous.end, token.start).includes('\n')
  const isValue =
    isName(before) || isSymbol(before, ')') || ['number', 'string'].includes(before.kind)
  if (!isValue || clauses.includes(before.text.toUpperCase())) return undefined
  if (startsLine(before, first) && isName(before))
    return `is a comma missing before ${before.text} or ${here!.text}?`
  return startsLine(here!, before) ? `is a comma missing before ${here!.text}?` : undefined
}

/** Words that name a column only behind AS, and are likely to. */
const namedByAs = new Set(
  `action cost current cycle data database date day days dec decade decades decimal description domain double each event
  float format function group hour hours identity index int integer interval key label language level location match
  method minute minutes mode month months name names no number object option options owner partition percent policy
  position quarter quarters range role row rows schema second seconds session source start storage target text time
  timestamp type types user value version week weeks year years zone`.split(/\s+/),
)

function missingAs(tokens: readonly Token[], at: number): string | undefined {
  const [before, here, next] = [tokens[at - 1], tokens[at], tokens[at + 1]]
  if (here?.kind !== 'word' || before === undefined) return undefined
  if (!namedByAs.has(here.text.toLowerCase()) || clauses.includes(before.text.toUpperCase()))
    return undefined
  const isValue =
    nameOf(before) !== null || isSymbol(before, ')') || ['number', 'string'].includes(before.kind)
  const isEnd = next === undefined || isSymbol(next, ',') || isWord(next, 'from')
  return isValue && isEnd
    ? `"${here.text}" is a word of SQL, which names a column only behind AS: AS ${here.text}`
    : undefined
}

function endHint(tokens: readonly Token[]): string | undefined {
  const open = tokens.filter((token) => isSymbol(token, '(')).length
  const closed = tokens.filter((token) => isSymbol(token, ')')).length
  if (open > closed)
    return open - closed === 1 ? 'a ")" is missing' : `${open - closed} ")" are missing`
  const join = tokens.findLastIndex((token) => isWord(token, 'join'))
  if (
    join >= 0 &&
    !tokens.slice(join).some((token) => isWord(token, 'on') || isWord(token, 'using'))
  )
    return 'a JOIN needs ON or USING'
  const last = tokens.at(-1)
  return last === undefined ? undefined : `something is missing after ${last.text}`
}
