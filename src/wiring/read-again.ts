// A project that a long-running process reads again: in time, and with its mistakes as log lines.

import { type Diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Fields, Logger } from '../core/logger.ts'
import { positionOf } from '../core/source-text.ts'
import type { Project } from '../project/project.ts'

/**
 * Throws EnvironmentError `project-unreadable` after the time for it: a change that comes meanwhile would wait too. The
 * reading itself cannot be cancelled.
 */
export function loadInTime(load: () => Promise<Project>): Promise<Project> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), limits.reloadMs)
    void load()
      .finally(() => clearTimeout(timer))
      .then(resolve, reject)
  })
}

const tooSlow = () =>
  new EnvironmentError(
    'project-unreadable',
    `the files of the project could not be read within ${limits.reloadMs / 1000} s`,
    { hint: 'check the disk that they are on' },
  )

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
