// A project directory as read, before anything is compiled.

import type { Board, BoardChart } from './boards.ts'
import type { CsvSettings } from './csv-settings.ts'
import type { DeclaredCheck, FilePlace } from './source-text.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { Extensions } from './extensions.ts'
import type { ExternalSource } from './sources.ts'
import type { LakeSettings } from './lake.ts'
import type { RollupOf as MadeOf } from './meaning.ts'
import type { ModelName } from './names.ts'
import type { SeedFormat, SeedType } from './model.ts'
import type { SourceFile, Span } from './source-text.ts'
import type { Variables } from './variables.ts'

export interface ProjectFiles {
  /** models/<schema>/<name>.sql */
  readonly models: readonly ModelFile[]
  /** seeds/<schema>/<name>.{csv,json,parquet}; their contents are not read */
  readonly seeds: readonly SeedFile[]
  /** macros/*.sql */
  readonly macros: readonly SourceFile[]
  /** checks/*.sql; none when absent. */
  readonly checks?: readonly SourceFile[]
  /** What each engine of the project loads; nothing when absent. */
  readonly extensions?: Extensions | undefined
  /** Whether the target stores some types as others, and refuses some (type-syntax.ts). Data, since files go to other processes. */
  readonly hasStoredTypes?: boolean | undefined
  /** Tables that no run builds; none when absent. */
  readonly sources?: readonly ExternalSource[]
  /** What `${name}` stands for; none when absent. */
  readonly variables?: Variables
  /** boards/*.yml; none when absent. */
  readonly boards?: readonly PlacedBoard[]
  /** Model files whose name is known and whose text is not. */
  readonly unreadable?: readonly ModelFile[]
  /** What is wrong with files that could not be read or placed; compiling reports it together with its own findings. */
  readonly problems?: readonly Diagnostic[]
}

export interface PlacedBoard extends Omit<Board, 'charts'> {
  readonly charts: readonly PlacedChart[]
  readonly source: SourceFile
}

export interface PlacedChart extends BoardChart {
  /** Of its address. */
  readonly span: Span
}

export interface ModelFile {
  readonly name: ModelName
  readonly source: SourceFile
  /** Only a model has it that no file has: an annotation of another one makes it. */
  readonly rollup?: RollupFile
}

export interface RollupFile extends MadeOf {
  /** What its mistakes are mistakes of. */
  readonly place: FilePlace
}

export interface SeedFile {
  readonly name: ModelName
  /** Relative to the project directory. */
  readonly path: string
  readonly format: SeedFormat
  /** From the .yml next to it; empty without one. */
  readonly types: readonly DeclaredType[]
  readonly csv?: CsvSettings
  /** From there too; none when absent. */
  readonly checks?: readonly DeclaredCheck[]
}

/** A column of a seed with the type that its author wants. */
export interface DeclaredType extends SeedType {
  readonly source: SourceFile
  readonly nameSpan: Span
  readonly typeSpan: Span
}

/** Absolute paths of what the tool owns. */
export interface ProjectPaths {
  readonly dir: string
  /** Not made where the target is a lake. */
  readonly database: string
  /** Where the tables of the target are, if they are in no file. */
  readonly lake?: LakeSettings | undefined
  /** `.eider` */
  readonly state: string
  readonly buffer: string
  readonly snapshots: string
  readonly runLock: string
  readonly collectLock: string
  /** `target`, for manifest.json and run_results.json */
  readonly target: string
}
