// How the engines of the service are opened.

import type { SnapshotReader } from '../../store/snapshot-reader.ts'

export interface EngineOptions {
  readonly published: SnapshotReader
  readonly threads: number
  readonly memoryLimit: string | null
  /** Below it each engine spills into its own directory. */
  readonly tempDir: string
}
