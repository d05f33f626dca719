// Tables that go on from run to run: append, merge, scd2. The frame that they share: stage the rows, bring the columns of
// the table in line, then write what the kind says. All in the transaction of the caller.

import { isDeepStrictEqual } from 'node:util'
import { versionColumns } from '../../../core/model.ts'
import { foldCase, sameName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import { isEdited } from '../../store/state.ts'
import { appendStage } from './append.ts'
import { checkKey, duplicatesHint } from './check-key.ts'
import { type Adaptation, adaptationOf } from './evolve.ts'
import { mergeStage, refuseEmptyMirror } from './merge.ts'
import {
  type Built,
  continuesTable,
  countRows,
  makeWay,
  relationOf,
  type Site,
} from './relation.ts'
import { currentRows, firstVersions, trackStage } from './scd2.ts'
import { fillStage, type KeptModel, STAGE } from './stage.ts'

export async function buildKept(site: Site, model: KeptModel): Promise<Built> {
  const { connection } = site
  const columns = await fillStage(site, model)
  const built = await writeStage(site, model, columns)
  await connection.run(sql`DROP TABLE ${STAGE}`)
  await checkKeys(site, model)
  return built
}

async function writeStage(
  site: Site,
  model: KeptModel,
  columns: readonly Column[],
): Promise<Built> {
  if (!continuesTable(site, model)) return create(site, model)
  const { connection } = site
  const target = relationOf(model.name)
  const before = ownColumns(model, await describe(connection, sql`FROM ${target}`))
  const { is, statements } = adaptationOfKept(model, before, columns)
  if (is === 'rebuild') return create(site, model)
  for (const statement of statements) await connection.run(statement)
  const rows = await write(site, model, columns, before)
  return { changed: rows > 0 || is === 'evolved', rows }
}

/** Those that the body gives. */
export function ownColumns({ kind }: KeptModel, columns: readonly Column[]): readonly Column[] {
  if (kind !== 'scd2') return columns
  return columns.filter(({ name }) => !versionColumns.some((added) => sameName(added, name)))
}

/** Of the table's own columns to those of the body. Throws ModelFailure for a change that `@on_schema_change` refuses. */
export function adaptationOfKept(
  model: KeptModel,
  from: readonly Column[],
  to: readonly Column[],
): Adaptation {
  return adaptationOf({
    relation: relationOf(model.name),
    from,
    to,
    removed: 'refuse',
    policy: model.onSchemaChange,
    canRebuild: model.kind === 'merge' && model.deletes === 'mirror',
  })
}

async function create(site: Site, model: KeptModel): Promise<Built> {
  const { connection } = site
  const target = relationOf(model.name)
  await makeWay(site, model, 'table')
  await refuseEmptyMirror(site, model)
  const rows = model.kind === 'scd2' ? firstVersions(site) : sql`FROM ${STAGE}`
  await connection.run(sql`CREATE OR REPLACE TABLE ${target} AS ${rows}`)
  return { changed: true, rows: await countRows(connection, target) }
}

function write(
  site: Site,
  model: KeptModel,
  columns: readonly Column[],
  before: readonly Column[],
): Promise<number> {
  switch (model.kind) {
    case 'append':
      return appendStage(site, model, columns, before)
    case 'merge':
      return mergeStage(site, model, columns)
    case 'scd2':
      return trackStage(site, model, columns)
  }
}

// The rows of the SELECT have been checked, so no change of it helps.
const OTHER_KEY =
  'the table was filled under another key; keep that one, or rebuild the table with --full-refresh'

/**
 * The stage has each key once, so the table has too, unless it was filled under another key, or a range of it was
 * replaced. An exposed key of its own is checked each time.
 */
export async function checkKeys(site: Site, model: KeptModel): Promise<void> {
  const { connection, record, range } = site
  const target = relationOf(model.name)
  if (isEdited(record, model) || range !== null) {
    const rows = model.kind === 'scd2' ? currentRows(target) : target
    const hint = range === null ? OTHER_KEY : duplicatesHint(model.kind)
    await checkKey(connection, rows, model.uniqueKey, 'unique_key', hint)
  }
  const exposed = model.expose?.key ?? []
  if (model.kind === 'scd2' || !sameColumns(model.uniqueKey, exposed))
    await checkKey(connection, target, exposed, 'expose')
}

const sameColumns = (a: readonly string[], b: readonly string[]) =>
  isDeepStrictEqual(a.map(foldCase).toSorted(), b.map(foldCase).toSorted())
