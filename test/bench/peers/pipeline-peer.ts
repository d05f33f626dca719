// A tool that builds tables of DuckDB from models: the same models in its form and in eider's. Commands are timed whole.

import type { Took } from '../processor-time.ts'
import { heavyModels } from './heavy-models.ts'
import { manyModels } from './many-models.ts'
import { mergedRows } from './merged-rows.ts'
import type { PeerBenchmark } from './peer.ts'

export interface PipelineModel {
  readonly schema: string
  readonly table: string
  /** It names other models `schema.table`, and a source `files.name`. */
  readonly query: string
  /** Without it, the table is replaced. With it, rows replace those of the same key. */
  readonly merge?: {
    readonly key: string
    /** A column with the time when a row came. */
    readonly at: string
  }
}

/** Paths of Parquet files, which may be patterns, by name. */
export type Sources = Readonly<Record<string, string>>

export interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

export interface PipelineProject extends AsyncDisposable {
  write(model: PipelineModel): Promise<void>
  /** Builds the models that are new or have changed. */
  build(): Promise<Took>
  /** Merges the rows of the sources that came until the end of a day, which only SQLMesh has to be told. */
  merge?(day: string): Promise<Took>
  /** Makes the empty table that rows are merged into, where the first merge does not. */
  prepare?(): Promise<unknown>
  /** Prints the names of the models. */
  readonly list?: Command
  /** A statement of DuckDB that makes its tables readable under a name. */
  attach(name: string): string
  tableOf(model: Pick<PipelineModel, 'schema' | 'table'>): string
}

export interface PipelinePeer extends Pick<
  PeerBenchmark,
  'name' | 'title' | 'version' | 'settings' | 'durability' | 'missing'
> {
  /** Of many; 1,000 where it is missing. */
  readonly models?: number
  /** Of a project of 1,000 models. */
  readonly goals: { readonly unchanged: number | null; readonly changed: number | null }
  /** A project without models. */
  open(sources: Sources): Promise<PipelineProject>
}

export const pipelineComparison = (peer: PipelinePeer): PeerBenchmark => ({
  ...peer,
  async run(options) {
    return [
      ...(await manyModels(peer, options)),
      ...(await mergedRows(peer, options)),
      await heavyModels(peer, options),
    ]
  },
})
