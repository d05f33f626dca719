// Which models a run is about: all, those that were selected, or those of them that did not succeed last time.

import { isModified } from './plan/decide.ts'
import { type Models, type Selection, select } from '../compiler/select.ts'
import type { ModelName } from '../core/names.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { textOf } from '../duckdb/values.ts'
import type { RunContext } from './run-context.ts'

export interface RunSelection extends Selection {
  /** Only what failed or was skipped in the last run. */
  readonly retry: boolean
}

/** In the order of `models`. Throws UsageError for a selector that can never match. */
export async function chooseModels(
  context: Pick<RunContext, 'connection' | 'state' | 'fileHashes'>,
  models: Models,
  selection: RunSelection,
): Promise<ReadonlySet<ModelName>> {
  const selected = select(models, selection, (model) => isModified(model, context))
  if (!selection.retry) return selected
  const unfinished = await unfinishedModels(context.connection)
  return new Set([...selected].filter((name) => unfinished.has(name)))
}

async function unfinishedModels(connection: Connection): Promise<ReadonlySet<string>> {
  const last = await connection.row(
    sql`SELECT summary FROM _eider.runs ORDER BY started_at DESC, finished_at DESC LIMIT 1`,
  )
  if (last === null) return new Set()
  const { models } = JSON.parse(textOf(last['summary'])) as {
    models: readonly { readonly model: string; readonly status: string }[]
  }
  const unfinished = models.filter(({ status }) => status === 'failed' || status === 'skipped')
  return new Set(unfinished.map(({ model }) => model))
}
