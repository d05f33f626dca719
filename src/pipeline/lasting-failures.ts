// Failures that the next run would meet again, as long as nothing that it depends on has changed: models that do not compile,
// values that a table or a view cannot have, and checks that do not hold. A failure that the machine, the time, a flag of the command or other rows
// of a history have a part in may be gone by then.

import { isVolatile, isVolatileWord } from '../compiler/sql/engine-functions.ts'
import { nameOf, tokenize } from '../compiler/sql/tokens.ts'
import type { Check, CompiledProject, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { RunSummary } from '../core/report/progress.ts'
import { readsVolatile } from '../core/with-views.ts'
import { DatabaseError } from '../duckdb/errors.ts'
import { ModelFailure } from './failure.ts'

/** A model that failed or was skipped, and why it was to be built; null: it was skipped, or does not compile. */
export type LastingFailure = readonly [model: ModelName, startedBecause: string | null]

const OF_VALUES = ['Constraint', 'Conversion', 'Invalid Input', 'Out of Range']

/** Whether what building a model has ended with is said of its rows. */
export const isOfRows = (error: unknown): boolean =>
  error instanceof ModelFailure ||
  (error instanceof DatabaseError && OF_VALUES.includes(error.details.type))

/** `ofRows`: failed for their rows, with why they were built. null: the next run may end otherwise. */
export function lastingFailures(
  project: CompiledProject,
  { models }: Pick<RunSummary, 'models'>,
  ofRows: ReadonlyMap<ModelName, string>,
): readonly LastingFailure[] | null {
  const found: LastingFailure[] = []
  const skips = new Set(
    [...ofRows.keys(), ...project.failed.keys()].map((name) => `${name} failed`),
  )
  for (const { model: name, status, because } of models) {
    if (status === 'built' || status === 'unchanged') continue
    const started = ofRows.get(name) ?? null
    const isSkipped = project.failed.has(name) || (status === 'skipped' && skips.has(because))
    if (!isSkipped && (started === null || !lasts(project, project.models.get(name)))) return null
    found.push([name, isSkipped ? null : started])
  }
  return found
}

function lasts(project: CompiledProject, model: Model | undefined): boolean {
  if (model === undefined || !['table', 'view', 'seed'].includes(model.kind)) return false
  const macros = new Set(project.macros.map(({ body }) => nameOf(tokenize(body.text)[0])))
  const asks = (check: Check) => textsOf(check).some((text) => asksOthers(text, macros))
  return !readsVolatile(project, model) && !model.checks.some(asks)
}

const textsOf = ({ text, test, where }: Check): readonly string[] => [
  text,
  ...('body' in test ? [test.body.text] : []),
  ...(where === undefined ? [] : [where.text]),
]

/** By its words alone: a column with such a name only costs a start of the engine. What a macro asks is not looked at. */
function asksOthers(text: string, macros: ReadonlySet<string | null>): boolean {
  const words = tokenize(text).flatMap((token) => nameOf(token)?.toLowerCase() ?? [])
  return words.some(
    (word) =>
      isVolatile(word, 0) || isVolatile(word, 1) || isVolatileWord(word) || macros.has(word),
  )
}
