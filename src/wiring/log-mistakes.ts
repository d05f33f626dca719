// Mistakes in a project as log lines of a long-running process.

import { type Diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import type { Fields, Logger } from '../core/logger.ts'
import { positionOf } from '../core/source.ts'

/** One line for each; for anything else, such as a directory that vanished while it was read, the error itself. */
export function logMistakes(error: unknown, logger: Logger): void {
  for (const fields of mistakes(error)) logger.error('model-mistake', fields)
}

export function logDiagnostics(diagnostics: readonly Diagnostic[], logger: Logger): void {
  for (const fields of diagnostics.map(mistake)) logger.error('model-mistake', fields)
}

function mistakes(error: unknown): readonly Fields[] {
  if (error instanceof DiagnosticsError) return error.diagnostics.map(mistake)
  if (error instanceof UsageError || error instanceof EnvironmentError)
    return [{ message: error.message, ...(error.hint ? { hint: error.hint } : {}) }]
  return [{ error }]
}

function mistake({ code, message, source, span, hint }: Diagnostic): Fields {
  const { line, column } = positionOf(source, span.start)
  return { at: `${source.path}:${line}:${column}`, code, message, ...(hint ? { hint } : {}) }
}
