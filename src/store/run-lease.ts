// The right to change a target, which one run has at a time.

export interface RunLease {
  /** Waits for a run in progress; then throws EnvironmentError `run-locked`. Disposing of it releases the lease. */
  take(options: LeaseOptions): Promise<AsyncDisposable>
  /** Who has it; null when nobody does. */
  holder(): Promise<LeaseHolder | null>
}

export interface LeaseOptions {
  /** `--wait`; limits.runLockWaitMs when it is not given. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

export interface LeaseHolder {
  /** For people. */
  readonly name: string
  /** False for one that died without releasing it; the next run takes it over. */
  readonly alive: boolean
}
