// How the engines of the service are opened.

export interface EngineOptions {
  /** The snapshots directory. */
  readonly dir: string
  readonly threads: number
  readonly memoryLimit: string | null
  /** Below it each engine spills into a directory of its own. */
  readonly tempDir: string
}
