// The right to change a target, which one run has at a time.

import type { ModelName } from '../core/names.ts'

export interface RunLease {
  /** Whether it is the same for all runs, also of some models. */
  readonly isOne: boolean
  /** Waits for a run in progress; then throws EnvironmentError `run-locked`. Disposing of it releases the lease. */
  take(options: LeaseOptions): Promise<AsyncDisposable>
  /** Who has it; null when nobody does. */
  holder(): Promise<LeaseHolder | null>
}

export interface LeaseOptions {
  /** Those that the run is about, where it leaves all others as they are; null or not given: all. */
  readonly models?: readonly ModelName[] | null
  /** The name of the work, such as the id of a run, which others are shown. */
  readonly name?: string
  /** `--wait`; limits.runLockWaitMs when it is not given. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

export interface LeaseHolder {
  readonly name: string
  /** False for one that died without releasing it; the next run takes it over. */
  readonly alive: boolean
  /** Where it matters how long it has been held. */
  readonly since?: Date
  /** The lock file, where it came here with a copy of the project in which the holder works. */
  readonly copiedLock?: string
}
