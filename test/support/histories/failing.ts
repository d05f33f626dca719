// Models that cannot be built.

import type { Check, CompiledProject } from '../../../src/core/model.ts'

const failing: Check = {
  severity: 'fail',
  text: 'none',
  span: { start: 0, end: 0 },
  test: { is: 'row_count', comparison: '=', rows: 0 },
}

/** With a check of these models that no rows pass. */
export function failingIn(project: CompiledProject, names: readonly string[]): CompiledProject {
  const models = Array.from(project.models, ([name, model]) => {
    return [name, names.includes(name) ? { ...model, checks: [failing] } : model] as const
  })
  return { ...project, models: new Map(models) }
}
