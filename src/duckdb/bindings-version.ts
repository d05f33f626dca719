// Which engine is installed, without loading it.

import { createRequire } from 'node:module'

/** The version of the package that contains DuckDB, such as `1.5.5-r.5`. */
export const bindingsVersion = (): string =>
  (createRequire(import.meta.url)('@duckdb/node-bindings/package.json') as { version: string })
    .version
