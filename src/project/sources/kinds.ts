// How each kind of source is written in eider.yml. A kind that is missing here does not compile.

import type { SourceKind } from '../../core/sources.ts'
import { type SourceReader, textOf } from './nodes.ts'
import { databaseServer } from './servers.ts'

/** A database in a file of this machine. */
const databaseFile = (key: string): SourceReader => ({
  key,
  isOnServer: false,
  options: {},
  read: (group) => ({ database: textOf(group, key, EXPECTED_FILE), server: null, schema: 'main' }),
})

const EXPECTED_FILE = 'the path of a database file, relative to the project directory'

export const sourceReaders: Readonly<Record<SourceKind, SourceReader>> = {
  files: {
    key: null,
    isOnServer: false,
    options: {},
    read: () => ({ database: null, server: null, schema: 'main' }),
  },
  duckdb: databaseFile('database'),
  sqlite: databaseFile('sqlite'),
  postgres: databaseServer('postgres', () => 'public'),
  mysql: databaseServer('mysql', (server) => server?.database ?? ''),
}

const readers = Object.values(sourceReaders)

/** The keys that say where the tables are. */
export const sourceKeys: readonly string[] = readers.flatMap(({ key }) => key ?? [])

/** The reason of each key that only some kinds have. */
export const sourceOptions: ReadonlyMap<string, string> = new Map(
  readers.flatMap(({ options }) => Object.entries(options)),
)
