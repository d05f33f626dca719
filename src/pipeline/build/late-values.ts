// Sources whose later rows have values that their types cannot hold: a compile looks at the first rows alone.

import { lateValues } from '../../compiler/sources/late-values.ts'
import { lineOf } from '../../core/diagnostics.ts'
import type { Step } from '../../core/step.ts'
import type { RunContext } from '../run-context.ts'

/** The steps, of which those fail that would read such a value. Reads files that are about to be read. */
export async function refuseLateValues(
  { connection, paths, project }: Pick<RunContext, 'connection' | 'paths' | 'project'>,
  steps: readonly Step[],
): Promise<readonly Step[]> {
  const willRead = ({ action, problem }: Step) => action === 'build' && problem === null
  const names = new Set(steps.filter(willRead).flatMap(({ model }) => model.sources))
  if (names.size === 0) return steps
  const found = await lateValues(connection, paths.dir, project, names)
  return steps.map((step) => {
    const wrong = willRead(step) ? step.model.sources.find((name) => found.has(name)) : undefined
    if (wrong === undefined) return step
    const late = found.get(wrong)!
    return { ...step, problem: `${lineOf(late)}; ${late.hint}` }
  })
}
