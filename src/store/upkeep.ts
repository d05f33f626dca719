// Work that a store needs from time to time: `eider maintain`.

export interface Upkeep {
  /** Throws EnvironmentError, also `run-locked` when a run goes on for longer than `waitMs`. */
  maintain(options: UpkeepOptions): Promise<UpkeepReport>
}

export interface UpkeepOptions {
  /** Changes nothing, and reports what would be done. */
  readonly dryRun: boolean
  /** Brings the catalog to the version of this engine first. */
  readonly migrate: boolean
  readonly waitMs: number
  readonly signal: AbortSignal
}

export interface UpkeepReport {
  readonly tables: readonly TableUpkeep[]
  /** States that can no longer be read; in a dry run those that would be dropped. */
  readonly statesDropped: number
  readonly statesKept: number
  /** Objects that nothing names any more; in a dry run those that would be deleted. */
  readonly filesDeleted: number
  /** Rows of the tool's own records. */
  readonly recordsDeleted: number
}

/** In a dry run, what is there. */
export interface TableUpkeep {
  readonly table: string
  readonly filesBefore: number
  readonly filesAfter: number
  /** Bytes of data files; files that note deleted rows are not counted. */
  readonly bytes: number
  /** Somebody else changed the table meanwhile, so that it was left as it is. */
  readonly busy: boolean
}
