// A source that is a database in a file of this machine.

import { described, text } from '../schema/value-schemas.ts'
import type { SourceReader } from './source-reader.ts'
import { textOf } from './nodes.ts'

const EXPECTED = 'the path of a database file, relative to the project directory'

export const databaseFile = (key: string, description: string): SourceReader => ({
  key: { name: key, schema: described(description, text) },
  options: {},
  read: (group) => ({ database: textOf(group, key, EXPECTED), server: null, schema: 'main' }),
})
