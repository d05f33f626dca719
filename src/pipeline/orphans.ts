// Relations that runs created and no file of the project creates any more. They are kept, since a history is not the
// tool's to destroy; these are the ways to adopt one under another name, and to drop one.

import { UsageError } from '../core/failures.ts'
import { knownModels } from '../compiler/select.ts'
import type { CompiledProject } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import type { Orphan } from '../core/report/progress.ts'
import { sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import { type Catalog, readCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { countRows, createSchema, relationOf, relationType } from './build/materialize/relation.ts'
import { readState, type State } from './store/state.ts'

/** By name. */
export async function readOrphans(
  { connection, catalog, state }: Found,
  project: Pick<CompiledProject, 'models' | 'failed'>,
): Promise<readonly Orphan[]> {
  const known = knownModels(project)
  const orphans: Orphan[] = []
  for (const [model, { kind }] of state.models) {
    const type = relationType(catalog, model)
    if (type === null || known.has(model)) continue
    const rows = type === 'view' ? null : await countRows(connection, relationOf(model))
    orphans.push({ model, kind, rows })
  }
  return orphans.toSorted((a, b) => (a.model < b.model ? -1 : 1))
}

interface Found {
  readonly connection: Connection
  readonly catalog: Catalog
  readonly state: State
}

/** Removes the relation and its state. Throws UsageError where no run created it. */
export async function dropRelation(connection: Connection, name: string): Promise<Orphan> {
  const catalog = await readCatalog(connection)
  const { models } = await readState(connection)
  const found = [...models].find(([model]) => sameName(model, name))
  if (found === undefined)
    throw new UsageError(`no run created "${name}"`, {
      hint:
        didYouMean(name, models.keys()) ??
        '"eider ls" lists tables and views that no file creates any more',
    })
  const [model, { kind }] = found
  const type = relationType(catalog, model)
  const rows = type === 'table' ? await countRows(connection, relationOf(model)) : null
  await connection.transact(async () => {
    if (type !== null) await connection.run(dropOf(model, type))
    await connection.run(sql`DELETE FROM _eider.models WHERE lower(model) = ${lower(model)}`)
    await connection.run(
      sql`DELETE FROM _eider.rejected_events WHERE lower(target) = ${lower(model)}`,
    )
  })
  return { model, kind, rows }
}

/**
 * Gives a relation with its rows and its state another name. `replace`: drop what a run created under that name. Throws
 * UsageError where there is nothing to move, or something in the way.
 */
export async function moveRelation(
  connection: Connection,
  from: ModelName,
  to: ModelName,
  { replace }: { readonly replace: boolean },
): Promise<Orphan | null> {
  const catalog = await readCatalog(connection)
  const { models } = await readState(connection)
  const record = [...models].find(([model]) => sameName(model, from))
  const type = record === undefined ? null : relationType(catalog, record[0])
  if (record === undefined || type === null) return null
  const [old, { kind }] = record
  if (kind === 'events')
    throw new UsageError(
      `${old} holds events, and events are sent to it and buffered under that name`,
      {
        hint: `keep it, and let a model of kind view give it the new name: SELECT * FROM ${old}`,
      },
    )
  const inTheWay = relationType(catalog, to)
  if (inTheWay !== null && !replace) {
    const rows = inTheWay === 'table' ? await countRows(connection, relationOf(to)) : null
    throw new UsageError(
      `the warehouse already has a ${inTheWay} ${to}${rows === null ? '' : `, with ${rows} rows`}`,
      { hint: `--replace drops it: eider mv ${from} ${to} --replace` },
    )
  }
  const rows = type === 'table' ? await countRows(connection, relationOf(old)) : null
  await connection.transact(async () => {
    if (inTheWay !== null) await connection.run(dropOf(to, inTheWay))
    await connection.run(sql`DELETE FROM _eider.models WHERE lower(model) = ${lower(to)}`)
    // The next run recreates a view; a table may change its schema, for which DuckDB has no ALTER.
    if (type === 'table') {
      await connection.run(createSchema(to))
      await connection.run(sql`CREATE TABLE ${relationOf(to)} AS FROM ${relationOf(old)}`)
      await connection.run(sql`
        UPDATE _eider.models SET model = ${sql.value(to)}, removed_at = NULL
        WHERE lower(model) = ${lower(old)}`)
    } else await connection.run(sql`DELETE FROM _eider.models WHERE lower(model) = ${lower(old)}`)
    await connection.run(dropOf(old, type))
  })
  return { model: to, kind, rows }
}

const lower = (name: ModelName) => sql`lower(${sql.value(name)})`

const dropOf = (name: ModelName, type: 'table' | 'view') =>
  type === 'table' ? sql`DROP TABLE ${relationOf(name)}` : sql`DROP VIEW ${relationOf(name)}`
