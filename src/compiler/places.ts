// Places that the engine gives, as spans of a model file.

import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import { type Span, offsetOfByte } from '../core/source.ts'
import type { ModelBody } from '../core/sql.ts'
import { didYouMean, nearest } from '../core/suggest.ts'
import type { DatabaseErrorDetails } from '../duckdb/errors.ts'
import { isSymbol, nameOf, tokenize } from './sql/tokens.ts'

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
  return spanAt(body, byte === null ? null : offsetOfByte(body.text, byte))
}

/**
 * A mistake that the engine found in a statement that begins with `prefix` and goes on with `body`.
 * The parser counts characters, all others bytes.
 */
export function engineDiagnostic(
  details: DatabaseErrorDetails,
  body: ModelBody,
  prefix = '',
): Diagnostic {
  const span = spanOfError(details, body, prefix)
  const code = details.type === 'Parser' ? 'sql-syntax' : 'sql-binding'
  const problem = problemOf(details)
  return diagnostic(code, { problem }, { source: body.source, span }, { hint: hintOf(details) })
}

export function spanOfError(
  { type, position, message }: DatabaseErrorDetails,
  body: ModelBody,
  prefix: string,
): Span {
  if (position === null) return spanOfQuotedName(message, body)
  if (type !== 'Parser') return spanAtByte(body, position - Buffer.byteLength(prefix))
  const characters = Array.from(body.text).slice(0, position - Array.from(prefix).length)
  return spanAt(body, characters.join('').length)
}

/** The engine names files by their full path; the author knows them from the project's directory on. */
export function withoutDir(details: DatabaseErrorDetails, dir: string): DatabaseErrorDetails {
  return { ...details, message: details.message.replaceAll(join(dir, '/'), '') }
}

/** The engine's words without what goes into the hint, in one line. */
export function problemOf({ message }: DatabaseErrorDetails): string {
  const [problem = ''] = message.split(/\s*\n+\s*(?:Candidate|Did you mean|LINE \d|Please try)/)
  const line = problem
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/!$/, '')
  return line.length > limits.problemLength ? `${line.slice(0, limits.problemLength)}…` : line
}

function hintOf({ message, name, candidates }: DatabaseErrorDetails): string | undefined {
  const known = candidates.length > 0 ? candidates : quoted(message.split(/\nCandidate/)[1] ?? '')
  const word = name ?? quoted(message).at(message.startsWith('Table ') ? 1 : 0)
  if (known.length === 0) return undefined
  const [first] = known
  if (known.length === 1 && first !== undefined && nearest(word ?? '', known) === null)
    return `did you mean "${first}"?`
  return didYouMean(word ?? '', known) ?? `candidates: ${known.slice(0, 5).join(', ')}`
}

/** Errors without a position mostly name what they are about. */
function spanOfQuotedName(message: string, body: ModelBody): Span {
  const names = quoted(message).map((name) => name.toLowerCase())
  const token = tokenize(body.text).find((candidate) => {
    const text = candidate.kind === 'string' ? candidate.text.slice(1, -1) : nameOf(candidate)
    return text !== null && names.includes(text.toLowerCase())
  })
  return spanAt(body, token?.start ?? null)
}

const quoted = (text: string) => [...text.matchAll(/"((?:[^"]|"")+)"/g)].map(([, name]) => name!)
