// Selectors of `schedule` that no model matches: found when the models are known.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import type { Schedule } from '../core/schedule.ts'
import { checkSelection, type Models } from './select.ts'

export function scheduleMistakes(
  { runs, source }: Schedule,
  models: Models,
): readonly Diagnostic[] {
  return runs.flatMap(({ name, select, exclude }) =>
    [...select, ...exclude].flatMap(({ text, span }) => {
      const problem = problemOf(text, models)
      if (problem === null) return []
      const { message, hint = 'eider ls lists the models' } = problem
      const parameters = { run: name, problem: message }
      return [diagnostic('schedule-selector', parameters, { source, span }, hint)]
    }),
  )
}

function problemOf(selector: string, models: Models): UsageError | null {
  try {
    checkSelection(models, { include: [selector], exclude: [] })
    return null
  } catch (error) {
    if (error instanceof UsageError) return error
    throw error
  }
}
