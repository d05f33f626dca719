// Bringing what is published elsewhere to this machine, where services read it.

import type { Retention } from './snapshots.ts'

export interface PullOptions {
  readonly retention: Retention
  /** A state is shown so long after it was published, so that all services have it by then. */
  readonly takeUpMs: number
  readonly signal: AbortSignal
}

export interface Pulled {
  /** What services of this machine show now; null where nothing is published. */
  readonly snapshot: { readonly id: string; readonly publishedAt: Date } | null
  /** Whether they did not show it before. */
  readonly changed: boolean
  /** Files that were made, also again since they were damaged. */
  readonly files: number
  /** States that are no longer in the lake, so that nobody can pull them. */
  readonly missed: readonly string[]
}

/** One for each machine: throws EnvironmentError `pull-running` where another process has it. */
export interface Puller extends AsyncDisposable {
  pull(options: PullOptions): Promise<Pulled>
}
