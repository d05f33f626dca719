// Seeds: data files of the project that are models without a query.

import { join } from 'node:path'
import type { SeedModel } from '../core/model.ts'
import { type Sql, sql } from '../core/sql.ts'

const readers = {
  csv: (path: Sql) => sql`SELECT * FROM read_csv(${path})`,
  json: (path: Sql) => sql`SELECT * FROM read_json(${path})`,
  parquet: (path: Sql) => sql`SELECT * FROM read_parquet(${path})`,
} as const

/** The rows of a seed's file. `dir` is the project directory. */
export function seedQuery(model: Pick<SeedModel, 'format' | 'source'>, dir: string): Sql {
  // The readers take patterns; a name with a star or a bracket means itself here.
  const path = join(dir, model.source.path).replaceAll(/[*?[]/g, '[$&]')
  return readers[model.format](sql.value(path))
}
