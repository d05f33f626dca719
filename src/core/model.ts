// A compiled model: what a file means, with names resolved and types known.

import type { CsvSettings } from './csv-settings.ts'
import type { Trails } from './addresses.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { Meaning } from './meaning.ts'
import type { CompiledExternal, ExternalSource } from './sources.ts'
import type { ModelName } from './names.ts'
import type { Column, ColumnType } from './relation.ts'
import type { SourceFile, Span } from './source-text.ts'
import type { ModelBody } from './sql.ts'

export type Kind = Model['kind']

interface ModelBase {
  readonly name: ModelName
  readonly source: SourceFile
  readonly description: string | null
  /** Free-form words, for `tag:` in a selector. */
  readonly tags: readonly string[]
  readonly owner: string | null
  /** null: not served. An empty key: served as a collection only. */
  readonly expose: Expose | null
  /** `@fresh` of an exposed model. It is no part of the definition. */
  readonly fresh?: Fresh
  readonly columns: readonly Column[]
  /** Absent where nothing is said. It is no part of the definition. */
  readonly meaning?: Meaning
  /** Models that this one reads, in order of first mention, then those that only annotations name. */
  readonly dependsOn: readonly ModelName[]
  /** Tables of sources that it reads, as `source.table`. */
  readonly sources: readonly string[]
  /** Files and globs that it reads, as written, also through sources; their contents are part of its version. */
  readonly files: readonly string[]
  /** True when the same inputs may give other rows (now(), random(), remote files): such a model is never fresh. */
  readonly volatile: boolean
  /** When a volatile model has other rows that has the same columns each time. */
  readonly varies?: Varies
  /** Columns of a view or a table that a call makes another value in each build, where it stands in another model (or ''). */
  readonly givers?: readonly (readonly [column: string, model: string, call: string])[]
  /** The SELECT takes columns from its data (a PIVOT without IN): `columns` has those that are known without. */
  readonly columnsFromData?: true
  /**
   * Hash of what decides the rows and how they are served: canonical AST, macros, kind and keys. White space, comments
   * and `description` do not count.
   */
  readonly definition: string
  /** Run on the new rows before they are published: its own, those of sources that it reads, and files of checks/. */
  readonly checks: readonly Check[]
  /** Where the annotations stand that a run may have to refuse; those that are not written are missing. */
  readonly places: Readonly<Partial<Record<PlacedAnnotation, Span>>>
}

/** `daily`: only its date counts; `always`: the time, or chance. */
export type Varies = 'daily' | 'always'

export const placedAnnotations = [
  'kind',
  'contract',
  'unique_key',
  'incremental',
  'period',
  'deletes',
  'valid_from',
  'keep',
  'on_schema_change',
  'renamed_from',
  'expose',
] as const
export type PlacedAnnotation = (typeof placedAnnotations)[number]

export interface Check {
  /** `warn`: the rows are published all the same. */
  readonly severity: 'fail' | 'warn'
  /** What is written. A file of checks/ has its path here, and what it says of itself. */
  readonly text: string
  readonly span: Span
  /** Where it is written, if not in the file of the model. */
  readonly source?: SourceFile
  /** What it looks at, if not the model: a table of a source. */
  readonly on?: string
  /** A condition on the rows that it looks at; all when absent. */
  readonly where?: ModelBody
  /** How many rows it may find; none when absent. */
  readonly upTo?: UpTo
  readonly test: CheckTest
}

/** `percent`: of the rows of what is checked. */
export interface UpTo {
  readonly most: number
  readonly unit: 'rows' | 'percent'
}

/** NULLs pass, but for `not_null`. */
export type CheckTest =
  | { readonly is: 'not_null' | 'unique'; readonly columns: readonly string[] }
  | {
      readonly is: 'accepted'
      readonly column: string
      readonly type: ColumnType
      readonly values: readonly (string | boolean)[]
    }
  | {
      readonly is: 'references'
      readonly column: string
      readonly model: ModelName
      readonly target: string
    }
  | { readonly is: 'row_count'; readonly comparison: Comparison; readonly rows: number }
  /** True of every row. */
  | { readonly is: 'condition'; readonly body: ModelBody }
  /** A SELECT of the rows that must not exist. */
  | { readonly is: 'query'; readonly body: ModelBody }

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='

/** How far the rows that are served may be behind what has arrived. */
export interface Fresh {
  readonly text: string
  readonly seconds: number
}

export interface Expose {
  readonly key: readonly string[]
  readonly span: Span
}

/** In lower case, one that stands before another one with a dot behind it; null: any name may be read. */
export type NamesRead = readonly string[] | null

/** Something that values follow from, and the names that stand in it. */
interface RulePart {
  /** A hash. */
  readonly rule: string
  readonly names: NamesRead
}

/** What the rows of a query follow from, where single columns can be told apart from the rest. */
export interface RuleParts {
  readonly rest: RulePart
  /** One for each column, in their order. */
  readonly columns: readonly RulePart[]
}

interface QueryModel extends ModelBase {
  readonly body: ModelBody
  /** Of all that the query reads it names these columns; absent: that is not known. */
  readonly names?: NamesRead
  /** Absent: an edit of one column may change all of them. */
  readonly parts?: RuleParts
  /**
   * Hash of what the values of a row follow from: the part of `definition` that is left without checks, keys and how it
   * is served. Models with one rule make the same row of the same data.
   */
  readonly rule: string
}

/** The column whose greatest value in the table says how far the source has been read. */
export interface Watermark {
  readonly column: string
  /** How far before that value rows are read again: `1 hour`, or a number where the column is one. */
  readonly lookback: string | null
}

export const timeUnits = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export type TimeUnit = (typeof timeUnits)[number]

/** The ranges of a column of which each is made anew as a whole. */
export interface Period {
  readonly column: string
  /** How long one is: a unit of time, or a number where the column is one. */
  readonly every: TimeUnit | number
  /** How far before the newest row of the table periods are made anew in each run, as in Watermark. */
  readonly lookback: string | null
}

/**
 * `evolve`: new columns and wider types are adopted, other changes are rejected. `keep`: so, and columns that the query no
 * longer has stay in the table.
 */
export type OnSchemaChange = 'evolve' | 'keep' | 'rebuild' | 'fail'

/** A column of the model that a table may still have under its former name. */
export interface ColumnRename {
  readonly from: string
  readonly to: string
}

/** The table persists from run to run instead of being rebuilt each time. */
interface KeptBase extends QueryModel {
  readonly onSchemaChange: OnSchemaChange
  readonly renames: readonly ColumnRename[]
  /** What `rule` was while columns had their former names; absent: none had. */
  readonly formerRules?: readonly string[]
}

/** What to do with rows of the query that have the same key. */
export type OnDuplicate =
  { readonly take: 'none' } | { readonly take: 'latest'; readonly column: string }

export interface ViewModel extends QueryModel {
  readonly kind: 'view'
}

export interface TableModel extends QueryModel {
  readonly kind: 'table'
  /** `@rebuild: always`. */
  readonly isRebuilt?: true
}

/** `@keep`: how long rows stay in a table. */
export interface Keep {
  /** With the time of a row. */
  readonly column: string
  /** Such as `90 days`. */
  readonly age: string
}

export interface AppendModel extends KeptBase {
  readonly kind: 'append'
  /** Absent: all rows stay. */
  readonly keep?: Keep
  readonly watermark: Watermark
  /** Empty: whole rows are compared. */
  readonly uniqueKey: readonly string[]
}

export interface MergeModel extends KeptBase {
  readonly kind: 'merge'
  readonly uniqueKey: readonly [string, ...string[]]
  readonly onDuplicate: OnDuplicate
  /** `mirror`: rows whose key the query no longer returns are deleted; else they stay, which with `keep` is meant. */
  readonly deletes: 'keep' | 'mirror' | null
  /** null: the query is read whole. Always null with `mirror`. */
  readonly watermark: Watermark | null
}

export interface PeriodModel extends KeptBase {
  readonly kind: 'period'
  readonly period: Period
  /** Absent: all rows stay. */
  readonly keep?: Keep
  /** Empty: rows have none. */
  readonly uniqueKey: readonly string[]
}

/** `columns` ends with those that a run adds (core/kinds.ts), which the body does not give. */
export interface Scd2Model extends KeptBase {
  readonly kind: 'scd2'
  readonly uniqueKey: readonly [string, ...string[]]
  readonly onDuplicate: OnDuplicate
  /** The column with the time from which a row is valid; null: from the start of the run that sees it. */
  readonly validFrom: string | null
  /** A row is a new version where one of these differs; null: where any column does. */
  readonly compare: readonly string[] | null
  /** `close`: the version of a key that the query no longer returns has ended. */
  readonly deletes: 'keep' | 'close'
}

export interface EventsModel extends ModelBase {
  readonly kind: 'events'
  readonly renames: readonly ColumnRename[]
  /** Absent: all rows stay. */
  readonly keep?: Keep
  readonly onSchemaChange: Exclude<OnSchemaChange, 'rebuild' | 'keep'>
}

/** How the engine reads the file; several endings may stand for one (project/files.ts). */
export type SeedFormat = 'csv' | 'json' | 'parquet'

export interface SeedModel extends ModelBase {
  readonly kind: 'seed'
  readonly format: SeedFormat
  /** Types of columns that DuckDB would take for others. */
  readonly types: readonly SeedType[]
  /** What stands between the fields of a CSV, and how its values are written. */
  readonly delimiter: string | null
  readonly csv?: CsvSettings
}

export interface SeedType {
  readonly column: string
  readonly type: string
}

export type Model =
  | ViewModel
  | TableModel
  | AppendModel
  | MergeModel
  | PeriodModel
  | Scd2Model
  | EventsModel
  | SeedModel

/** Those whose table goes on from run to run and is fed by a SELECT. */
export type KeptModel = Extract<Model, KeptBase>

/** A column of which others are made. */
export interface ColumnOrigin {
  /** A model, or a table of a source as `source.table`; the two never have one name. */
  readonly model: string
  readonly column: string
}

/** Where a query names a table, or a column of one. */
export interface Mention {
  readonly source: SourceFile
  /** The place of the name, for a table with its schema. */
  readonly span: Span
  /** A model, or a table of a source as `source.table`. */
  readonly model: string
  /** null: the table is meant. */
  readonly column: string | null
  /** It is an item of a SELECT list and gives it its name. */
  readonly isItem?: true
  /** The names before it, where they are those of the table and not an alias. */
  readonly qualifier?: Span
}

/** For each column of a model, in order: the columns of models and sources that its values come from; null: not known. */
export type Lineage = readonly (readonly ColumnOrigin[] | null)[]

export interface Macro {
  /** In lower case. */
  readonly name: string
  readonly body: ModelBody
}

/** What is known of a model that does not compile. */
export interface FailedModel extends Pick<
  ModelBase,
  'name' | 'source' | 'tags' | 'sources' | 'dependsOn'
> {
  /** null where the file does not tell. */
  readonly kind: Kind | null
  /** Whether its file says that it is to be served. */
  readonly isExposed: boolean
  /** Why, with the places; they may lie in another file. Empty: a model that it reads has failed. */
  readonly mistakes: readonly Diagnostic[]
  /** The model whose mistakes these are: itself, or one that it reads, through others too. */
  readonly failedBy: ModelName
}

export interface CompiledProject {
  /** In an order in which each one comes after all that it reads; by name among equals. */
  readonly models: ReadonlyMap<ModelName, Model>
  /** By name, in the order of names. No model of `models` reads one of these. */
  readonly failed: ReadonlyMap<ModelName, FailedModel>
  /** All mistakes, those of `failed` and those that belong to no model. */
  readonly errors: readonly Diagnostic[]
  /** What follows `CREATE MACRO` in each statement of macros/*.sql, in an order in which they can be created. */
  readonly macros: readonly Macro[]
  /** Whether all of them are here; no model with a query compiles otherwise. */
  readonly macrosAreWhole: boolean
  /** Computed lazily: most commands do not need it. */
  readonly lineage: () => ReadonlyMap<ModelName, Lineage>
  /** Computed lazily, of models with a query that DuckDB shows. */
  readonly trails: () => ReadonlyMap<ModelName, Trails>
  readonly warnings: readonly Diagnostic[]
  /** In models and files of checks/; absent where a project was not compiled in this process. */
  readonly mentions?: () => readonly Mention[]
  /** The column whose values each column passes on unchanged; absent where `mentions` is. */
  readonly passed?: () => ReadonlyMap<ModelName, readonly (ColumnOrigin | null)[]>
  /** Equal only for projects that are equal in all that is here; absent where that is not known. */
  readonly identity?: string
  /** What the models can read that no run builds, and how it is attached; absent without `sources`. */
  readonly external?: {
    readonly sources: readonly ExternalSource[]
    /** Those that cannot be read now have the columns cached from the last time, if any. */
    readonly tables: readonly CompiledExternal[]
    /** Why a table cannot be read now, by its name. */
    readonly problems: ReadonlyMap<string, Diagnostic>
  }
}
