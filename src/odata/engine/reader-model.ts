// A snapshot as a reader sees it who may not see all of it: sets out of scope are not there, and of the others only the
// rows that the filters of the token let through. A filter that cannot be applied hides its set; one whose set is gone hides
// all: the set may go by another name now, under which nobody has filtered it.

import { entitySetName, type ModelName } from '../../core/names.ts'
import type { RowFilter } from '../../core/row-filter.ts'
import {
  type PublishedRelation,
  rowsInAnyOrder,
  type Snapshot,
  type TableName,
} from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { textOf } from '../../duckdb/values.ts'
import {
  buildEntityModelInSlices,
  type FilteredRows,
  type SnapshotFacts,
} from '../edm/entity-model.ts'
import type { EntityModel } from '../edm/model.ts'
import type { Reader } from '../../access/reader.ts'
import { tableSql } from '../sql/visible-rows.ts'

export interface ReaderView {
  /** Without what is out of scope; rows are counted, and sizes are left out. */
  readonly snapshot: Snapshot
  readonly model: EntityModel
  readonly problems: readonly UnboundFilter[]
}

interface UnboundFilter {
  readonly set: string
  readonly filter: RowFilter
  /** Words of DuckDB, for the log and for the start. */
  readonly problem: string
}

export async function readerView(
  reader: Reader,
  snapshot: Snapshot,
  facts: SnapshotFacts,
  connection: Connection,
): Promise<ReaderView> {
  const relations: PublishedRelation[] = []
  const filters = new Map<ModelName, FilteredRows>()
  const problems: UnboundFilter[] = []
  const published = snapshot.relations.map(({ model }) => entitySetName(model))
  const gone = published.length === 0 ? [] : reader.filtersBeside(published)
  for (const { set, filter } of gone)
    problems.push({ set, filter, problem: 'no such set is published' })
  for (const relation of snapshot.relations) {
    const set = entitySetName(relation.model)
    if (gone.length > 0 || !reader.sees(set)) continue
    const only = reader.filtersOf(set)
    if (only.length === 0) {
      if (!isOfHiddenRows(relation, reader)) relations.push(relation)
      continue
    }
    const { stored } = facts
    const table = rowsInAnyOrder(stored, relation, set)
    const unbound: UnboundFilter[] = []
    for (const filter of only) {
      const problem = await problemOf(connection, table, filter)
      if (problem !== null) unbound.push({ set, filter, problem })
    }
    problems.push(...unbound)
    if (unbound.length > 0) continue
    const rows = await count(connection, table, only)
    relations.push({ ...relation, rows, bytes: 0 })
    filters.set(relation.model, { only, storedRows: relation.rows })
  }
  const seen = { ...snapshot, relations }
  const model = await buildEntityModelInSlices(seen, { ...facts, filters })
  return { snapshot: seen, model, problems }
}

/** Its numbers are of all rows of a set, of which the reader sees only some. */
function isOfHiddenRows({ meaning }: PublishedRelation, reader: Reader): boolean {
  const of = meaning?.rollup?.of
  return of !== undefined && reader.filtersOf(entitySetName(of)).length > 0
}

/** A text where the condition does not bind, is not a condition, or fails on a row; all rows are tried. */
async function problemOf(connection: Connection, table: TableName, filter: RowFilter) {
  try {
    const [column] = await connection.columnsOf(
      sql`SELECT (${sql.body(filter.condition)}\n) AS condition FROM ${sql.ident(...table)}`,
    )
    if (column?.type !== 'BOOLEAN') return `it is ${column?.type}, not BOOLEAN`
    await count(connection, table, [filter])
    return null
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    return error.details.message.split('\n')[0]!
  }
}

async function count(connection: Connection, table: TableName, only: readonly RowFilter[]) {
  const row = await connection.row(
    sql`SELECT CAST(count(*) AS VARCHAR) AS n FROM ${tableSql({ table, only })}`,
  )
  return Number(textOf(row?.['n']))
}
