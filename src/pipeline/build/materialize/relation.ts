// Where a model lies in the warehouse, and what may take its place.

import type { Kind, Model } from '../../../core/model.ts'
import { type ModelName, splitModelName } from '../../../core/names.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { type Catalog, catalogKey, type RelationType } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { numberOf } from '../../../duckdb/values.ts'
import { ModelFailure } from '../../failure.ts'
import type { ModelRecord } from '../../store/state.ts'

/** What a materialization needs to know. */
export interface Site {
  readonly connection: Connection
  readonly catalog: Catalog
  /** What an earlier run made under this name; null when none did. */
  readonly record: ModelRecord | null
  /** Rebuild from nothing, also where that ends a history (`--full-refresh`). */
  readonly fullRefresh: boolean
  /** Let an empty source empty a table that mirrors it (`--allow-empty`). */
  readonly allowEmpty: boolean
  /** When the run started: the time from which new versions of scd2 rows are valid. */
  readonly startedAt: Date
  /** Replace the rows of this range of the watermark in append models (`--start`, `--end`); null: take new rows. */
  readonly range: WatermarkRange | null
}

/** As written on the command line; the engine reads both ends as values of the watermark column. */
export interface WatermarkRange {
  readonly start: string
  /** The first value that is no longer in the range. */
  readonly end: string
}

/** Of a relation with the watermark column. */
export function inRange(column: string, { start, end }: WatermarkRange): Sql {
  const name = sql.ident(column)
  return sql`${name} >= ${sql.value(start)} AND ${name} < ${sql.value(end)}`
}

/** What a materialization did. */
export interface Built {
  /** False when the content is what it was, so that nothing downstream needs to run. */
  readonly changed: boolean
  readonly rows?: number
}

export function relationOf(name: ModelName): Sql {
  const { schema, table } = splitModelName(name)
  return sql.ident(schema, table)
}

export const existingType = (
  { catalog }: Pick<Site, 'catalog'>,
  name: ModelName,
): RelationType | null => relationType(catalog, name)

export function relationType(catalog: Catalog, name: ModelName): RelationType | null {
  const { schema, table } = splitModelName(name)
  return catalog.relations.get(catalogKey(schema, table)) ?? null
}

/** To be told once a relation is committed. */
export function noteRelation(catalog: Catalog, name: ModelName, type: RelationType): void {
  const { schema, table } = splitModelName(name)
  catalog.relations.set(catalogKey(schema, table), type)
}

/** What tells whether the relation of a model goes on or is made anew. */
export type Past = Pick<Site, 'catalog' | 'record' | 'fullRefresh'>

/** Whether the table that an earlier run made goes on. */
export function continuesTable(site: Past, model: Model): boolean {
  const { record, fullRefresh } = site
  return record?.kind === model.kind && !fullRefresh && existingType(site, model.name) === 'table'
}

export function createSchema(name: ModelName): Sql {
  const { schema } = splitModelName(name)
  return sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)}`
}

/** Kinds whose table holds what their source may no longer give. */
const histories: Partial<Record<Kind, string>> = {
  append: 'holds rows that its source may no longer have',
  merge: 'holds rows that its source may no longer have',
  scd2: 'holds the history of its rows',
}

/**
 * Throws ModelFailure where a relation that is made anew would destroy rows that cannot be made again: a history, or a
 * table that no run made. A merge may have kept rows that its source deleted; nothing remembers whether it did.
 */
export function refuseLoss(site: Past, model: Model): void {
  const { record, fullRefresh } = site
  const existing = existingType(site, model.name)
  if (existing === 'table' && record?.kind === 'events' && model.kind !== 'events')
    throw new ModelFailure(
      `${model.name} holds events that were collected, and no flag drops them; give the model another name, or drop the table yourself`,
    )
  if (existing === 'table' && !fullRefresh) {
    if (record === null)
      throw new ModelFailure(
        `a table ${model.name} exists that no run has made; move it away, or replace it with --full-refresh`,
      )
    const history = histories[record.kind]
    if (history !== undefined && record.kind !== model.kind)
      throw new ModelFailure(
        `${model.name} ${history}; as kind ${model.kind} it would lose them; drop them with --full-refresh`,
      )
  }
}

/** Drops what is in the way of a relation of type `next`, inside the transaction that builds it. Throws as refuseLoss(). */
export async function makeWay(site: Site, model: Model, next: RelationType): Promise<void> {
  const { connection } = site
  refuseLoss(site, model)
  const existing = existingType(site, model.name)
  // CREATE OR REPLACE works only where the type stays.
  if (existing === null || existing === next) return
  const relation = relationOf(model.name)
  await connection.run(
    existing === 'table' ? sql`DROP TABLE ${relation}` : sql`DROP VIEW ${relation}`,
  )
}

export async function countRows(connection: Connection, relation: Sql): Promise<number> {
  const row = await connection.row(sql`SELECT count(*) AS n FROM ${relation}`)
  return numberOf(row?.['n'])
}
