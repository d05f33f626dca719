// Published states as files, as they stood at a time.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import {
  type PublishedRelation,
  retainedManifestFile,
  rowsInAnyOrder,
} from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type Connection, Database } from '../../duckdb/database.ts'
import { isDamage } from '../../duckdb/errors.ts'
import type { KeptStates, PastStates } from '../past-states.ts'
import { sizeProblem } from './damage.ts'
import { fileReader } from './reader.ts'
import { fileRows } from './rows.ts'
import { timesOf } from './published-times.ts'
import { readSnapshots } from './snapshot-directory.ts'

export function filePastStates({ dir, snapshots }: ProjectPaths): PastStates {
  const reader = fileReader(snapshots)
  return {
    openEngine: (options) => Database.open({ path: ':memory:', searchDir: dir, ...options }),
    list: () => list(snapshots),
    olderBytes: () => olderBytes(snapshots),
    find: ({ id }) => reader.find(id),
    problemOf: (relation) => sizeProblem(snapshots, relation),
    attach: (connection, relations) => attach(snapshots, connection, relations),
    isLost: isDamage,
  }
}

async function list(dir: string): Promise<KeptStates> {
  const names = await readdir(dir).catch(() => [])
  if (names.length === 0) return { states: [], unreadable: [] }
  const found = await readSnapshots(dir)
  const known = new Set(found.retained.map(({ id }) => retainedManifestFile(id)))
  const unreadable = names.filter((name) => /^manifest-.+\.json$/.test(name) && !known.has(name))
  return { states: timesOf(found), unreadable: unreadable.map((name) => join(dir, name)) }
}

/** A file that an older state shares with the newest costs nothing. */
async function olderBytes(dir: string): Promise<number> {
  const { current, retained } = await readSnapshots(dir)
  const older = new Map(
    retained.flatMap(({ relations }) => relations.map(({ file, bytes }) => [file, bytes])),
  )
  for (const { file } of current?.relations ?? []) older.delete(file)
  return [...older.values()].reduce((sum, bytes) => sum + bytes, 0)
}

async function attach(
  dir: string,
  connection: Connection,
  relations: readonly PublishedRelation[],
): Promise<ReadonlyMap<ModelName, Sql>> {
  const queries = new Map<ModelName, Sql>()
  for (const relation of relations) {
    const { model, file, columns } = relation
    const name = `_eider_past_${file.replace(/\.duckdb$/, '')}`
    await connection.run(sql`
      ATTACH IF NOT EXISTS ${sql.value(join(dir, file))} AS ${sql.ident(name)} (READ_ONLY)`)
    const names = sql.join(columns.map((column) => sql.ident(column.name)))
    queries.set(
      model,
      sql`SELECT ${names} FROM ${sql.ident(...rowsInAnyOrder(fileRows, relation, name))}`,
    )
  }
  return queries
}
