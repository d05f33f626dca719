// How each kind of source is written in eider.yml. A kind that is missing here does not compile.

import type { SourceKind } from '../../core/sources.ts'
import { databaseFile } from './database-files.ts'
import { databaseServer } from './servers.ts'
import type { SourceKey, SourceOption, SourceReader } from './source-reader.ts'

export const sourceReaders: Readonly<Record<SourceKind, SourceReader>> = {
  files: {
    key: null,
    options: {},
    read: () => ({ database: null, server: null, schema: 'main' }),
  },
  duckdb: databaseFile(
    'database',
    'DuckDB file that has the tables, relative to the project directory. Without it each table is a file',
  ),
  sqlite: databaseFile('sqlite', 'SQLite file that has the tables'),
  postgres: databaseServer('postgres', 'PostgreSQL', () => 'public'),
  mysql: databaseServer('mysql', 'MySQL or MariaDB', (server) => server?.database ?? ''),
}

const readers = Object.values(sourceReaders)

/** The keys that say where the tables are. */
export const sourceKeys: readonly SourceKey[] = readers.flatMap(({ key }) => key ?? [])

export const sourceOptions: readonly (readonly [name: string, option: SourceOption])[] = [
  ...new Map(readers.flatMap(({ options }) => Object.entries(options))),
]
