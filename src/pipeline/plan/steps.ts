// The steps of a run, one for each selected model, in DAG order: what `ls`, `plan` and `plan --diff` show
// and `run` executes. Who executes them may only narrow the list: a model whose inputs turn out not to have changed is
// left as it is, and what reads a model that fails on its rows is skipped.

import { type Diagnostic, lineOf } from '../../core/diagnostics.ts'
import type { FailedModel } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { FailedModels, whyUnchanged } from '../results.ts'
import { kinds } from '../../core/kinds.ts'
import type { Step } from '../../core/step.ts'
import type { RunContext } from '../run-context.ts'
import { type Asked, decide, type Decision, decideAll, type PlanProgress } from './decide.ts'
import { assess } from './refusals.ts'
import { staleInputs } from './source-age.ts'

/** Why a model cannot be built; it comes before anything else that is known of it. */
export interface EarlyFailure {
  readonly problem: string
  readonly diagnostics?: readonly Diagnostic[]
}

export type EarlyFailures = ReadonlyMap<ModelName, EarlyFailure>

/** `failed`: refuseEvents(), and in a run what its flush could not do. */
export async function planSteps(
  context: RunContext,
  asked: Asked & { readonly failed: EarlyFailures },
): Promise<readonly Step[]> {
  const failures = new FailedModels()
  const steps: Step[] = []
  for (const decision of decideAll(context, asked)) {
    const { name } = decision.model
    const step = await planStep(context, decision, asked.failed.get(name), failures)
    if (step.problem !== null) failures.add(name)
    steps.push(step)
  }
  return steps
}

/** Selected models that cannot be built; they come after the others. */
export function uncompiledSteps({
  chosen,
  project,
}: Pick<RunContext, 'chosen' | 'project'>): readonly Step<FailedModel>[] {
  const failed = [...project.failed.values()].filter(({ name }) => chosen.has(name))
  return failed.map((model) => {
    const { mistakes: diagnostics, failedBy } = model
    const [first] = diagnostics
    const rest = {
      model,
      slice: 'whole',
      runs: 'here',
      diagnostics,
      warnings: [],
      losses: [],
    } as const
    return first === undefined
      ? { ...rest, action: 'skip', because: `${failedBy} fails`, problem: null }
      : { ...rest, action: 'build', because: 'does not compile', problem: lineOf(first) }
  })
}

/**
 * The events models that a run would not flush, as messages with places. Checked for all, since a flush looks at
 * each of their tables.
 */
export async function refuseEvents(context: RunContext): Promise<EarlyFailures> {
  const refused = new Map<ModelName, EarlyFailure>()
  for (const name of context.selected) {
    const model = context.project.models.get(name)!
    if (model.kind !== 'events') continue
    const { problem } = await assess(context, model, 'whole')
    if (problem !== null) refused.set(name, { problem })
  }
  return refused
}

/** The step once the models before it are built: there may be less to do than was planned. Call in DAG order. */
export function narrow(
  context: RunContext,
  step: Step,
  progress: PlanProgress,
  failed: FailedModels,
): Step {
  const { model, slice, action, problem } = step
  const root = failed.upstreamOf(model)
  if (root !== null)
    return { ...step, action: 'skip', because: `${root} fails`, problem: null, losses: [] }
  if (action !== 'build' || problem !== null) return step
  const { because } = decide(context, model, slice, progress)
  if (because !== null) return { ...step, because }
  return { ...step, action: 'unchanged', because: whyUnchanged(model), losses: [] }
}

async function planStep(
  context: RunContext,
  { model, slice, because }: Decision,
  failed: EarlyFailure | undefined,
  failures: FailedModels,
): Promise<Step> {
  const warnings = staleInputs(model, context.sourceAges, 'warn')
  const { runs } = kinds[model.kind]
  const rest = { model, slice, runs, problem: null, diagnostics: [], warnings, losses: [] }
  const reason = because ?? whyUnchanged(model)
  if (failed !== undefined)
    return { ...rest, diagnostics: [], ...failed, action: 'build', because: reason }
  const root = failures.upstreamOf(model)
  if (root !== null) return { ...rest, action: 'skip', because: `${root} fails` }
  const [stale] = staleInputs(model, context.sourceAges, 'error')
  if (stale !== undefined) return { ...rest, action: 'build', because: reason, problem: stale }
  if (because === null) return { ...rest, action: 'unchanged', because: reason }
  // Events models have been checked already.
  const assessment = model.kind === 'events' ? {} : await assess(context, model, slice)
  return { ...rest, action: 'build', because, ...assessment }
}
