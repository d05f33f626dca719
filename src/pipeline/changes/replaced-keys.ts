// The exact values that differ between a table and the one that replaces it, where a table follows them: rows are counted
// by these values and the hash of all of the row.

import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import { countRows, hasItsColumns } from '../build/materialize/relation.ts'
import type { RunContext } from '../run-context.ts'
import { followedValues, noteValues } from './keys.ts'
import { rowParts } from './row-prints.ts'

const BEFORE = sql`temp.main._eider_rows_before`
const DIFFERENT = sql`temp.main._eider_rows_different`

interface RowsBefore {
  /** Once the table has its new rows. */
  compare(): Promise<void>
}

/** null: nobody asks, or there are more rows than are compared. */
export async function rowsOfKeys(context: RunContext, model: Model): Promise<RowsBefore | null> {
  const { connection } = context
  const columns = [...new Set(followedValues(context, model.name).map(([column]) => column))]
  const hasAll = columns.every((column) => model.columns.some(({ name }) => sameName(name, column)))
  if (
    columns.length === 0 ||
    !hasAll ||
    !(await isSmall(context, model)) ||
    !(await hasItsColumns(context, model))
  )
    return null
  const names = sql.idents(columns)
  const rows = sql`
    SELECT ${names}, hash(${rowParts(model.columns)}) AS _eider_hash, count(*) AS _eider_n
    FROM ${sql.relation(model.name)} AS _eider_row GROUP BY ALL`
  await connection.run(sql`CREATE OR REPLACE TEMP TABLE ${BEFORE} AS ${rows}`)
  return {
    async compare() {
      if (await isSmall(context, model)) {
        await connection.run(sql`
          CREATE OR REPLACE TEMP TABLE ${DIFFERENT} AS
          (FROM ${BEFORE} EXCEPT (${rows})) UNION ALL ((${rows}) EXCEPT FROM ${BEFORE})`)
        await noteValues(context, model, (column) => {
          return sql`SELECT ${sql.ident(column)} AS v FROM ${DIFFERENT}`
        })
        await connection.run(sql`DROP TABLE ${DIFFERENT}`)
      }
      await connection.run(sql`DROP TABLE ${BEFORE}`)
    },
  }
}

const isSmall = async ({ connection }: RunContext, { name }: Model): Promise<boolean> =>
  (await countRows(connection, sql.relation(name))) <= limits.comparedRows
