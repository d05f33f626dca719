// Where the time of a run went, as `run --profile` prints it. Members are named as in JSON.

import type { ModelName } from '../names.ts'
import type { ModelResult } from './progress.ts'

/** What the engine holds at a moment, for whatever it works on. */
export interface EngineUse {
  readonly memory_bytes: number
  /** On the disk, of what does not fit in memory. */
  readonly spilled_bytes: number
}

/** Times in milliseconds. */
export interface RunProfile {
  /** From the start of the command on. */
  readonly ms: number
  readonly compile_ms: number
  readonly flush_ms: number
  /** From the first model to the last; several may be built at a time. */
  readonly models_ms: number
  readonly publish_ms: number
  /** Locks, opening and closing the warehouse, records of the run. */
  readonly other_ms: number
  readonly peak_memory_bytes: number
  readonly spilled_bytes: number
  /** Those that were built or failed, the longest first. */
  readonly models: readonly ModelProfile[]
}

export interface ModelProfile {
  readonly model: ModelName
  readonly status: ModelResult['status']
  /** With its part in the commit, and its publication. */
  readonly ms: number
  readonly build_ms: number
  readonly checks_ms: number
  readonly publish_ms: number
  readonly rows: number | null
  /** The most that the engine held while it was worked on; null where it was too short to be seen. */
  readonly peak_memory_bytes: number | null
  readonly spilled_bytes: number | null
}

export interface PlanOperator {
  /** What an operator reads follows it, one deeper. */
  readonly depth: number
  readonly name: string
  /** What it is about: a table, a condition, keys. */
  readonly details: string
  /** What the engine guessed. null: it did not. */
  readonly estimated_rows: number | null
  /** null: it was not run. */
  readonly rows: number | null
  readonly ms: number | null
}

export interface ExplainedPlan {
  readonly operators: readonly PlanOperator[]
  /** What the whole query took. null: it was not run. */
  readonly analyzed: {
    readonly ms: number
    /** The time of all threads. */
    readonly cpu_ms: number
    readonly peak_memory_bytes: number
    /** Largest size of what did not fit in memory. */
    readonly spilled_bytes: number
    readonly rows_scanned: number
  } | null
}
