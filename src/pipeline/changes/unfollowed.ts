// What is said of inputs whose changes a model does not follow.

import { isGrouped, type Unfollowed } from '../../compiler/lineage/follow.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { watermarkOf } from '../../core/range-column.ts'
import { sql } from '../../core/sql.ts'
import { textOf } from '../../duckdb/values.ts'
import { continuesTable } from '../build/materialize/relation.ts'
import { tableOf } from '../build/materialize/renames.ts'
import { distance } from '../build/materialize/stage.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'

/** At most one line. */
export function unfollowedIn(project: CompiledProject, model: Model): readonly string[] {
  const text = describe(project, model)
  return text === null ? [] : [text]
}

/** At most one line, with the values from which on the next run reads everything. */
export async function unfollowedBy(context: RunContext, model: Model): Promise<readonly string[]> {
  const text = describe(context.project, model)
  if (text === null || !continuesTable(context, model)) return []
  const part = model.kind === 'period' ? model.period : watermarkOf(model)
  if (part === null) return []
  const back = part.lookback === null ? sql.empty : sql` - ${distance(part.lookback)}`
  const row = await context.connection.row(sql`
    SELECT CAST(max(${sql.ident(part.column)})${back} AS VARCHAR) AS least FROM ${await tableOf(context.connection, model)}`)
  if (row?.['least'] == null) return []
  const groups =
    model.kind === 'merge' && isGrouped(context.project, model)
      ? ', and groups that are gone from the SELECT for such a change stay'
      : ''
  return [`${text}; rows before ${textOf(row['least'])} keep what they have${groups}`]
}

function describe(project: CompiledProject, model: Model): string | null {
  const following = followingOf(project, model)
  if (following === null || following.others.length === 0) return null
  const parts = (Object.keys(reasons) as Unfollowed['because'][]).flatMap((because) => {
    const names = following.others.filter((one) => one.because === because).map(({ name }) => name)
    if (names.length === 0) return []
    return [
      `changes of ${names.toSorted().join(', ')} are not followed: ${reasons[because](following.column)}`,
    ]
  })
  return parts.join('; ')
}

const reasons: Readonly<Record<Unfollowed['because'], (column: string) => string>> = {
  'no-column': (column) => `${column} does not come from there`,
  outside: () => 'not a table of the warehouse',
  shared: () => 'rows of them meet rows with other values',
  volatile: () =>
    'the SELECT gives other values each time, and there is no @unique_key to know rows by',
}
