// What the last run did, by target/run_results.json.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

interface Result {
  readonly model: string
  readonly status: string
  readonly rows?: number
}

const known = new Map<string, { readonly stamp: string; readonly models: readonly Result[] }>()

/** One line, such as `8 rows in the last run`; null: it did not touch the model, or there was none. */
export function lastRunOf(target: string, model: string): string | null {
  const found = resultsIn(join(target, 'run_results.json')).find((result) => result.model === model)
  if (found === undefined) return null
  if (found.status !== 'built') return `${found.status} in the last run`
  if (found.rows === undefined) return 'built in the last run'
  return `${found.rows} ${found.rows === 1 ? 'row' : 'rows'} in the last run`
}

/** A file that is missing, or half written, says nothing. */
function resultsIn(file: string): readonly Result[] {
  try {
    const { mtimeMs, size } = statSync(file)
    const stamp = `${mtimeMs} ${size}`
    const before = known.get(file)
    if (before?.stamp === stamp) return before.models
    const { models = [] } = JSON.parse(readFileSync(file, 'utf8')) as { models?: Result[] }
    known.set(file, { stamp, models })
    return models
  } catch {
    return []
  }
}
