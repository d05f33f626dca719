// Which tables may lose their oldest rows though nobody has taken them away: those with `@keep`, and those that a run makes
// of the rows that time, a number of rows or another system leaves. What reads one by periods keeps what has left it.

import { addressingOf } from '../../compiler/lineage/addresses.ts'
import { kinds } from '../../core/kinds.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { keepOf } from '../../core/retention.ts'
import type { RunContext } from '../run-context.ts'

export function mayForget(project: CompiledProject, model: Model): boolean {
  if (keepOf(model) !== null) return true
  const isMirror = model.kind === 'merge' && model.deletes === 'mirror'
  return (!kinds[model.kind].keepsRows || isMirror) && isMadeOfForgotten(project, model)
}

/**
 * Whether nothing is known to be gone that models may have read. Asked once for all of them, unless one has `@keep`: then
 * another run on a lake may note something at any time.
 */
export async function nothingForgotten({
  connection,
  project,
  store,
}: Pick<RunContext, 'connection' | 'project' | 'store'>): Promise<boolean> {
  const hasKeep = () => [...project.models.values()].some((model) => keepOf(model) !== null)
  return !once(project, '@keep', hasKeep) && store.state.changes.forgotten.isEmpty(connection)
}

/** Whether what its query gives may have lost its oldest rows, though its table may keep them. */
export function isMadeOfForgotten(project: CompiledProject, model: Model): boolean {
  if (model.kind === 'events' || model.kind === 'seed') return false
  const { volatile, files, sources, dependsOn } = model
  if (volatile || files.length + sources.length > 0) return true
  // Rows that are made of nothing go by an edit alone.
  if (dependsOn.length === 0) return false
  return once(project, `forgets ${model.name}`, () => {
    return picksRows(project, model) || dependsOn.some((name) => isUnsure(project, name))
  })
}

/** Whether only files or sources can have forgotten rows of it: no model says by the clock, `@keep` or a window which rows go. */
export function isForgottenOutside(project: CompiledProject, model: Model): boolean {
  if (!('sources' in model)) return false
  if (saysWhatGoes(project, model)) return false
  return once(project, `outside ${model.name}`, () => isOfOutside(project, model))
}

/** Whether the model, or what it reads, says itself which rows go: by the clock, `@keep` or a window. */
export function saysWhatGoes(project: CompiledProject, model: Model): boolean {
  if (keepOf(model) !== null || model.volatile) return true
  return once(project, `says ${model.name}`, () => {
    if (project.trails().get(model.name)?.addresses.picks === true) return true
    return forgettingBelow(project, model).some((input) => saysWhatGoes(project, input))
  })
}

function isOfOutside(project: CompiledProject, model: Model): boolean {
  if (model.files.length + model.sources.length > 0) return true
  return forgettingBelow(project, model).some((input) => isOfOutside(project, input))
}

const forgettingBelow = (project: CompiledProject, { dependsOn }: Model): readonly Model[] =>
  dependsOn.flatMap((name) => {
    const input = project.models.get(name)
    return input !== undefined && mayForget(project, input) ? [input] : []
  })

const answers = new WeakMap<CompiledProject, Map<string, boolean>>()

/** Many ways may lead to one model. */
function once(project: CompiledProject, question: string, find: () => boolean): boolean {
  const known = answers.get(project) ?? new Map<string, boolean>()
  answers.set(project, known)
  const answer = known.get(question) ?? find()
  known.set(question, answer)
  return answer
}

/** Whether a row may go because another one has come: also one that is joined to what is added up elsewhere. */
function picksRows(project: CompiledProject, model: Model): boolean {
  const trails = project.trails().get(model.name)
  if (trails === undefined || trails.addresses.picks) return true
  if (trails.uses.length > 1 && model.dependsOn.some((name) => isAddedUp(project, name)))
    return true
  if (model.kind === 'view') return false
  const { inputs, never } = addressingOf(project, model)
  return never !== null || inputs.some(({ because }) => because !== null)
}

function isAddedUp(project: CompiledProject, name: Model['name']): boolean {
  const model = project.models.get(name)
  if (model === undefined || project.trails().get(name)?.isGrouped === true) return true
  return once(project, `adds ${name}`, () =>
    model.dependsOn.some((input) => isAddedUp(project, input)),
  )
}

function isUnsure(project: CompiledProject, name: Model['name']): boolean {
  const input = project.models.get(name)
  return input === undefined || mayForget(project, input)
}
