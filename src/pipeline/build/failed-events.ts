// A table of events of which a check fails: its rows stay, since those who sent them think them safe. So its history says
// what has come, and rows that are too old go as in any other run: nobody may keep them longer for a mistake in others.

import type { ModelResult } from '../../core/report/progress.ts'
import type { Step } from '../../core/step.ts'
import { isConflict } from '../../duckdb/errors.ts'
import type { RunResults } from '../results.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { removeOldRows } from './old-rows.ts'
import { changesOf } from './table-changes.ts'

/** The fingerprint of a table whose check has failed since it changed: the next run looks again. */
const UNCHECKED = 'unchecked'

/** After the transaction of the check was rolled back. Of other kinds nothing has changed, and nothing is said. */
export async function changesOfFailed(
  context: RunContext,
  results: RunResults,
  step: Step,
): Promise<Pick<ModelResult, 'changes'>> {
  const { model } = step
  if (model.kind !== 'events') return {}
  const added = results.flushed.get(model.name)?.events ?? 0
  const removed = await removeAfterFailure(context, step)
  if (added + removed === 0) return {}
  return changesOf(context, step, { counts: { added, changed: 0, removed } })
}

async function removeAfterFailure(context: RunContext, { model }: Step): Promise<number> {
  const { connection, store, runId, oldRows } = context
  const record = recordOf(context, model)
  if (record === null || !oldRows.has(model.name)) return 0
  try {
    return await store.state.change(connection, async () => {
      const { version } = record
      await store.state.recordModels(connection, runId, [
        { model, fingerprint: UNCHECKED, version },
      ])
      return removeOldRows(context, model)
    })
  } catch (error) {
    // Another process writes the table, so the next run removes them.
    if (isConflict(error)) return 0
    throw error
  }
}
