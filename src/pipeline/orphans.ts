// Relations that runs created and no file of the project creates any more. They are kept, since a history is not the
// tool's to destroy; these are the ways to adopt one under another name, and to drop one.

import { count } from '../core/counts.ts'
import { UsageError } from '../core/failures.ts'
import { knownModels } from '../compiler/select.ts'
import type { CompiledProject } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import type { Orphan } from '../core/report/progress.ts'
import { Resources } from '../core/resources.ts'
import { sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Catalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { countRows, createSchema, relationOf, relationType } from './build/materialize/relation.ts'
import type { State } from '../store/state.ts'
import type { Store } from '../store/store.ts'
import { mayHoldMoreModels } from './kept-relations.ts'

/** By name. None while files are there that could not be placed or read: one of them may be that of the relation. */
export async function readOrphans(
  { connection, catalog, state }: Found,
  project: CompiledProject,
): Promise<readonly Orphan[]> {
  if (mayHoldMoreModels(project)) return []
  const known = knownModels(project)
  const orphans: Orphan[] = []
  const added = [...project.models.values()].filter(({ name }) => !state.models.has(name))
  for (const [model, { kind, definition }] of state.models) {
    const type = relationType(catalog, model)
    if (type === null || known.has(model)) continue
    const rows = type === 'view' ? null : await countRows(connection, relationOf(model))
    const heir = added.find((one) => one.definition === definition)
    orphans.push({ model, kind, rows, ...(heir === undefined ? {} : { renamed_to: heir.name }) })
  }
  return orphans.toSorted((a, b) => (a.model < b.model ? -1 : 1))
}

interface Found {
  readonly connection: Connection
  readonly catalog: Catalog
  readonly state: State
}

/** The warehouse of a target, to be changed by a command that holds its lease. */
export interface Opened extends Pick<Store, 'state' | 'tables'> {
  readonly connection: Connection
}

/** Removes the relation and its state. Throws UsageError where no run created it. */
export async function dropRelation(
  { connection, state, tables }: Opened,
  name: string,
): Promise<Orphan> {
  const known = await state.begin(connection, [])
  const { catalog } = known
  const { models } = known.state
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
  await state.change(connection, async () => {
    if (type !== null) await tables.drop(connection, model, type)
    await state.forget(connection, model)
    await connection.run(
      sql`DELETE FROM _eider.rejected_events WHERE lower(target) = ${lower(model)}`,
    )
  })
  return { model, kind, rows }
}

/** The file of the model that a relation belongs to. */
export interface FileMove {
  rename(): Promise<void>
  renameBack(): Promise<void>
}

/**
 * Gives a relation with its rows and its state another name; null where there is none. `replace`: drop what a run created
 * under that name, but for events, which exist nowhere else. `file` is renamed last in the transaction, and back when that
 * fails. Throws UsageError where something is in the way.
 */
export async function moveRelation(
  { connection, state, tables }: Opened,
  from: ModelName,
  to: ModelName,
  { replace, file }: { readonly replace: boolean; readonly file: FileMove | null },
): Promise<Orphan | null> {
  const known = await state.begin(connection, [])
  const { catalog } = known
  const { models } = known.state
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
  if (inTheWay !== null) {
    const kindInTheWay = [...models].find(([model]) => sameName(model, to))?.[1].kind
    const found = await describeRelation(connection, to, kindInTheWay ?? inTheWay, inTheWay)
    if (kindInTheWay === undefined)
      throw new UsageError(`the warehouse already has ${found}, which no run created`, {
        hint: 'choose another name; --replace drops only what runs created',
      })
    if (kindInTheWay === 'events')
      throw new UsageError(`the warehouse already has ${found}, which cannot be rebuilt`, {
        hint: `choose another name; --replace never drops collected events`,
      })
    if (!replace)
      throw new UsageError(`the warehouse already has ${found}`, {
        hint: `this drops ${found}: eider mv ${from} ${to} --replace`,
      })
  }
  const rows = type === 'table' ? await countRows(connection, relationOf(old)) : null
  await using undo = new Resources()
  await state.change(connection, async () => {
    if (inTheWay !== null) await tables.drop(connection, to, inTheWay)
    await state.forget(connection, to)
    // The next run recreates a view; a table may change its schema, for which DuckDB has no ALTER.
    if (type === 'table') {
      await connection.run(createSchema(to))
      const query = sql`FROM ${relationOf(old)}`
      const statement = sql`CREATE TABLE ${relationOf(to)} AS ${query}`
      await tables.create(connection, to, { query, statement })
      await state.rename(connection, old, to)
    } else await state.forget(connection, old)
    await tables.drop(connection, old, type)
    if (file === null) return
    await file.rename()
    undo.defer(() => file.renameBack())
  })
  undo.move() // the transaction is committed
  return { model: to, kind, rows }
}

/** Such as `core.orders (merge, 3 rows)`. */
async function describeRelation(
  connection: Connection,
  name: ModelName,
  kind: string,
  type: 'table' | 'view',
): Promise<string> {
  if (type === 'view') return `${name} (${kind})`
  const rows = await countRows(connection, relationOf(name))
  return `${name} (${kind}, ${count(rows, 'row')})`
}

const lower = (name: ModelName) => sql`lower(${sql.value(name)})`
