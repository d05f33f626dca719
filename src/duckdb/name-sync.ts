// The name of a write-ahead log, which DuckDB recreates at any time and does not sync.

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncPath } from '../files/durable-files.ts'

/**
 * Syncs the directory that names the write-ahead log, unless that is the very log whose name is on disk already. A file
 * system that tells no time of birth tells 0, or that of the last change, and has its directory synced each time.
 */
export function nameSync(path: string): () => Promise<void> {
  let synced: string | null = null
  return async () => {
    const log = statSync(`${path}.wal`, { bigint: true, throwIfNoEntry: false })
    const isTold = log !== undefined && log.birthtimeNs > 0n
    const current = isTold ? `${log.dev} ${log.ino} ${log.birthtimeNs}` : null
    if (current !== null && current === synced) return
    await syncPath(dirname(path))
    synced = current
  }
}
