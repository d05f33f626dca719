// Which models a run is about: all, those that were selected, or those of them that did not succeed last time, with what
// was edited since among that which they read.

import { reach } from '../compiler/graph.ts'
import { editOf, type Manifest } from './catalog/earlier-manifest.ts'
import { isModified } from './plan/decide.ts'
import { type Models, type Selection, select } from '../compiler/select.ts'
import type { Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { textOf } from '../duckdb/values.ts'
import type { RunContext } from './run-context.ts'

export interface RunSelection extends Selection {
  /** Only what failed or was skipped in the last run, and what was edited upstream of it. */
  readonly retry: boolean
  /** What `state:modified` compares with; what was built last when absent. */
  readonly against?: Manifest | undefined
}

/** In the order of `models`. Throws UsageError for a selector that can never match. */
export async function chooseModels(
  context: Pick<RunContext, 'connection' | 'state' | 'fileHashes'>,
  models: Models,
  selection: RunSelection,
): Promise<ReadonlySet<ModelName>> {
  const isEdited = (model: Model) => isModified(model, context)
  const { against } = selection
  const isSelected =
    against === undefined
      ? isEdited
      : (model: Model) => editOf(model, against, context.fileHashes) !== null
  const selected = select(models, selection, isSelected)
  if (!selection.retry) return selected
  const names = await unfinishedModels(context.connection)
  const unfinished = new Set([...models.keys()].filter((name) => names.has(name)))
  const retried = withEdited(models, unfinished, isEdited)
  return new Set([...selected].filter((name) => retried.has(name)))
}

/** A failure is often mended in a seed or a model before the one that failed. */
function withEdited(
  models: Models,
  unfinished: ReadonlySet<ModelName>,
  isEdited: (model: Model) => boolean,
): ReadonlySet<ModelName> {
  const before = reach(unfinished, (name) => models.get(name)?.dependsOn ?? [])
  const taken = new Set(unfinished)
  for (const [name, model] of models) {
    if (!before.has(name) && !unfinished.has(name)) continue
    const isMended = 'mistakes' in model || isEdited(model)
    if (isMended || model.dependsOn.some((input) => taken.has(input))) taken.add(name)
  }
  return taken
}

async function unfinishedModels(connection: Connection): Promise<ReadonlySet<string>> {
  const last = await connection.row(
    sql`SELECT summary FROM _eider.runs WHERE summary->>'command' IS NULL ORDER BY started_at DESC, finished_at DESC LIMIT 1`,
  )
  if (last === null) return new Set()
  const { models } = JSON.parse(textOf(last['summary'])) as {
    models: readonly { readonly model: string; readonly status: string }[]
  }
  const unfinished = models.filter(({ status }) => status === 'failed' || status === 'skipped')
  return new Set(unfinished.map(({ model }) => model))
}
