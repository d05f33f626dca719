// Whether the rows of a set can be trusted: from when they are, when they were looked at last, what their checks say, and
// what failed since. All of it is in the catalog, so nothing is asked.

import type { Catalog, CatalogCheck, CatalogModel, CatalogState } from '../../../core/catalog.ts'
import { rowsFoundIn } from '../../../core/report/check-result.ts'

/** `failed`: it, or what it reads, failed since its rows were made. `unknown`: no remembered run was about it. */
export type Verdict = 'good' | 'warned' | 'failed' | 'unknown'

export interface CheckResult extends CatalogCheck {
  /** `unknown`: the last run did not come to it. */
  readonly result: 'holds' | 'found' | 'unknown'
  /** How many rows it found, as the run wrote it. */
  readonly rows: string | null
}

export interface Trust {
  readonly verdict: Verdict
  /** The start of the run that made the rows; null where that is not known. */
  readonly rowsOf: { readonly at: string; readonly runId: string | null } | null
  /** The last run in which the rows were as they should be, also when it had nothing to do. */
  readonly checkedAt: string | null
  /** When it failed itself, and the run; null where it did not. */
  readonly failed: Pick<CatalogState, 'at' | 'run_id' | 'because'> | null
  readonly checks: readonly CheckResult[]
  /** What a run warned of besides its checks. */
  readonly warnings: readonly string[]
  /** With `odata.explorer: sets` it is known that checks warned, and not which. */
  readonly warned: number
  /** Models before it that failed since its rows were made. */
  readonly upstream: readonly string[]
  readonly owner: string | null
  readonly tags: readonly string[]
  /** Seconds that it may be behind what has arrived, where it is further behind. */
  readonly lateBy: number | null
}

type Known = Pick<Catalog, 'models' | 'states' | 'runs'>

export function trustOf(catalog: Known, name: string, freshAt: string | null): Trust {
  const model = catalog.models.find((one) => one.name === name)
  const state = catalog.states[name]
  const upstream = failedBefore(catalog)(name)
  const failed = state?.status === 'failed' ? state : null
  const { checks, warnings } = resultsOf(model?.checks ?? [], state)
  return {
    verdict: verdictOf(state, upstream),
    rowsOf: rowsOf(catalog, state),
    checkedAt: checkedAt(state, upstream, freshAt),
    failed,
    checks,
    warnings,
    warned: state?.warned ?? 0,
    upstream,
    owner: model?.owner ?? null,
    tags: model?.tags ?? [],
    lateBy: lateBy(state, freshAt),
  }
}

/** The verdicts of all models at once, for lists of them. */
export function verdicts(catalog: Known): (model: string) => Verdict {
  const before = failedBefore(catalog)
  return (name) => verdictOf(catalog.states[name], before(name))
}

function verdictOf(state: CatalogState | undefined, upstream: readonly string[]): Verdict {
  if (state?.status === 'failed' || upstream.length > 0) return 'failed'
  if (state === undefined) return 'unknown'
  return state.warned > 0 ? 'warned' : 'good'
}

/** Failed models that a model reads, itself or by way of others. */
function failedBefore({ models, states }: Known): (name: string) => readonly string[] {
  // The catalog has each model after all that it reads.
  const known = new Map<string, readonly string[]>()
  const none: readonly string[] = []
  for (const { name, depends_on: reads } of models) {
    const found = reads.flatMap((read) =>
      states[read]?.status === 'failed'
        ? [read, ...(known.get(read) ?? none)]
        : (known.get(read) ?? none),
    )
    known.set(name, found.length === 0 ? none : [...new Set(found)])
  }
  return (name) => known.get(name) ?? none
}

function rowsOf({ runs }: Known, state: CatalogState | undefined): Trust['rowsOf'] {
  const at = state?.builds[0]?.at
  if (at === undefined) return null
  return { at, runId: runs.find(({ started_at: started }) => started === at)?.run_id ?? null }
}

function checkedAt(
  state: CatalogState | undefined,
  upstream: readonly string[],
  freshAt: string | null,
): string | null {
  if (state === undefined) return null
  const isWell = (state.status === 'built' || state.status === 'unchanged') && upstream.length === 0
  const times = [state.fresh_at, isWell ? state.at : undefined, isWell ? freshAt : undefined]
  return times.reduce<string | null>(
    (last, at) => (at != null && (last === null || at > last) ? at : last),
    null,
  )
}

function lateBy(state: CatalogState | undefined, freshAt: string | null): number | null {
  if (state?.fresh_within === undefined || state.fresh_at === undefined) return null
  const at = freshAt !== null && freshAt > state.fresh_at ? freshAt : state.fresh_at
  const seconds = Math.round((Date.now() - Date.parse(at)) / 1_000)
  return seconds > state.fresh_within ? seconds : null
}

/** What the texts of a run say of each check. */
export function resultsOf(
  checks: readonly CatalogCheck[],
  state: Pick<CatalogState, 'status' | 'because' | 'warnings'> | undefined,
): Pick<Trust, 'checks' | 'warnings'> {
  if (state === undefined)
    return {
      checks: checks.map((check) => ({ ...check, result: 'unknown', rows: null })),
      warnings: [],
    }
  const failures = state.status === 'failed' ? state.because : ''
  const others = new Set(state.warnings)
  const found = checks.map((check) => {
    const texts = check.severity === 'fail' ? [failures] : state.warnings
    for (const text of texts) {
      const rows = rowsFoundIn(text, check)
      if (rows === null) continue
      others.delete(text)
      return { ...check, result: 'found' as const, rows }
    }
    return { ...check, result: null, rows: null }
  })
  const isFound = found.some(({ result, severity }) => result === 'found' && severity === 'fail')
  const result = ({ severity }: CatalogCheck) => {
    if (state.status === 'built' || state.status === 'unchanged') return 'holds'
    // A run comes to all checks of a model or to none, and says nothing of warnings where it fails.
    return isFound && severity === 'fail' ? 'holds' : 'unknown'
  }
  return {
    checks: found.map((one) => ({ ...one, result: one.result ?? result(one) })),
    warnings: [...others],
  }
}

/** The checks of a model, with what its last run says of them. */
export const checksOf = ({ states }: Known, model: CatalogModel) =>
  resultsOf(model.checks, states[model.name]).checks
