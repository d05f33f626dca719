// What the engine holds while a run works, looked at many times a second on a connection that does nothing else.

import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../core/limits.ts'
import type { EngineUse } from '../core/report/run-profile.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'

const USE = sql`
  SELECT CAST(sum(memory_usage_bytes) AS DOUBLE) AS memory, CAST(sum(temporary_storage_bytes) AS DOUBLE) AS spilled
  FROM duckdb_memory()`

/** Looks until it is disposed of, which closes the connection. A run is not worth failing for what it says of itself. */
export function watchEngine(
  connection: Connection,
  onUse: (use: EngineUse) => void,
): AsyncDisposable {
  const stop = new AbortController()
  const look = async () => {
    while (!stop.signal.aborted) {
      const row = await connection.row(USE)
      onUse({ memory_bytes: Number(row?.['memory']), spilled_bytes: Number(row?.['spilled']) })
      await sleep(limits.profileEveryMs, undefined, { signal: stop.signal })
    }
  }
  const looking = look().catch(() => {})
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await looking
      await connection[Symbol.asyncDispose]()
    },
  }
}
