// The right to change a target, which one run has at a time.

export interface RunLease {
  /** Waits for a run that is at work; then throws EnvironmentError `run-locked`. Disposing of it gives the right back. */
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
  /** False for one that is gone and has left it behind; the next run takes it over. */
  readonly alive: boolean
}
