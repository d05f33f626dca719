// Published states, as services read them.

import type { Logger } from '../core/logger.ts'
import type { PublishedRelation, Snapshot, StoredRows } from '../core/snapshot.ts'
import type { AttachedFile, EngineSettings } from '../duckdb/read-only.ts'

export interface SnapshotReader {
  /** The command that brings a state here. */
  readonly broughtBy: string
  readonly rows: StoredRows
  /** What is published now; null where nothing is. */
  current(): Promise<CurrentState | null>
  /** `onChange` is called when another state may be current. It may miss one, so call `current` now and then. */
  follow(onChange: () => void): Following
  /** A state that was current once; null when it is no longer retained, or cannot be read. */
  find(id: string): Promise<Snapshot | null>
  /** Youngest first; those that cannot be read are not among them. */
  retained(): Promise<readonly Snapshot[]>
  /** The catalog of a retained state; null where it has none. */
  catalog(id: string): Promise<CatalogText | null>
  /** What an engine attaches to get the rows of a relation under `name`. */
  open(relation: PublishedRelation, name: string): AttachedFile
  /** What is wrong with the rows of a relation at first sight, as one sentence; null for nothing. */
  problemOf(relation: PublishedRelation): Promise<string | null>
  /** Equal for the same rows, unchanged since, so that what was found in them is not looked for again. */
  identityOf(relation: PublishedRelation): Promise<string>
  /** Reads the rows of a snapshot to their end. Relations that cannot be checked are left out. */
  findDamage(
    snapshot: Snapshot,
    engine: LookEngine,
    signal: AbortSignal,
  ): Promise<readonly DamagedFile[]>
  /** Asks the next run to write them again. Where that cannot be done, the log says what is left to do. */
  markDamage(found: readonly DamagedFile[], logger: Logger): Promise<void>
}

export interface CurrentState {
  /** Equal for the same state. */
  readonly mark: string
  /** In slices, which yield to other work. Throws an Error that says what is wrong with it. */
  read(): Promise<Snapshot>
}

export interface CatalogText {
  /** Changes with the text. */
  readonly mark: string
  readonly bytes: number
  /** Throws when it is gone meanwhile. */
  read(): Promise<Buffer>
}

export interface Following {
  /** Follows unless it does already: there may be nothing to follow before the first publication. */
  ensure(): void
  close(): void
}

export interface DamagedFile {
  readonly file: string
  /** One sentence with the name of the file. */
  readonly problem: string
}

/** The settings of the engine that looks for damage. */
export type LookEngine = Omit<EngineSettings, 'connections'>
