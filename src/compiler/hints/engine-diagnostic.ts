// Places that DuckDB gives, as spans of a model file.

import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { type Span, offsetOfByte } from '../../core/source.ts'
import type { ModelBody } from '../../core/sql.ts'
import type { DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { explainBinding, typographicQuote } from './binding.ts'
import { problemOf, quotedNames, type Explanation, type PlacedError } from './engine-words.ts'
import { syntaxHint } from './syntax.ts'
import { isSymbol, nameOf, tokenize, withAsciiSpaces } from '../sql/tokens.ts'

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
  typographicQuote(error.tokens) ?? { problem: problemOf(error), hint: syntaxHint(error) }

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
  const token = tokenize(body.text).find((candidate) => {
    const text = candidate.kind === 'string' ? candidate.text.slice(1, -1) : nameOf(candidate)
    return text !== null && names.includes(text.toLowerCase())
  })
  return token?.start ?? null
}
