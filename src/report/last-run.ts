// What the last run failed in, by target/run_results.json: whoever started it, also a person.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { count } from '../core/counts.ts'
import { limits } from '../core/limits.ts'
import type { UpProblem } from '../core/report/up-status.ts'
import type { Results } from '../pipeline/catalog/past-runs.ts'

interface FailedRun {
  readonly runId: string
  readonly problem: UpProblem
}

/** `dir`: where runs of the target write their results. null: the last run did not fail, or there was none. */
export async function failedLastRun(dir: string): Promise<FailedRun | null> {
  const run = await resultsIn(dir)
  if (run === null || run.ok) return null
  const failed = run.models.filter(({ status }) => status === 'failed')
  const skipped = run.models.filter(({ status }) => status === 'skipped').length
  const shown = failed.slice(0, limits.catalogFailures).map(({ model }) => model)
  const left = failed.length - shown.length
  const names = `${shown.join(', ')}${left > 0 ? ` and ${left} more` : ''}`
  const readers = skipped === 0 ? '' : `, and ${count(skipped, 'model')} after it skipped`
  const [first] = failed
  return {
    runId: run.run_id,
    problem:
      first === undefined
        ? {
            message: `the last run, of ${run.started_at}, failed, in no model`,
            next: 'eider run says why',
          }
        : {
            message: `the last run, of ${run.started_at}, failed in ${names}${readers}`,
            next: `eider history ${first.model} says why; fix it, then: eider run`,
          },
  }
}

/** A file that is missing, or half written, says nothing. */
async function resultsIn(dir: string): Promise<Results | null> {
  try {
    const found = JSON.parse(await readFile(join(dir, 'run_results.json'), 'utf8')) as Results
    return Array.isArray(found.models) ? found : null
  } catch {
    return null
  }
}
