// `eider mv`: a model gets another name, with its file, its relation and its state. A run finishes what a killed one left:
// where the file has its new name, the relation gets it too.

import { lstatSync } from 'node:fs'
import {
  rm,
  lstat,
  mkdir,
  readlink,
  realpath,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { join, dirname, isAbsolute, relative, resolve } from 'node:path'
import { count } from '../../core/counts.ts'
import { UsageError, EnvironmentError } from '../../core/failures.ts'
import { type ModelName, sameName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import type { Orphan } from '../../core/report/progress.ts'
import { Resources } from '../../core/resources.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { countRows, createSchema, relationType } from '../build/materialize/relation.ts'
import type { Opened } from '../orphans.ts'
import { recordWork } from '../record-work.ts'
import { RunResults } from '../results.ts'
import { readRenaming, recordRenaming, type Renaming, strikeRenaming } from './record.ts'
import { hintOfSystem, problemOfSystem } from '../../files/system-errors.ts'

type Place = Pick<ProjectPaths, 'dir' | 'state'>

interface RenameOptions extends Omit<Renaming, 'file'> {
  /** null: it has its new name already. */
  readonly file: (RenamedFile & Renaming['file']) | null
}

/** Under the lease of the target. null: the model has no relation. Throws UsageError where something is in the way. */
export async function renameModel(
  opened: Opened,
  place: Place,
  { from, to, file, replace, rollups = [] }: RenameOptions,
): Promise<Orphan | null> {
  const earlier = await finishRenaming(opened, place)
  const isSame = earlier !== null && sameName(earlier.renaming.from, from)
  if (isSame && sameName(earlier.renaming.to, to)) return earlier.relation
  try {
    if (file !== null)
      await recordRenaming(place, {
        from,
        to,
        file: { from: file.from, to: file.to },
        replace,
        rollups,
      })
    const relation = await renameRelation(opened, from, to, { replace, file, rollups })
    if (relation === null) await file?.rename()
    return relation
  } finally {
    await strikeRenaming(place)
  }
}

/** Under the lease of the target, before anything of it is read; null: none was interrupted after its first step. */
export async function finishRenaming(
  opened: Opened,
  place: Place,
): Promise<{ readonly renaming: Renaming; readonly relation: Orphan | null } | null> {
  const renaming = await readRenaming(place)
  if (renaming === null) return null
  const statOf = (path: string) => lstatSync(join(place.dir, path), { throwIfNoEntry: false })
  const { from, to, file, replace, rollups = [] } = renaming
  const made = statOf(file.to)
  const isRenamed = made !== undefined && statOf(file.from) === undefined
  try {
    // A link is made under the new name before the old one goes.
    if (!isRenamed && made?.isSymbolicLink() === true) await rm(join(place.dir, file.to))
    if (!isRenamed) return null
    const options = { replace, file: null, rollups }
    return { renaming, relation: await renameRelation(opened, from, to, options) }
  } finally {
    await strikeRenaming(place)
  }
}

/**
 * Gives a relation with its rows and its state another name; null where there is none. `replace`: drop what a run created
 * under that name, but for events, which exist nowhere else. `file` is renamed last in the transaction, and back when that
 * fails. Throws UsageError where something is in the way.
 */
export async function renameRelation(
  { connection, state, tables }: Opened,
  from: ModelName,
  to: ModelName,
  {
    replace,
    file,
    rollups = [],
  }: {
    readonly replace: boolean
    /** Tables of its rollups, which go: the next run makes them under their new names. */
    readonly rollups?: readonly ModelName[]
    readonly file: Pick<RenamedFile, 'rename' | 'renameBack'> | null
  },
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
  const rows = type === 'table' ? await countRows(connection, sql.relation(old)) : null
  await using undo = new Resources()
  await state.change(connection, async () => {
    if (inTheWay !== null) await tables.drop(connection, to, inTheWay)
    await state.forget(connection, to)
    // The next run recreates a view; a table may change its schema, for which DuckDB has no ALTER.
    if (type === 'table') {
      await connection.run(createSchema(to))
      const query = sql`FROM ${sql.relation(old)}`
      const statement = sql`CREATE TABLE ${sql.relation(to)} AS ${query}`
      await tables.create(connection, to, { query, statement })
      await state.rename(connection, old, to)
    } else await state.forget(connection, old)
    await tables.drop(connection, old, type)
    for (const name of rollups.filter((one) => models.has(one)))
      await dropTable({ connection, state, tables }, name, relationType(catalog, name))
    await noteRenamed(connection, old, to)
    if (file === null) return
    await file.rename()
    undo.defer(() => file.renameBack())
  })
  undo.move() // the transaction is committed
  return { model: to, kind, rows }
}

async function noteRenamed(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
  const { runId, startedAt } = new RunResults(new Date(), () => {})
  const because = `renamed from ${from}`
  const renamed = { model: to, status: 'unchanged', because, renamed_from: from, ms: 0 } as const
  await recordWork(connection, { command: 'mv', runId, startedAt, models: [renamed] })
}

async function dropTable(
  { connection, state, tables }: Pick<Opened, 'connection' | 'state' | 'tables'>,
  name: ModelName,
  type: 'table' | 'view' | null,
): Promise<void> {
  if (type === null) return
  await tables.drop(connection, name, type)
  await state.forget(connection, name)
}

/** Such as `core.orders (merge, 3 rows)`. */
async function describeRelation(
  connection: Connection,
  name: ModelName,
  kind: string,
  type: 'table' | 'view',
): Promise<string> {
  if (type === 'view') return `${name} (${kind})`
  const rows = await countRows(connection, sql.relation(name))
  return `${name} (${kind}, ${count(rows, 'row')})`
}

interface RenamedFile extends AsyncDisposable {
  rename(): Promise<void>
  renameBack(): Promise<void>
}

/**
 * Makes the directory, which goes again on disposal unless the file is in it. Throws UsageError where `to` exists, and
 * EnvironmentError `file-failed` where the disk refuses, as rename() does.
 */
export async function prepareFile(
  dir: string,
  { from, to }: Renaming['file'],
): Promise<RenamedFile & Renaming['file']> {
  const [source, target] = [join(dir, from), join(dir, to)]
  const attempt = <T>(work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      const message = `${from} cannot be moved to ${to}: ${problemOfSystem(cause)}`
      const hint = hintOfSystem(cause) ?? 'nothing was changed; move the file by hand'
      throw new EnvironmentError('file-failed', message, { hint, cause })
    })
  const made = await attempt(mkdir(dirname(target), { recursive: true }))
  if (await attempt(exists(target)))
    throw new UsageError(`${to} already exists`, { hint: 'move it away, or choose another name' })
  return {
    from,
    to,
    rename: () => attempt(moveOne(source, target)),
    renameBack: () => attempt(moveOne(target, source)),
    async [Symbol.asyncDispose]() {
      // A directory with the file in it is not empty, and stays.
      if (made !== undefined) await rmdir(made).catch(() => undefined)
    },
  }
}

/** A relative link is made again, since from another directory it would lead elsewhere. */
async function moveOne(source: string, target: string): Promise<void> {
  const leadsTo = (await lstat(source)).isSymbolicLink() ? await readlink(source) : null
  const [from, to] = [await realpath(dirname(source)), await realpath(dirname(target))]
  if (leadsTo === null || isAbsolute(leadsTo) || from === to) return await rename(source, target)
  await symlink(relative(to, resolve(from, leadsTo)), target)
  await unlink(source)
}

/** True also for a broken link. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
