// What a run has done to a table, as the history of the table tells it.

import { kinds } from '../../core/kinds.ts'
import { foldCase } from '../../core/names.ts'
import type { ChangeWay, ModelResult } from '../../core/report/progress.ts'
import { keepOf } from '../../core/retention.ts'
import { sql } from '../../core/sql.ts'
import type { Step } from '../../core/step.ts'
import type { RunContext } from '../run-context.ts'
import type { Built, RowCounts } from './materialize/materialization.ts'
import { countRows } from './materialize/relation.ts'

/** In the transaction that has built it; of a view nothing is said. */
export async function changesOf(
  { connection, catalog }: RunContext,
  step: Step,
  { rows, counts }: { readonly rows?: number | undefined; readonly counts?: RowCounts | undefined },
): Promise<Pick<ModelResult, 'changes'>> {
  const { model } = step
  if (kinds[model.kind].relation === 'view') return {}
  const isWhole = counts === undefined
  // What was made from nothing has the rows that the build has counted.
  // Of one that was updated the build knows them too; of other kinds it says how many it has written.
  const isKnown = isWhole || model.kind === 'table'
  const isCounted = isKnown && rows !== undefined && keepOf(model) === null
  const after = isCounted ? rows : await countRows(connection, sql.relation(model.name))
  catalog.rows?.set(foldCase(model.name), after)
  return {
    changes: {
      way: wayOf(step, isWhole),
      rows_in: isWhole ? after : counts.added,
      rows_changed: isWhole ? null : counts.changed,
      rows_out: isWhole ? null : counts.removed,
      rows_after: after,
      definition: model.definition,
    },
  }
}

function wayOf({ model, slice }: Step, isWhole: boolean): ChangeWay {
  if (model.kind === 'events') return 'flush'
  if (isWhole) return 'rebuild'
  return slice === 'whole' ? 'update' : 'backfill'
}

/** Rows that went since they are too old, besides those of the build. */
export function removedToo({ counts }: Built, removed: number): Partial<Built> {
  if (counts !== undefined) return { counts: { ...counts, removed: counts.removed + removed } }
  return {}
}

/** Adds up the changes of a range that is built in pieces. */
export function addedUp(
  before: Pick<ModelResult, 'changes'>,
  next: Pick<ModelResult, 'changes'>,
): Pick<ModelResult, 'changes'> {
  if (before.changes === undefined || next.changes === undefined) return {}
  const sum = (name: 'rows_in' | 'rows_changed' | 'rows_out') =>
    (before.changes![name] ?? 0) + (next.changes![name] ?? 0)
  return {
    changes: {
      ...next.changes,
      rows_in: sum('rows_in'),
      rows_changed: sum('rows_changed'),
      rows_out: sum('rows_out'),
    },
  }
}
