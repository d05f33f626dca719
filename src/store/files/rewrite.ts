// The warehouse made again from what is in it: DuckDB gives back no space within its file.
//
//   <database>.rewritten   the new file, while it is made; one rename puts it in the place of the old one. What a killed
//                          process has left is removed by the next

import { existsSync } from 'node:fs'
import { chmod, realpath, stat } from 'node:fs/promises'
import { EnvironmentError } from '../../core/failures.ts'
import { limits } from '../../core/limits.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { renameDurably } from '../../files/durable-files.ts'
import type { Warehouse, WriteOptions } from '../warehouse.ts'
import { logsOf } from './log-repair.ts'
import { removeDatabase } from './published.ts'

interface RewriteOptions extends WriteOptions {
  /** For crash tests: called between the steps. */
  readonly onStep?: ((step: string) => void | Promise<void>) | undefined
}

/** Returns the bytes of the new file. */
export async function rewrite(
  { database }: ProjectPaths,
  warehouse: Warehouse,
  options: RewriteOptions,
): Promise<number> {
  // What a rename puts in the place of a link would be a file.
  const path = await realpath(database)
  const next = `${path}.rewritten`
  await removeDatabase(next)
  try {
    await using opened = await warehouse.open(options)
    await using connection = await opened.connect()
    await connection.run(sql`CHECKPOINT`)
    await copyInto(connection, next)
    await options.onStep?.('copied')
    await connection.run(sql`CHECKPOINT`)
  } catch (error) {
    // On a full disk it would take the room that others wait for.
    await removeDatabase(next)
    throw error
  }
  for (const log of logsOf(path))
    if (existsSync(log))
      throw new EnvironmentError(
        'warehouse-unusable',
        `the log ${log} could not be written into the warehouse`,
        { hint: 'let eider write to both, and repeat the command' },
      )
  await chmod(next, (await stat(path)).mode)
  await renameDurably(next, path)
  return (await stat(path)).size
}

async function copyInto(connection: Connection, path: string): Promise<void> {
  const name = sql.ident('_eider_rewritten')
  const [own] = await connection.rows(sql`
    SELECT current_database() AS name, coalesce(tags['storage_version'], '') AS version
    FROM duckdb_databases() WHERE database_name = current_database()`)
  const from = textOf(own?.['name'])
  const version = /v[\d.]+\d/.exec(textOf(own?.['version']))?.[0] ?? 'latest'
  await connection.run(sql`
    ATTACH ${sql.value(path)} AS ${name}
    (STORAGE_VERSION ${sql.value(version)}, BLOCK_SIZE ${sql.value(limits.databaseBlockBytes)})`)
  try {
    await connection.run(sql`COPY FROM DATABASE ${sql.ident(from)} TO ${name}`)
    await compareNames(connection, from)
    await compareRows(connection, from)
  } finally {
    await connection.run(sql`DETACH ${name}`)
  }
}

/** The old file is about to go: what is in it has to be in the new one too. */
async function compareNames(connection: Connection, from: string): Promise<void> {
  const namesIn = (database: string) => sql`
    SELECT {kind: 'table', s: schema_name, n: table_name} AS item FROM duckdb_tables()
    WHERE database_name = ${sql.value(database)} AND NOT internal
    UNION ALL SELECT {kind: 'view', s: schema_name, n: view_name} FROM duckdb_views()
    WHERE database_name = ${sql.value(database)} AND NOT internal
    UNION ALL SELECT {kind: 'index', s: schema_name, n: index_name} FROM duckdb_indexes()
    WHERE database_name = ${sql.value(database)}
    UNION ALL SELECT {kind: 'sequence', s: schema_name, n: sequence_name} FROM duckdb_sequences()
    WHERE database_name = ${sql.value(database)}
    UNION ALL SELECT {kind: 'macro', s: schema_name, n: function_name} FROM duckdb_functions()
    WHERE database_name = ${sql.value(database)} AND NOT internal`
  const missing = await connection.rows(sql`
    SELECT concat(item.kind, ' ', item.s, '.', item.n) AS name
    FROM ((${namesIn(from)}) EXCEPT (${namesIn('_eider_rewritten')}))`)
  if (missing.length > 0)
    throw new Error(`the copy lacks ${missing.map(({ name }) => textOf(name)).join(', ')}`)
}

async function compareRows(connection: Connection, from: string): Promise<void> {
  const tables = await connection.rows(sql`
    SELECT schema_name AS schema, table_name AS name FROM duckdb_tables()
    WHERE database_name = ${sql.value(from)}`)
  const differing: string[] = []
  for (const { schema, name } of tables) {
    const [inSchema, table] = [textOf(schema), textOf(name)]
    const count = (database: string) =>
      sql`(SELECT count(*) FROM ${sql.ident(database, inSchema, table)})`
    const row = await connection.row(
      sql`SELECT ${count(from)} - ${count('_eider_rewritten')} AS missing`,
    )
    if (numberOf(row?.['missing']) !== 0) differing.push(`${inSchema}.${table}`)
  }
  if (differing.length > 0) throw new Error(`the copy of ${differing.join(', ')} has other rows`)
}
