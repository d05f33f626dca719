import type { Catalog, CatalogRun, CatalogState } from '../../../core/catalog.ts'
import { groupDigits } from '../model/show.ts'

export const STRIP_RUNS = 50

export function stripOf(runs: readonly CatalogRun[]) {
  const last = runs.slice(0, STRIP_RUNS).toReversed()
  const longest = Math.max(1, ...last.map(({ ms }) => ms))
  // A share of the longest run in the strip: 0 to 1.
  return last.map((run) => ({ run, height: run.ms / longest }))
}

export function stripSentence(runs: readonly CatalogRun[]): string {
  const last = runs.slice(0, STRIP_RUNS)
  const failed = last.filter(({ ok }) => !ok).length
  const usual = median(last.map(({ ms }) => ms))
  const count = last.length === 1 ? 'The only run' : `The last ${last.length} runs`
  const time = last.length < LEAST_FOR_USUAL ? '' : `, usually ${showMs(usual)}`
  return `${count}: ${failed === 0 ? 'none' : failed} failed${time}`
}

/** Of fewer nobody can say what is usual. */
const LEAST_FOR_USUAL = 5

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}

/** "140 ms", "4.2 s", "3 min 20 s", "2 h 5 min". */
export function showMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Empty where nothing was done. What went wrong comes first. */
export function countsOf(run: CatalogRun): string {
  const counts: readonly (readonly [number, string])[] = [
    [run.failed, 'failed'],
    [run.built, 'built'],
    [run.unchanged, 'unchanged'],
    [run.skipped, 'skipped'],
    [run.warned, run.warned === 1 ? 'warning' : 'warnings'],
    [run.events, run.events === 1 ? 'event' : 'events'],
    [run.rejected, 'rejected'],
  ]
  const said = counts.filter(([count]) => count > 0)
  return said.map(([count, what]) => `${groupDigits(count)} ${what}`).join(', ')
}

export interface ModelOfRun {
  readonly model: string
  readonly status: CatalogState['status']
  readonly because: string
  /** undefined where nothing was written. */
  readonly rows: number | undefined
  readonly ms: number
  readonly warnings: readonly string[]
}

const order = ['failed', 'built', 'skipped', 'unchanged'] as const

/** null for a run that is not remembered. What went wrong comes first, what took long before what did not. */
export function runDetails(
  { runs, last_run: last, states }: Pick<Catalog, 'runs' | 'last_run' | 'states'>,
  id: string,
) {
  const run = runs.find(({ run_id }) => run_id === id)
  if (run === undefined) return null
  const isWhole = last !== null && last.run_id === id
  const models = isWhole
    ? last.models.map((one) => ({ ...one, rows: one.rows, warnings: one.warnings ?? [] }))
    : Object.entries(states)
        .filter(([, state]) => state.run_id === id)
        .map(([model, state]) => ({
          ...state,
          model,
          rows: state.builds.find(({ at }) => at === state.at)?.rows ?? undefined,
        }))
  const rank = ({ status }: ModelOfRun) => order.indexOf(status)
  return {
    run,
    // Of older runs only those models are known that no later run was about.
    isWhole,
    models: models.toSorted((a, b) => rank(a) - rank(b) || b.ms - a.ms),
    flushed: isWhole ? last.flushed : [],
  }
}
