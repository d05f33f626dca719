// A table that is kept up to date: the rows with the addresses that its inputs have touched since it was built are made
// anew, by the SELECT of the model over what leads to them, and the others stay. The table is the one that a rebuild would
// make.

import { asWritten } from '../../../compiler/lineage/narrow.ts'
import { narrowedUses, type RowFilter, rowsOf } from '../../../compiler/lineage/narrow-uses.ts'
import { limits } from '../../../core/limits.ts'
import type { Trail } from '../../../core/addresses.ts'
import type { TableModel } from '../../../core/model.ts'
import { sameName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { ifRefused } from '../../../duckdb/errors.ts'
import { isFollower, type TouchedKey, type TouchedKeys, touchedKeys } from '../../changes/keys.ts'
import { nearValues } from '../../changes/near-values.ts'
import { noteKeys } from '../../changes/notes.ts'
import { comparingRanges } from '../../changes/replaced.ts'
import { after as stepAfter } from '../../changes/ranges.ts'
import { isWhatItWas } from '../../plan/decide.ts'
import type { RunContext } from '../../run-context.ts'
import type { Built } from './materialization.ts'
import { continuesTable, countRows, hasItsColumns } from './relation.ts'
import { isSmall, madeAgain } from './small-table.ts'
import { bytesOfText, checkKey, hasKeyOf } from './stage.ts'

const OLD = sql`temp.main._eider_old_rows`
const NEW = sql`temp.main._eider_new_rows`

/** null: all of it is to be made anew, which `original` does. */
export async function maintained(
  context: RunContext,
  model: TableModel,
  original: Sql,
): Promise<Built | null> {
  const { project, borrowed, sample, store } = context
  if (!store.state.changes.keepsKeys || !isFollower(project, model)) return null
  if (borrowed !== null || sample !== null || !continuesTable(context, model)) return null
  if (!isWhatItWas(context, model) || !(await hasItsColumns(context, model))) return null
  if (isSmall(context, model)) return await madeAgain(context, model, original)
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
  const some = await together(
    connection,
    touched.filter(({ keys }) => keys.every(({ count, hasNull }) => count > 0 || hasNull)),
  )
  const all = await countRows(connection, table)
  if (some.length === 0) return { changed: false, rows: all, counts: NONE }
  const old = await connection.createTable(
    sql`CREATE OR REPLACE TEMP TABLE ${OLD} AS ${touchedRows(table, some)}`,
  )
  const before = old ?? (await countRows(connection, OLD))
  if (before > Math.max(limits.maintainedRows, limits.maintainedShare * all)) return null
  // Where all rows are touched, to look for what leads to them saves nothing.
  await readNew(context, model, some, { isNarrowed: before < all || all === 0 })
  const rows = sql.join(model.columns.map(comparable))
  const removed = await countRows(
    connection,
    sql`((SELECT ${rows} FROM ${OLD}) EXCEPT ALL (SELECT ${rows} FROM ${NEW}))`,
  )
  const after = await countRows(connection, NEW)
  // What is not removed is in both.
  const added = after - (before - removed)
  if (removed > 0) context.changes.lose(model.name)
  if (removed + added > 0) {
    await noteKeys(context, model, (column) => {
      const name = sql.ident(column)
      return sql`SELECT ${name} AS v FROM ${OLD} UNION ALL SELECT ${name} FROM ${NEW}`
    })
    await comparingRanges(context, model, async () => {
      const target = await store.tables.written(connection, model.name)
      for (const isTouched of before > 0 ? deletions(some) : [])
        await connection.run(sql`DELETE FROM ${target.table} WHERE ${isTouched}`)
      await connection.run(sql`INSERT INTO ${target.table} ${await target.rows(sql`FROM ${NEW}`)}`)
    })
    await checkExposed(context, model)
  }
  const drops = [OLD, NEW].map((one) => sql`DROP TABLE ${one}`)
  await connection.run(sql.join(drops, sql`;\n`))
  const counts = { added, changed: 0, removed }
  const changed = removed + added > 0
  return { changed, rows: all - before + after, counts }
}

/** Inputs that touch rows by the same column alone are as one, so that the SELECT is asked once for them. */
async function together(
  connection: Connection,
  touched: readonly TouchedKeys[],
): Promise<readonly TouchedKeys[]> {
  const alone = new Map<string, TouchedKey>()
  const others: TouchedKeys[] = []
  for (const one of touched) {
    const [key, ...more] = one.keys
    if (key === undefined || more.length > 0) {
      others.push(one)
      continue
    }
    const first = alone.get(key.address)
    if (first === undefined) alone.set(key.address, key)
    else {
      const added = await connection.run(sql`
        INSERT INTO ${first.values} SELECT v, false FROM ${key.values} WHERE v NOT IN (SELECT v FROM ${first.values})`)
      const hasNull = first.hasNull || key.hasNull
      alone.set(key.address, { ...first, count: first.count + added, hasNull })
    }
  }
  return [...Array.from(alone.values(), (key) => ({ keys: [key] })), ...others]
}

const NONE = { added: 0, changed: 0, removed: 0 }

/** Rows that one input has touched, then those that only the next has: each is read by what leads to it. */
async function readNew(
  { connection, project }: RunContext,
  model: TableModel,
  touched: readonly TouchedKeys[],
  { isNarrowed }: { readonly isNarrowed: boolean },
): Promise<void> {
  const addresses = project.trails().get(model.name)!.addresses
  if (!isNarrowed) {
    const rows = sql`FROM (${sql.body(model.body)}\n) WHERE ${sql.any(touched.map(isIn))}`
    await connection.run(sql`CREATE OR REPLACE TEMP TABLE ${NEW} AS ${rows}`)
    return
  }
  for (const [i, one] of touched.entries()) {
    const filter = (column: number, trail: Trail) => {
      const key = one.keys.find(({ address }) => sameName(address, model.columns[column]!.name))
      return key === undefined ? null : filterOf(trail, key)
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

function filterOf(trail: Pick<Trail, 'steps' | 'column' | 'type'>, key: TouchedKey): RowFilter {
  const { steps, column } = trail
  const valueIn = (name: Sql) => steps.reduce(stepAfter, name)
  const name = valueIn(sql.ident(column))
  const ofRow = sql`_eider_row.${sql.ident(column)}`
  const own = valueIn(ofRow)
  const near = nearValues(trail, ofRow, key)
  const { values, count, hasNull } = key
  return {
    condition: isAmong(name, key),
    join:
      count === 0
        ? null
        : sql` JOIN ${values} ON ${own} = ${values}.v${near === null ? sql.empty : sql` AND ${near}`}`,
    isNull: hasNull ? sql`${name} IS NULL` : null,
  }
}

/** Of the table: those that one input has touched, then those that only the next has. */
function touchedRows(table: Sql, touched: readonly TouchedKeys[]): Sql {
  const each = touched.map(({ keys }, i) => {
    const filters = keys.map((key) => filterOf({ column: key.address, steps: [] }, key))
    const others = touched.slice(0, i).map((one) => sql`(${isIn(one)}) IS NOT TRUE`)
    const where = i === 0 ? sql.empty : sql` WHERE ${sql.all(others)}`
    return sql`FROM ${rowsOf(table, filters)}${where}`
  })
  return sql.join(each, sql` UNION ALL `)
}

/** One after the other they take all that is touched: of an OR the engine would read every row. */
const deletions = (touched: readonly TouchedKeys[]): readonly Sql[] =>
  touched.flatMap((one) => {
    const [key, ...more] = one.keys
    if (more.length > 0 || !key!.hasNull || key!.count === 0) return [isIn(one)]
    const value = sql.ident(key!.address)
    return [isAmong(value, { ...key!, hasNull: false }), sql`${value} IS NULL`]
  })

/** Of a row of the table, or of the SELECT. */
const isIn = ({ keys }: TouchedKeys): Sql =>
  sql`(${sql.all(keys.map((key) => isAmong(sql.ident(key.address), key)))})`

function isAmong(value: Sql, { values, count, hasNull }: TouchedKey): Sql {
  const among = sql`${value} IN (SELECT v FROM ${values})`
  if (!hasNull) return among
  return count === 0 ? sql`${value} IS NULL` : sql`(${among} OR ${value} IS NULL)`
}

/** Values that the engine calls equal may differ: a month and 30 days, 0 and -0. */
function comparable({ name, type }: Column): Sql {
  const value = sql.ident(name)
  const isText = /INTERVAL|DOUBLE|FLOAT/.test(type)
  return sql`${isText ? sql`${value}::VARCHAR` : bytesOfText(value, type)} AS ${value}`
}

/** The other rows had keys of their own already, and have not changed. */
async function checkExposed({ connection }: RunContext, model: TableModel): Promise<void> {
  const key = model.expose?.key ?? []
  if (key.length === 0) return
  const rows = sql`(FROM ${sql.relation(model.name)} t WHERE ${hasKeyOf(NEW, key, sql`t`)})`
  await checkKey(connection, rows, key, 'expose')
}
