// The names that a model has had: `eider mv` notes each renaming among the runs, so that what is recorded under an earlier
// name is found.

import { sameName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'

/** A name with the times between which it was that of the model, in microseconds since 1970: from one, and before the other. */
export interface RecordedName {
  readonly name: string
  readonly fromUs: number
  readonly beforeUs: number
}

const RENAMED = sql`'[{"model":"VARCHAR","renamed_from":"VARCHAR"}]'`

/** From one name to another one. */
interface RecordedRenaming {
  readonly from: string
  readonly to: string
  /** Microseconds since 1970. */
  readonly us: number
}

/** Newest first. `runs`: all that are recorded. */
export async function recordedRenamings(
  connection: Connection,
  runs: Sql,
): Promise<readonly RecordedRenaming[]> {
  const found = await connection.rows(sql`
    SELECT epoch_us(started_at)::DOUBLE AS us, result.model AS name, result.renamed_from AS before
    FROM (
      SELECT started_at, unnest(from_json(summary->'models', ${RENAMED})) AS result
      FROM (${runs}) WHERE summary->>'command' = 'mv')
    WHERE result.renamed_from IS NOT NULL ORDER BY us DESC`)
  return found.map(({ us, name, before }) => {
    return { from: textOf(before), to: textOf(name), us: numberOf(us) }
  })
}

/** Newest first, that of now among them. A name that another model had before it was renamed is the model's since then. */
export function recordedNames(
  renamings: readonly RecordedRenaming[],
  model: string,
): readonly RecordedName[] {
  const names: RecordedName[] = []
  let [name, beforeUs] = [model, Infinity]
  for (const { from, to, us: fromUs } of renamings) {
    const isTaken = sameName(from, name)
    if (!isTaken && !sameName(to, name)) continue
    names.push({ name, fromUs, beforeUs })
    if (isTaken) return names
    ;[name, beforeUs] = [from, fromUs]
  }
  return [...names, { name, fromUs: -Infinity, beforeUs }]
}

/** The name that a model had at a time; null: another model had its name. */
export function nameAt(names: readonly RecordedName[], time: Date): string | null {
  const us = time.getTime() * 1000
  return names.find(({ fromUs }) => fromUs <= us)?.name ?? null
}

/** Whether a result `result` of a run that began at `started_at` is one of the model. */
export const isOfModel = (names: readonly RecordedName[]): Sql =>
  sql.any(
    names.map(({ name, fromUs, beforeUs }) =>
      sql.all([
        sql`lower(result.model) = lower(${sql.value(name)})`,
        ...(fromUs === -Infinity ? [] : [sql`epoch_us(started_at) >= ${sql.value(fromUs)}`]),
        ...(beforeUs === Infinity ? [] : [sql`epoch_us(started_at) < ${sql.value(beforeUs)}`]),
      ]),
    ),
  )
