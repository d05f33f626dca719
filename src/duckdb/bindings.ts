// DuckDB's C interface.

import { createRequire } from 'node:module'

/** Loaded as the CommonJS that it is: an `import` would have Node read it twice, for the names that it exports. */
export const bindings = createRequire(import.meta.url)(
  '@duckdb/node-bindings',
) as typeof import('@duckdb/node-bindings')
