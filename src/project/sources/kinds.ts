// How each kind of source is written in eider.yml. A kind that is missing here does not compile.

import type { SourceKind } from '../../core/sources.ts'
import { described, text } from '../schema/value-schemas.ts'
import { textOf } from './nodes.ts'
import { databaseServer } from './servers.ts'
import type { SourceKey, SourceOption, SourceReader } from './source-reader.ts'

/** A database in a file of this machine. */
const databaseFile = (key: string, description: string): SourceReader => ({
  key: { name: key, schema: described(description, text) },
  options: {},
  read: (group) => ({
    database: textOf(group, key, EXPECTED_DATABASE),
    server: null,
    schema: 'main',
  }),
})

const EXPECTED_DATABASE = 'the path of a database file, relative to the project directory'

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
