// The driver, loaded as the CommonJS that it is. An `import` would have Node read its hundred files a second time, for
// the names that they export, which doubles the time that a command takes to start.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export const {
  DuckDBInstance,
  StatementType,
  version: engineVersion,
} = require('@duckdb/node-api') as Pick<
  typeof import('@duckdb/node-api'),
  'DuckDBInstance' | 'StatementType' | 'version'
>

/** The calls of the engine's C interface that the driver is made of. */
export const bindings = require('@duckdb/node-bindings') as typeof import('@duckdb/node-bindings')
