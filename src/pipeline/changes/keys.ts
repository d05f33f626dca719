// The exact values of columns that changes touch, for tables that are kept up to date by them: where they go on, by
// range is not enough. They stay in the engine, since they may be many.

import { addressingOf, type AddressKey } from '../../compiler/lineage/addresses.ts'
import { limits } from '../../core/limits.ts'
import type { TrailStep } from '../../core/addresses.ts'
import type { CompiledProject, EventsModel, Model } from '../../core/model.ts'
import { type ModelName, sameName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { type ChangeTables, type TouchedColumn, type TableChange } from '../../store/changes.ts'
import { type Position, type Versions, waysFrom } from '../../store/change-ways.ts'
import { countRows } from '../build/materialize/relation.ts'
import type { RunContext } from '../run-context.ts'
import { after } from './ranges.ts'

type Noting = {
  readonly connection: Connection
  readonly store: { readonly state: { readonly changes: ChangeTables } }
}

/** How a key is named among the columns that are followed. No column has such a name. */
const keyText = ({ column, steps }: Pick<AddressKey, 'column' | 'steps'>): string =>
  JSON.stringify([column, ...steps])

/** What stands for a table, or a view, as a whole. */
const WHOLE = '[]'

export const isKey = (text: string): boolean => text.startsWith('[') && text.endsWith(']')

/** Those of a table that others follow. */
const followedKeys = ({ store }: Pick<Noting, 'store'>, model: ModelName): readonly string[] =>
  store.state.changes.columnsOf(model).filter(isKey)

/** The columns of a table that others follow by value, with what they go through. */
export const followedValues = (
  of: Pick<Noting, 'store'>,
  model: ModelName,
): readonly (readonly [string, ...TrailStep[]])[] =>
  followedKeys(of, model)
    .filter((text) => text !== WHOLE)
    .map((text) => JSON.parse(text) as readonly [string, ...TrailStep[]])

const NOTED = sql`temp.main._eider_noted_keys`

/** Call this where rows are about to go and where they have come: `rows` gives a query of the values of a column, as "v". */
export async function noteValues(
  context: Noting & Pick<RunContext, 'changes'>,
  model: Model,
  rows: (column: string) => Sql,
): Promise<void> {
  const { connection, changes } = context
  for (const text of followedKeys(context, model.name)) {
    if (text === WHOLE || !(await canHave(connection, model, text, rows))) continue
    const few = limits.fewChangedKeys
    const isLong = sql`strlen(v) > ${sql.value(limits.shortKeyBytes)}`
    const [found] = await connection.literalRows(sql`
      SELECT CAST(to_json(list(v) FILTER ((${isLong}) IS NOT TRUE)) AS VARCHAR) AS texts,
        count(*) AS n, coalesce(bool_or(${isLong}), false) AS has_long FROM (
        SELECT DISTINCT ${valueOf(text, rows)} LIMIT ${sql.value(few + 1)}) AS found(v)`)
    const isFew = numberOf(found?.['n']) <= few && found?.['has_long'] !== true
    if (!isFew) await noteInEngine(connection, model, text, rows)
    const texts = JSON.parse(textOf(found?.['texts'] ?? '[]')) as readonly (string | null)[]
    changes.addValues(model.name, text, isFew ? texts : null)
    changes.add(model.name, text, [])
  }
}

async function noteInEngine(
  connection: Connection,
  model: Model,
  text: string,
  rows: (column: string) => Sql,
): Promise<void> {
  await connection.run(sql`
    CREATE TEMP TABLE IF NOT EXISTS _eider_noted_keys (model VARCHAR, col VARCHAR, value VARCHAR)`)
  await connection.run(sql`
    INSERT INTO ${NOTED} SELECT DISTINCT ${sql.value(model.name)}, ${sql.value(text)}, ${valueOf(text, rows)}
    LIMIT ${sql.value(limits.changedKeys + 1)}`)
}

/** A table may no longer have a column of which others have read, or has one of another type. */
async function canHave(
  connection: Connection,
  { columns }: Model,
  text: string,
  rows: (column: string) => Sql,
): Promise<boolean> {
  const [column, ...steps] = JSON.parse(text) as readonly [string, ...TrailStep[]]
  if (!columns.some(({ name }) => sameName(name, column))) return false
  if (steps.length === 0) return true
  return (
    (await ifRefused(describe(connection, sql`SELECT ${valueOf(text, rows)}`), () => null)) !== null
  )
}

/** `rows`: of a query of "v". */
function valueOf(text: string, rows: (column: string) => Sql): Sql {
  const [column, ...steps] = JSON.parse(text) as readonly [string, ...TrailStep[]]
  const value = steps.reduce(after, sql`v`)
  return sql`CAST(${value} AS VARCHAR) FROM (${rows(column)})`
}

/** With the versions of the change, once they are known. null: of more than are kept nothing is said. */
export async function recordKeys(
  context: Noting & Pick<RunContext, 'changes'>,
  model: Model,
  versions: Versions,
  said: readonly TouchedColumn[],
): Promise<readonly TouchedColumn[]> {
  const { connection, store, changes } = context
  const noted = changes.takeValues(model.name)
  const tooMany = new Set<string>()
  for (const { column, ranges } of said) {
    const values = noted.get(column)
    if (values === undefined || ranges === null) continue
    const { texts, hasMore } = values
    const change = { column, ...versions }
    if (!hasMore)
      await store.state.changes.recordFewKeys(connection, model.name, change, [...texts])
    else {
      const isIts = sql`model = ${sql.value(model.name)} AND col = ${sql.value(column)}`
      const others = Array.from(texts, (text) => sql` UNION SELECT ${sql.value(text)}`)
      const found = sql`SELECT DISTINCT value FROM ${NOTED} WHERE ${isIts}${sql.join(others, sql.empty)}`
      if ((await countRows(connection, sql`(${found})`)) > limits.changedKeys) tooMany.add(column)
      else await store.state.changes.recordKeys(connection, model.name, column, versions, found)
    }
  }
  await forgetNoted(connection, model, noted)
  return said.map((one) => (tooMany.has(one.column) ? { ...one, ranges: null } : one))
}

/** What was noted and changes nothing. */
export const forgetValues = (
  { connection, changes }: Pick<RunContext, 'connection' | 'changes'>,
  model: Model,
): Promise<void> => forgetNoted(connection, model, changes.takeValues(model.name))

async function forgetNoted(
  connection: Connection,
  { name }: Model,
  noted: ReturnType<RunContext['changes']['takeValues']>,
): Promise<void> {
  if ([...noted.values()].some(({ hasMore }) => hasMore))
    await connection.run(sql`DELETE FROM ${NOTED} WHERE model = ${sql.value(name)}`)
}

/** Of a table of events: those that came by `insert`, which adds rows and changes no others. */
export async function recordAddedKeys<T>(
  { connection, changes }: { readonly connection: Connection; readonly changes: ChangeTables },
  model: EventsModel,
  rows: (column: string) => Sql,
  insert: () => Promise<T>,
): Promise<T> {
  const keys = changes.columnsOf(model.name).filter(isKey)
  if (keys.length === 0) return insert()
  const before = await keysVersion(connection, changes, model)
  const result = await insert()
  const after = await keysVersion(connection, changes, model)
  if (before === after) return result
  const said: TouchedColumn[] = []
  for (const column of keys) {
    if (column === WHOLE || !(await canHave(connection, model, column, rows))) {
      said.push({ column, ranges: null })
      continue
    }
    const table = sql.ident('temp', 'main', '_eider_added_keys')
    await connection.run(sql`
      CREATE OR REPLACE TEMP TABLE _eider_added_keys AS SELECT DISTINCT ${valueOf(column, rows)}
      LIMIT ${sql.value(limits.changedKeys + 1)}`)
    const isKnown = (await countRows(connection, table)) <= limits.changedKeys
    if (isKnown)
      await changes.recordKeys(
        connection,
        model.name,
        column,
        { before, after },
        sql`FROM ${table}`,
      )
    await connection.run(sql`DROP TABLE ${table}`)
    said.push({ column, ranges: isKnown ? [] : null })
  }
  await changes.record(connection, model.name, { before, after }, said)
  return result
}

/**
 * Another one as soon as the table has other rows, or other columns. Rows that went count too: who follows the table by
 * keys has what is made of them.
 */
async function keysVersion(
  connection: Connection,
  changes: ChangeTables,
  { name, definition }: EventsModel,
): Promise<string> {
  const removed = await changes.removedFrom(connection, name)
  const rows = await countRows(connection, sql.relation(name))
  return `${rows + removed} ${removed} ${definition}`
}

async function versionNow(context: RunContext, name: ModelName): Promise<string> {
  const model = context.project.models.get(name)
  if (model?.kind === 'events')
    return keysVersion(context.connection, context.store.state.changes, model)
  // What a view reads has versions of its own.
  if (model?.kind === 'view') return model.definition
  return context.versionOf(name) ?? ''
}

/** A table that can be kept up to date, at least for some of its inputs. */
export const isFollower = (project: CompiledProject, model: Model): boolean =>
  model.kind === 'table' && addressingOf(project, model).never === null

/** In the transaction that has built the table: what its inputs are now. */
export async function keyPositions(
  context: RunContext,
  model: Model,
): Promise<readonly Position[]> {
  const { inputs, views } = addressingOf(context.project, model)
  const found = new Map<string, Position>()
  const add = (name: ModelName, column: string, version: string) =>
    found.set(`${name}\0${column}`, { model: name, column, version })
  for (const view of views) add(view, WHOLE, await versionNow(context, view))
  for (const { model: name, keys } of inputs) {
    const version = await versionNow(context, name)
    for (const column of [WHOLE, ...keys.map(keyText)]) add(name, column, version)
  }
  return [...found.values()]
}

/** Of a place at which a table reads an input, since it was last built: values of its addresses, each a relation of "v". */
export interface TouchedKeys {
  readonly keys: readonly TouchedKey[]
}

export interface TouchedKey extends AddressKey {
  /** Without NULL. */
  readonly values: Sql
  readonly count: number
  readonly hasNull: boolean
}

/** As a reason why all is built anew. */
interface Unknown {
  readonly because: string
}

/** In the transaction that builds the table, which was built before. Inputs that have not changed are not in it. */
export async function touchedKeys(
  context: RunContext,
  model: Model,
): Promise<readonly TouchedKeys[] | Unknown> {
  const { connection, store, project } = context
  const { inputs, views } = addressingOf(project, model)
  const names = [...new Set(inputs.map((input) => input.model))]
  const { positions, changes } = await store.state.changes.readBy(connection, model.name, names)
  const at = (name: ModelName, column: string) =>
    positions.find((one) => one.model === name && one.column === column)?.version
  for (const view of views)
    if (at(view, WHOLE) !== (await versionNow(context, view)))
      return { because: `${view} was not read as it is now` }
  const found: TouchedKeys[] = []
  for (const { model: input, keys, because } of inputs) {
    const now = await versionNow(context, input)
    if (at(input, WHOLE) === now) continue
    if (because !== null) return { because: because.text }
    const known: TouchedKey[] = []
    for (const key of keys) {
      const column = keyText(key)
      const from = at(input, column)
      const way = from === undefined ? null : wayBetween(input, column, [from, now], changes)
      if (way === null) continue
      const values = sql.ident('temp', 'main', `_eider_keys_${found.length}_${known.length}`)
      known.push({ ...key, values, ...(await keep(context, key, values, way)) })
    }
    if (known.length === 0) return { because: `what changed in ${input} is not known` }
    found.push({ keys: known })
  }
  return found
}

/** The changes that lead from the one version to the other; null: somebody has changed the table without saying how. */
function wayBetween(
  model: ModelName,
  column: string,
  [from, now]: readonly [string, string],
  all: readonly TableChange[],
): readonly TableChange[] | null {
  const { passed, leadTo } = waysFrom(
    [{ model, column, version: from }],
    all.filter((change) => change.column === column),
  )
  if (!leadTo({ model, column, version: now })) return null
  return [...passed].some(({ ranges }) => ranges === null) ? null : [...passed]
}

/** The values that the changes lead to, without those that are no value of the column: nothing has them. */
async function keep(
  { connection, store }: RunContext,
  { type, via }: AddressKey,
  table: Sql,
  way: readonly TableChange[],
): Promise<Pick<TouchedKey, 'count' | 'hasNull'>> {
  const types = [...via.map((lookup) => lookup.type), type].map((one) => sql.type(one))
  const value = sql`TRY_CAST(value AS ${types[0]!})`
  const changed = sql`SELECT ${value} AS v, value IS NULL AS is_null FROM (${store.state.changes.keysOf(way)})`
  const touched = via.reduce((values, lookup, i) => {
    const next = sql`CAST(${lookup.steps.reduce(after, sql.ident(lookup.column))} AS ${types[i + 1]!})`
    const from = sql`${sql.relation(lookup.model)} WHERE ${sql.ident(lookup.from)} IN (SELECT v FROM (${values}))`
    return sql`SELECT DISTINCT ${next} AS v, ${next} IS NULL AS is_null FROM ${from}`
  }, changed)
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE ${table} AS
    SELECT DISTINCT v, is_null FROM (${touched}) WHERE is_null OR v IS NOT NULL`)
  const row = await connection.row(sql`
    SELECT count(*) FILTER (NOT is_null) AS n, coalesce(bool_or(is_null), false) AS has_null FROM ${table}`)
  await connection.run(sql`DELETE FROM ${table} WHERE is_null`)
  return { count: numberOf(row?.['n']), hasNull: row?.['has_null'] === true }
}
