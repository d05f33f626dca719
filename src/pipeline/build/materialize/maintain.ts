// A table that is kept up to date: the rows with the addresses that its inputs have touched since it was built are made
// anew, by the SELECT of the model over what leads to them, and the others stay. The table is the one that a rebuild would
// make.

import { asWritten } from '../../../compiler/lineage/narrow.ts'
import { narrowedUses } from '../../../compiler/lineage/narrow-uses.ts'
import { limits } from '../../../core/limits.ts'
import type { TableModel, Trail } from '../../../core/model.ts'
import { sameName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { ifRefused } from '../../../duckdb/errors.ts'
import { isFollower, type TouchedKey, type TouchedKeys, touchedKeys } from '../../changes/keys.ts'
import { noteKeys } from '../../changes/notes.ts'
import { comparingRanges } from '../../changes/replaced.ts'
import { after } from '../../changes/ranges.ts'
import { isWhatItWas } from '../../plan/decide.ts'
import type { RunContext } from '../../run-context.ts'
import type { Built } from './materialization.ts'
import { continuesTable, countRows, hasItsColumns } from './relation.ts'
import { checkKey, sameValues } from './stage.ts'

const OLD = sql`temp.main._eider_old_rows`
const NEW = sql`temp.main._eider_new_rows`

/** null: all of it is to be made anew. */
export async function maintained(context: RunContext, model: TableModel): Promise<Built | null> {
  const { project, borrowed, sample, store } = context
  if (!store.state.changes.keepsKeys || !isFollower(project, model)) return null
  if (borrowed !== null || sample !== null || !continuesTable(context, model)) return null
  if (!isWhatItWas(context, model) || !(await hasItsColumns(context, model))) return null
  const touched = await touchedKeys(context, model)
  if ('because' in touched) return null
  return await make(context, model, touched)
}

async function make(
  context: RunContext,
  model: TableModel,
  touched: readonly TouchedKeys[],
): Promise<Built | null> {
  const { connection, store } = context
  const table = sql.relation(model.name)
  const some = touched.filter(({ keys }) =>
    keys.every(({ count, hasNull }) => count > 0 || hasNull),
  )
  if (some.length === 0)
    return { changed: false, rows: await countRows(connection, table), counts: NONE }
  const isTouched = sql.join(some.map(isIn), sql` OR `)
  await connection.run(sql`CREATE OR REPLACE TEMP TABLE ${OLD} AS FROM ${table} WHERE ${isTouched}`)
  const old = await countRows(connection, OLD)
  const most = Math.max(
    limits.maintainedRows,
    limits.maintainedShare * (await countRows(connection, table)),
  )
  if (old > most) return null
  await readNew(context, model, some)
  const rows = sql.join(model.columns.map(comparable))
  const countWithout = (one: Sql, other: Sql) =>
    countRows(
      connection,
      sql`((SELECT ${rows} FROM ${one}) EXCEPT ALL (SELECT ${rows} FROM ${other}))`,
    )
  const [removed, added] = [await countWithout(OLD, NEW), await countWithout(NEW, OLD)]
  if (removed + added > 0) {
    await noteKeys(context, model, (column) => {
      const name = sql.ident(column)
      return sql`SELECT ${name} AS v FROM ${OLD} UNION ALL SELECT ${name} FROM ${NEW}`
    })
    await comparingRanges(context, model, async () => {
      const target = await store.tables.written(connection, model.name)
      await connection.run(sql`DELETE FROM ${target.table} WHERE ${isTouched}`)
      await connection.run(sql`INSERT INTO ${target.table} ${await target.rows(sql`FROM ${NEW}`)}`)
    })
    await checkExposed(context, model)
  }
  const drops = [OLD, NEW].map((one) => sql`DROP TABLE ${one}`)
  await connection.run(sql.join(drops, sql`;\n`))
  const counts = { added, changed: 0, removed }
  const changed = removed + added > 0
  return { changed, rows: await countRows(connection, table), counts }
}

const NONE = { added: 0, changed: 0, removed: 0 }

/** Rows that one input has touched, then those that only the next has: each is read by what leads to it. */
async function readNew(
  { connection, project }: RunContext,
  model: TableModel,
  touched: readonly TouchedKeys[],
): Promise<void> {
  const addresses = project.trails().get(model.name)!.addresses
  for (const [i, one] of touched.entries()) {
    const filter = (column: number, trail: Trail) => {
      const key = one.keys.find(({ address }) => sameName(address, model.columns[column]!.name))
      if (key === undefined) return null
      return isAmong(trail.steps.reduce(after, sql.ident(trail.column)), key)
    }
    const body = await narrowedUses(connection, model.body, addresses, filter)
    const others = touched.slice(0, i).map((before) => sql` AND (${isIn(before)}) IS NOT TRUE`)
    const statementOf = (from: Sql) => {
      const query = sql`FROM (${from}\n) WHERE ${isIn(one)}${sql.join(others, sql.empty)}`
      return i === 0
        ? sql`CREATE OR REPLACE TEMP TABLE ${NEW} AS ${query}`
        : sql`INSERT INTO ${NEW} ${query}`
    }
    const statement = statementOf(sql.body(body))
    const original = statementOf(sql.body(model.body))
    await ifRefused(connection.run(statement), (error) => {
      throw asWritten(error, { statement, body, original, own: model.body })
    })
  }
}

/** Of a row of the table, or of the SELECT. */
const isIn = ({ keys }: TouchedKeys): Sql =>
  sql`(${sql.join(
    keys.map((key) => isAmong(sql.ident(key.address), key)),
    sql` AND `,
  )})`

function isAmong(value: Sql, { values, count, hasNull }: TouchedKey): Sql {
  const among = sql`${value} IN (SELECT v FROM ${values})`
  if (!hasNull) return among
  return count === 0 ? sql`${value} IS NULL` : sql`(${among} OR ${value} IS NULL)`
}

/** Values that the engine calls equal may differ: a month and 30 days, 0 and -0. */
function comparable({ name, type }: Column): Sql {
  const value = sql.ident(name)
  return /INTERVAL|DOUBLE|FLOAT/.test(type) ? sql`${value}::VARCHAR AS ${value}` : value
}

/** The other rows had keys of their own already, and have not changed. */
async function checkExposed({ connection }: RunContext, model: TableModel): Promise<void> {
  const key = model.expose?.key ?? []
  if (key.length === 0) return
  const isNew = sql`EXISTS (SELECT 1 FROM ${NEW} s WHERE ${sameValues(key, sql`t`, sql`s`)})`
  const rows = sql`(FROM ${sql.relation(model.name)} t WHERE ${isNew})`
  await checkKey(connection, rows, key, 'expose')
}
