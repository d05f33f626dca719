// Where a model lies in the warehouse, and whether what is there goes on.

import { count } from '../../../core/counts.ts'
import { kinds } from '../../../core/kinds.ts'
import type { Kind, Model } from '../../../core/model.ts'
import { foldCase, type ModelName, splitModelName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { ValueRange } from '../../../core/step.ts'
import type { EngineCatalog, RelationType } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { numberOf } from '../../../duckdb/values.ts'
import { recordOf, type RunContext } from '../../run-context.ts'
import { tableOf } from './renames.ts'

/** `watermark`: a column, or what stands for its value. */
export const isWithin = (watermark: Sql, range: ValueRange): Sql =>
  between(watermark, range, (text) => sql.value(text))

/** As isWithin(), for periods: as a text an end would have to fit the column, which that of a period of numbers need not. */
export const isInRange = (value: Sql, range: ValueRange): Sql =>
  between(value, range, (text) => sql.value(/^-?\d+$/.test(text) ? BigInt(text) : text))

/** `ranges`: in the order of their values, apart from each other. Each value is compared with a few of them, not with all. */
export function isInSome(value: Sql, ranges: readonly ValueRange[]): Sql {
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) return sql`false`
  const bounds = isInRange(value, { start: first.start, end: last.end })
  return sql`(${bounds} AND ${isInOne(value, ranges)})`
}

function isInOne(value: Sql, ranges: readonly ValueRange[]): Sql {
  const middle = ranges.length >> 1
  if (middle < 2) {
    const each = ranges.map((range) => isInRange(value, range))
    return sql`(${sql.any(each)})`
  }
  const isBefore = isInRange(value, { start: null, end: ranges[middle]!.start })
  const [low, high] = [ranges.slice(0, middle), ranges.slice(middle)]
  return sql`CASE WHEN ${isBefore} THEN ${isInOne(value, low)} ELSE ${isInOne(value, high)} END`
}

function between(value: Sql, { start, end }: ValueRange, bound: (text: string) => Sql): Sql {
  const bounds = [
    ...(start === null ? [] : [sql`${value} >= ${bound(start)}`]),
    ...(end === null ? [] : [sql`${value} < ${bound(end)}`]),
  ]
  return sql`(${sql.all(bounds)})`
}

/** What a step replaces in the table of a model, in one line: the rows `inside` the range of the column. */
export async function rowsReplacedIn(
  { connection }: RunContext,
  model: Model,
  inside: Sql,
  { column, start, end }: ValueRange & { readonly column: string },
): Promise<readonly string[]> {
  const rows = await countRows(
    connection,
    sql`(FROM ${await tableOf(connection, model)} WHERE ${inside})`,
  )
  return [`replaces ${count(rows, 'row')} whose ${column} is at least ${start} and below ${end}`]
}

export const relationType = (catalog: EngineCatalog, name: ModelName): RelationType | null =>
  catalog.relations.get(foldCase(name)) ?? null

/** Call this once the relation of a model is committed. */
export function noteRelation({ catalog }: RunContext, { name, kind }: Model): void {
  catalog.relations.set(foldCase(name), kinds[kind].relation)
}

/**
 * Whether a table of that kind goes on as one of the model: an append has the rows of its SELECT as a merge has them, which
 * deletes none of them either, and of both a period model replaces only the periods that it makes anew.
 */
export const goesOnAs = (kind: Kind, model: Model): boolean =>
  kind === model.kind ||
  (kind === 'append' && model.kind === 'merge' && model.deletes !== 'mirror') ||
  ((kind === 'append' || kind === 'merge') && model.kind === 'period')

export function continuesTable(context: RunContext, model: Model): boolean {
  const kind = recordOf(context, model)?.kind
  if (kind === undefined || !goesOnAs(kind, model)) return false
  // Events that were collected exist nowhere else.
  if (context.fullRefresh && model.kind !== 'events') return false
  return relationType(context.catalog, model.name) === 'table'
}

export function createSchema(name: string): Sql {
  const { schema } = splitModelName(name)
  return sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)}`
}

/** Drops what CREATE OR REPLACE cannot replace, which is a relation of the other type. */
export async function makeWay(
  { store, connection, catalog }: RunContext,
  model: Model,
): Promise<void> {
  const existing = relationType(catalog, model.name)
  if (existing === null || existing === kinds[model.kind].relation) return
  await store.tables.drop(connection, model.name, existing)
}

export async function countRows(connection: Connection, relation: Sql): Promise<number> {
  const row = await connection.row(sql`SELECT count(*) AS n FROM ${relation}`)
  return numberOf(row?.['n'])
}

/** Whether the table has them already: values of another type, or of a column with another name, cannot be compared. */
export async function hasItsColumns(
  { connection, columnsBefore }: Pick<RunContext, 'connection' | 'columnsBefore'>,
  { name, columns }: Model,
): Promise<boolean> {
  const before = (await columnsBefore(connection, name)) ?? []
  const isSame = (one: Column, i: number) =>
    before[i]?.name === one.name && before[i].type === one.type
  return before.length === columns.length && columns.every(isSame)
}
