// Failures as text, as events, and as exit codes: 1 project, 2 usage, 3 environment, 70 bug (docs/commands.md).

import { type Diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { hintOfSystem, problemOfSystem, systemProblem } from '../files/system-errors.ts'
import { positionOf } from '../core/source-text.ts'
import { wrap } from './cells.ts'
import { type Look, plainLook } from './paint.ts'
import { showDiagnostic } from './show-diagnostic.ts'

const BUG = 70
/** The path that compiler/sql/query-text.ts gives to what somebody typed. */
const TYPED_QUERY = 'query'

export function exitCodeOf(thrown: unknown): number {
  const error = firstOf(thrown)
  if (error instanceof DiagnosticsError) return 1
  if (error instanceof UsageError) return 2
  if (error instanceof EnvironmentError) return 3
  if (isRefusedFile(error)) return 3
  // What oclif throws: usage errors carry 2, `this.exit(n)` carries n.
  return (error as { oclif?: { exit?: number } } | undefined)?.oclif?.exit ?? BUG
}

/** What went wrong first, where something else did while that was cleared up. */
function firstOf(error: unknown): unknown {
  const { name, suppressed } = (error ?? {}) as Partial<SuppressedError>
  return name === 'SuppressedError' ? firstOf(suppressed) : error
}

/** What the system refuses is not a bug: files of another user, a disk that is full or read-only. */
function isRefusedFile(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  // For a file that is missing, or exists already, eider's own expectation was wrong.
  if (code === 'ENOENT' || (code === 'EEXIST' && syscall !== 'mkdir')) return false
  return systemProblem(error) !== null
}

/** Text for people; empty when the exit code says it all. The stack is shown only with `verbose`. */
export function showFailure(
  thrown: unknown,
  options: { readonly verbose: boolean },
  look: Look = plainLook,
): string {
  const error = firstOf(thrown)
  const { paint, columns } = look
  if (isExit(error)) return ''
  if (error instanceof DiagnosticsError) {
    const shown = error.diagnostics.map((diagnostic) => showDiagnostic(diagnostic, look))
    const errors = errorsIn(error)
    const total = paint('red', `${errors} ${errors === 1 ? 'error' : 'errors'}`)
    return [...shown, total].join('\n\n')
  }
  if (exitCodeOf(error) === BUG) return bugReport(error, options.verbose)
  const hint = hintOf(error)
  const shown = [paragraph(`${paint('red', 'error:')} ${messageOf(error)}`, columns)]
  if (hint !== undefined) shown.push(paragraph(`${paint('cyan', 'hint:')} ${hint}`, columns))
  return shown.join('\n')
}

/** The same as JSON, one event a line. */
export function failureEvents(thrown: unknown): string {
  const error = firstOf(thrown)
  if (isExit(error)) return ''
  if (error instanceof DiagnosticsError) {
    const lines = diagnosticEvents(error.diagnostics)
    const errors = errorsIn(error)
    const isQuery = error.diagnostics.every(({ source }) => source.path === TYPED_QUERY)
    const code = isQuery ? 'query-mistakes' : 'project-mistakes'
    return [...lines, JSON.stringify({ event: 'failed', code, errors })].join('\n')
  }
  const { code } = error as { code?: string }
  return JSON.stringify({
    event: 'error',
    code: isRefusedFile(error)
      ? 'file-failed'
      : (code ?? (exitCodeOf(error) === BUG ? 'bug' : 'usage')),
    message: messageOf(error),
    hint: hintOf(error),
  })
}

export const diagnosticEvents = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  diagnostics.map(({ code, severity, message, source, span, hint }) => {
    const { line, column } = positionOf(source, span.start)
    const place = { file: source.path, line, column }
    return JSON.stringify({ event: 'diagnostic', severity, code, message, ...place, hint })
  })

const errorsIn = ({ diagnostics }: DiagnosticsError): number =>
  diagnostics.filter(({ severity }) => severity === 'error').length

/** A message may have lines of its own, such as a list. */
const paragraph = (text: string, columns: number): string =>
  text
    .split('\n')
    .map((one) => wrap(one, columns, 2))
    .join('\n')

const hintOf = (error: unknown): string | undefined =>
  isRefusedFile(error) ? hintOfSystem(error) : (error as { hint?: string }).hint

function bugReport(error: unknown, verbose: boolean): string {
  const head = `error: this is a bug in eider: ${messageOf(error)}`
  if (!verbose) return `${head}\nhint: run again with --verbose and report what it prints`
  return `${head}\n${error instanceof Error ? error.stack : ''}`
}

const isExit = (error: unknown) => (error as { code?: string } | undefined)?.code === 'EEXIT'
const messageOf = (error: unknown) => {
  if (isRefusedFile(error)) return problemOfSystem(error)
  return error instanceof Error ? error.message : String(error)
}
