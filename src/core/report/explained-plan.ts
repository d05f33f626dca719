// How the engine works out the SELECT of a model: what `eider explain` prints, in the names of its JSON.

export interface PlanOperator {
  /** What an operator reads follows it, one deeper. */
  readonly depth: number
  readonly name: string
  /** What it is about: a table, a condition, keys. */
  readonly details: string
  /** As the engine guessed; null: it did not. */
  readonly estimated_rows: number | null
  /** null: it was not run. */
  readonly rows: number | null
  readonly ms: number | null
}

export interface ExplainedPlan {
  readonly operators: readonly PlanOperator[]
  /** Of the whole query; null: it was not run. */
  readonly analyzed: {
    readonly ms: number
    /** Of all threads. */
    readonly cpu_ms: number
    readonly peak_memory_bytes: number
    /** Largest size of what did not fit in memory. */
    readonly spilled_bytes: number
    readonly rows_scanned: number
  } | null
}
