// What a lake remembers of a target (layout.ts), read at one moment. Each message to PostgreSQL is a round trip, and
// a transaction alone is four, so all of it is read in one.

import type { LakeTarget } from '../../core/lake.ts'
import { sql } from '../../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { ModelName } from '../../core/names.ts'
import { type FlushPosition, type ModelRecord, STATE_SCHEMA } from '../state.ts'
import { readLakeCatalog } from './catalog.ts'
import { checkLayout } from './layout.ts'
import { readPositions } from './positions.ts'

/** A row of `builds`. */
export interface Build extends Omit<ModelRecord, 'kind'> {
  readonly seq: string
  readonly run_id: string
  readonly model: string
  readonly kind: string
}

export interface LakeLook {
  readonly catalog: EngineCatalog
  /** The last of each model; of the marks those of runs that have not ended, and the last of all rows. */
  readonly builds: readonly Build[]
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
}

/** In the transaction of the caller; null: no run has been there. Throws EnvironmentError. */
export async function readLook(connection: Connection, lake: LakeTarget): Promise<LakeLook | null> {
  const catalog = await readLakeCatalog(connection)
  // The last table of the layout that is made.
  if (!catalog.relations.has(catalogKey(STATE_SCHEMA, 'builds'))) return null
  checkLayout(await connection.row(sql`SELECT format, project FROM _eider.format`), lake)
  const builds = (await connection.texts(sql`
    SELECT CAST(seq AS VARCHAR) AS seq, run_id, model, kind, fingerprint, version, definition, removed
    FROM (SELECT *, max(seq) OVER () AS last FROM _eider.builds
      QUALIFY row_number() OVER (
        PARTITION BY lower(model), CASE WHEN model = '' THEN run_id END ORDER BY seq DESC) = 1)
    WHERE NOT (model = '' AND definition = 'ended') OR seq = last`)) as unknown as readonly Build[]
  return { catalog, builds, positions: await readPositions(connection, catalog) }
}
