// The selectors of a schedule are looked up before anything starts: in another process, since the engine that compiles
// would stay in the memory of this one.

import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { Schedule } from '../core/schedule.ts'
import { positionOf } from '../core/source-text.ts'
import { Child, type Program } from './child.ts'

interface Found {
  readonly event: string
  readonly code?: string
  readonly message?: string
  readonly line?: number
  readonly column?: number
  readonly hint?: string
}

/** Throws DiagnosticsError for those that no model matches. Other mistakes are for the runs to tell. */
export async function checkSchedule({ runs, source }: Schedule, check: Program): Promise<void> {
  const written = runs.flatMap(({ name, select, exclude }) =>
    [...select, ...exclude].map(({ span }) => ({ name, span, ...positionOf(source, span.start) })),
  )
  if (written.length === 0) return
  const found: Found[] = []
  const read = (line: string) => {
    if (line.includes('"schedule-selector"')) found.push(JSON.parse(line) as Found)
  }
  await Child.start(check, { onResult: read, onLog: () => {} }).ended
  const mistakes = found.flatMap(({ message = '', hint, line, column }) => {
    const selector = written.find((one) => one.line === line && one.column === column)
    if (selector === undefined) return []
    const { name: run, span } = selector
    const problem = message.slice(message.indexOf(': ') + 2)
    return [diagnostic('schedule-selector', { run, problem }, { source, span }, hint)]
  })
  if (mistakes.length > 0) throw new DiagnosticsError(mistakes)
}
