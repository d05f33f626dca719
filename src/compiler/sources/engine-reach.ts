// A project that reads from the network reads nothing but what eider.yml names: while its models are compiled the engine
// reaches the files of the project and those of its sources, and no other file or host. Models are bound there, which
// opens what they read, so that what lies outside is a mistake of the model.

import type { Extensions } from '../../core/extensions.ts'
import { type ExternalSource, isRemote } from '../../core/sources.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { isFileTable, reachOf } from './files.ts'
import { sourceAccess } from './kinds.ts'

/** Extensions that a project names give its models all that they can do. */
const REACHING = ['httpfs', 'azure', 'aws']

export const mustCloseEngine = (
  dir: string,
  sources: readonly ExternalSource[],
  extensions: Pick<Extensions, 'names'> | undefined,
): boolean =>
  sources.some(
    (source) =>
      filesOf(source, dir) === null ||
      source.tables.some(({ location }) => isRemote(location ?? '')),
  ) && !REACHING.some((name) => extensions?.names.includes(name) === true)

/** For all connections of the engine, and for good. */
export async function closeEngine(
  connection: Connection,
  dir: string,
  sources: readonly ExternalSource[],
): Promise<void> {
  const reached = sources.flatMap(({ tables }) =>
    tables.filter(isFileTable).map((table) => reachOf(dir, table)),
  )
  const directories = reached.flatMap((one) => ('directory' in one ? [one.directory] : []))
  const paths = [
    ...reached.flatMap((one) => ('path' in one ? [one.path] : [])),
    ...sources.flatMap((source) => filesOf(source, dir) ?? []),
  ]
  const list = (all: readonly string[]) => sql.join([...new Set(all)].map((one) => sql.value(one)))
  await connection.run(sql`
    SET GLOBAL allowed_directories = [${list([`${dir}/`, ...directories])}];
    SET GLOBAL allowed_paths = [${list(paths)}];
    SET GLOBAL enable_external_access = false`)
}

const filesOf = (source: ExternalSource, dir: string) =>
  sourceAccess[source.kind].filesOf(source, dir)
