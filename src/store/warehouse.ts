// The tables of a target, in an engine of this process.

import type { Extensions } from '../core/extensions.ts'
import type { Connection, Database } from '../duckdb/database.ts'
import type { LeaseOptions } from './run-lease.ts'

export interface ReadOptions {
  readonly memoryLimit: string | null
  readonly threads?: number | null
  /** Where DuckDB spills to; DuckDB's default when absent. */
  readonly tempDir?: string | null
  /** What models need of the engine. Opening it throws ExtensionError where one cannot be loaded. */
  readonly extensions?: Extensions | undefined
  /** The caller has taken the lease. */
  readonly hasLease?: boolean
  /** What fails is not tried again: somebody waits for what is wrong. */
  readonly isHasty?: boolean
}

export interface WriteOptions extends ReadOptions {
  readonly maxTempSize?: string | null
  /** How long to wait for another process. */
  readonly lockWaitMs: number
  readonly signal: AbortSignal
}

/** What a run has written: a number is the bytes of its own record, where it wrote little else. */
export type Written = number | 'nothing' | 'much'

/** What it throws is EnvironmentError: `warehouse-locked`, `warehouse-damaged`, `warehouse-unusable`, `disk-full`. */
export interface Warehouse {
  readonly name: string
  /** Whether a reader keeps a run from opening it. */
  readonly readersHoldRuns: boolean
  /** False: nothing was built yet. */
  exists(): Promise<boolean>
  /** For a run, which holds the lease. */
  open(options: WriteOptions): Promise<Database>
  /** For readers; empty before the first run. */
  openToRead(options: ReadOptions): Promise<Database>
  /** The same, by an engine that can write other files. */
  openBeside(options: ReadOptions): Promise<Database>
  /** What the last run began with, in memory, for while this one holds the warehouse: relations have columns and no rows. */
  openLastState(options: ReadOptions): Promise<Database | null>
  /** At the end of a run, before it is closed. */
  checkpoint(connection: Connection, written: Written): Promise<void>
  /** Makes the database file at `path` a copy of it as the last run left it, to be changed at will. null: not a file. */
  readonly fork: ((path: string, lease: LeaseOptions) => Promise<void>) | null
}
