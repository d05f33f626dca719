// What is said of inputs whose changes a model does not follow.

import { isGrouped, type Unfollowed } from '../../compiler/lineage/follow.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { watermarkOf } from '../../core/range-column.ts'
import { sameName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import { textOf } from '../../duckdb/values.ts'
import { continuesTable } from '../build/materialize/relation.ts'
import { tableOf } from '../build/materialize/renames.ts'
import { distance } from '../build/materialize/stage.ts'
import type { RunContext } from '../run-context.ts'
import { isTime } from './ranges.ts'
import { followingOf } from './following.ts'

/** At most one line. */
export function unfollowedIn(project: CompiledProject, model: Model): readonly string[] {
  const text = describe(project, model)
  return text === null ? [] : [text]
}

interface UnfollowedText {
  /** At most one line, with the values from which on the next run reads everything. */
  readonly notes: readonly string[]
  /** At most one line: where these begin only after today, nothing of today is read. */
  readonly warnings: readonly string[]
}

const NOTHING: UnfollowedText = { notes: [], warnings: [] }

export async function unfollowedBy(context: RunContext, model: Model): Promise<UnfollowedText> {
  const { project, connection, startedAt } = context
  const text = describe(project, model)
  if (text === null || !continuesTable(context, model)) return NOTHING
  const part = model.kind === 'period' ? model.period : watermarkOf(model)
  if (part === null) return NOTHING
  const type = model.columns.find(({ name }) => sameName(name, part.column))?.type ?? ''
  const back = part.lookback === null ? sql.empty : sql` - ${distance(part.lookback)}`
  const least = sql`max(${sql.ident(part.column)})${back}`
  // A day more than the clock, since times without a zone may be those of any.
  const tomorrow = sql`CAST(${sql.value(startedAt.toISOString())} AS TIMESTAMPTZ) + INTERVAL 1 DAY`
  // To the engine NaN is above all other numbers.
  const isFraction = type === 'DOUBLE' || type === 'FLOAT'
  const isLast = isFraction ? sql`NOT isfinite(${least})` : sql`false`
  const isAhead = isTime(type) ? sql`CAST(${least} AS TIMESTAMPTZ) > ${tomorrow}` : isLast
  const row = await connection.row(sql`
    SELECT CAST(${least} AS VARCHAR) AS least, ${isAhead} AS ahead FROM ${await tableOf(connection, model)}`)
  if (row?.['least'] == null) return NOTHING
  const from = textOf(row['least'])
  const groups =
    model.kind === 'merge' && isGrouped(project, model)
      ? ', and groups that are gone from the SELECT for such a change stay'
      : ''
  const names = followingOf(project, model)!.others.map(({ name }) => name)
  const read = [...new Set(names)].toSorted().join(', ')
  const missed = `the table has rows of ${from}${isFraction ? ', above all other numbers' : ' and later, which is in the future'}, so rows before it that come into ${read} are not read`
  const way = `filter such rows in the SELECT, then: eider run ${model.name} --full-refresh, or --start and --end for what was missed`
  return {
    notes: [`${text}; rows before ${from} keep what they have${groups}`],
    warnings: row['ahead'] === true ? [`${missed}; ${way}`] : [],
  }
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
