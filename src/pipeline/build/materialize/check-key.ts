// A key must name each row: no NULL in it, no value twice. Checked before anything is published under it.

import { limits } from '../../../core/limits.ts'
import type { KeptModel } from '../../../core/model.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { numberOf, type Row } from '../../../duckdb/values.ts'
import { ModelFailure } from '../../failure.ts'

type KeyAnnotation = 'unique_key' | 'expose'

/**
 * Throws ModelFailure with the first keys that are NULL or duplicate; `at` is the annotation that names the key, `hint`
 * what to do.
 */
export async function checkKey(
  connection: Connection,
  relation: Sql,
  key: readonly string[],
  at: KeyAnnotation,
  hint: string = hints[at],
): Promise<void> {
  if (key.length === 0) return
  const columns = sql.idents(key)
  const texts = sql.join(
    key.map((name) => sql`coalesce(left(${sql.ident(name)}::VARCHAR, 100), 'NULL')`),
  )
  const anyNull = sql.join(
    key.map((name) => sql`${sql.ident(name)} IS NULL`),
    sql` OR `,
  )
  const rows = await connection.rows(sql`
    SELECT [${texts}] AS "values", count(*) AS "rows", ${anyNull} AS "null"
    FROM ${relation} GROUP BY ${columns} HAVING count(*) > 1 OR ${anyNull}
    ORDER BY ${columns} NULLS FIRST LIMIT ${sql.value(limits.shownKeys + 1)}`)
  if (rows.length > 0) throw new ModelFailure(`${explain(rows, key)}; ${hint}`, at)
}

const hints: Readonly<Record<KeyAnnotation, string>> = {
  unique_key:
    'filter them in the SELECT, or keep one row of each key with @on_duplicate: latest(column)',
  expose: 'expose a key that is unique for each row, or none: @expose',
}

/** For rows of the SELECT; not every kind takes @on_duplicate. */
export const duplicatesHint = (model: KeptModel): string =>
  'onDuplicate' in model ? hints.unique_key : 'filter them in the SELECT'

function explain(rows: readonly Row[], key: readonly string[]): string {
  const shown = rows.slice(0, limits.shownKeys).map((row) => {
    const values = row['values'] as readonly string[]
    return `${key.map((name, i) => `${name} = ${values[i]}`).join(', ')} (${numberOf(row['rows'])} rows)`
  })
  const more = rows.length > limits.shownKeys ? '; and more' : ''
  const what = rows.some((row) => row['null'] === true) ? 'NULL or duplicate' : 'duplicate'
  return `${what} keys: ${shown.join('; ')}${more}`
}
