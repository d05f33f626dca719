// The catalog of a published state: what its sets are, how they were made and how its runs went. `run` writes it beside
// the manifest, `serve` sends it as /catalog.json, and the explorer shows it. So members are named as in JSON.
//
// `docs/formats.md` says what it looks like on disk. Members are only ever added under one format. A browser loads this
// file, so it imports nothing.

export const CATALOG_FORMAT = 1

export interface Catalog {
  readonly format: typeof CATALOG_FORMAT
  readonly project: string
  /** `sets`: nothing of models that are not exposed, and neither paths, owners, SQL nor runs. */
  readonly shows: 'project' | 'sets'
  /** False where the published state comes without a catalog: sets are known, models and runs are not. */
  readonly is_whole: boolean
  /** The id of the published state, as `/health` has it. */
  readonly snapshot: string
  /** ISO 8601, in UTC, as all times here. */
  readonly published_at: string
  /** The run that published it; later ones that changed nothing are in `runs`. */
  readonly run_id: string
  readonly sets: readonly CatalogSet[]
  /** In an order in which each one comes after all that it reads. */
  readonly models: readonly CatalogModel[]
  /** Tables of sources that models read. */
  readonly sources: readonly CatalogSource[]
  /** By model; those that no remembered run was about are not there. */
  readonly states: Readonly<Record<string, CatalogState>>
  /** Newest first, up to limits.catalogRuns. */
  readonly runs: readonly CatalogRun[]
  /** `runs[0]` with all of its models. */
  readonly last_run: CatalogLastRun | null
  /** Events that were set aside, most events first; at most limits.catalogReasons of them. */
  readonly rejected: readonly RejectedEvents[]
}

/** An entity set as it is published. */
export interface CatalogSet {
  /** The entity set, such as `core_orders`. */
  readonly name: string
  /** The model, such as `core.orders`. */
  readonly model: string
  readonly description: string | null
  readonly rows: number
  readonly bytes: number
  /** Empty: rows have no key. */
  readonly key: readonly string[]
  readonly columns: readonly CatalogColumn[]
  /** Absent where nothing is said. */
  readonly meaning?: CatalogMeaning
}

interface CatalogMeaning {
  readonly measures: readonly CatalogMeasure[]
  /** Columns. */
  readonly dimensions: readonly string[]
  /** The column with the time of a row. */
  readonly time: string | null
}

interface CatalogMeasure extends CatalogTexts {
  readonly name: string
  readonly text: string
  readonly type: string
  /** Those that it reads. */
  readonly columns: readonly string[]
}

/** How values are shown. */
interface CatalogTexts {
  readonly description?: string
  readonly label?: string
  readonly unit?: string
  readonly format?: string
}

export type CatalogKind =
  'view' | 'table' | 'append' | 'merge' | 'period' | 'scd2' | 'events' | 'seed'

export interface CatalogModel {
  /** `schema.table`. */
  readonly name: string
  /** null where its file does not tell. */
  readonly kind: CatalogKind | null
  readonly description: string | null
  readonly owner: string | null
  readonly tags: readonly string[]
  /** Its entity set; null: it is not exposed. */
  readonly set: string | null
  readonly depends_on: readonly string[]
  /** Tables of sources that it reads, as `source.table`. */
  readonly sources: readonly string[]
  /** A model has the columns of the project, a set those that were published. */
  readonly columns: readonly CatalogModelColumn[]
  readonly checks: readonly CatalogCheck[]
  /** Its columns, types and key are promised to clients, by `@contract`; missing where they are not. */
  readonly contract?: true
  /** As its file says it, published or not; missing where it says nothing, and with `sets`. */
  readonly meaning?: CatalogMeaning
  /** Its file, relative to the project. null with `sets`. */
  readonly path: string | null
  /** Its file as it is written; null with `sets`, and for seeds. */
  readonly sql: string | null
}

export interface CatalogColumn extends CatalogTexts {
  readonly name: string
  /** A type as DuckDB spells it, such as `DECIMAL(18,4)`. */
  readonly type: string
  readonly nullable: boolean
  /** The column with a text for people that says what this one means. */
  readonly text?: string
}

export interface CatalogModelColumn extends CatalogColumn {
  /** The columns of models and sources that its values come from; empty: of none; null: not known. */
  readonly lineage: readonly CatalogOrigin[] | null
}

export interface CatalogOrigin {
  /** A model, or a table of a source as `source.table`. */
  readonly model: string
  readonly column: string
}

export interface CatalogCheck {
  /** `warn`: the rows are published all the same. */
  readonly severity: 'fail' | 'warn'
  readonly text: string
}

/** What the last run that was about a model made of it. */
export interface CatalogState {
  readonly run_id: string
  /** When that run started. */
  readonly at: string
  readonly status: 'built' | 'unchanged' | 'failed' | 'skipped'
  /** Why, in one line; empty with `sets`. */
  readonly because: string
  readonly ms: number
  /** One line for each check that warned when it was built last; without words with `sets`, so count `warned`. */
  readonly warnings: readonly string[]
  readonly warned: number
  /** The last times it was built, newest first, up to limits.catalogBuilds. */
  readonly builds: readonly CatalogBuild[]
  /** All that had arrived at this time is in its rows: the start of a run; missing where no run has left it so. */
  readonly fresh_at?: string
  /** Seconds that it may be behind what has arrived, by its `@fresh`; missing where it has none. */
  readonly fresh_within?: number
}

/** The states in the text of a catalog as a run writes it; null where it is of another form. */
export function statesIn(text: string): Catalog['states'] | null {
  const [head = '', runs = ''] = text.split('\n', 2)
  if (!head.startsWith(`{"format":${CATALOG_FORMAT},`)) return null
  try {
    return (JSON.parse(`{${runs.replace(/,$/, '')}}`) as Pick<Catalog, 'states'>).states
  } catch {
    return null // a power cut may have left half of it
  }
}

export interface CatalogBuild {
  /** When the run started. */
  readonly at: string
  /** The rows of the table, or those that were written. null for a view. */
  readonly rows: number | null
  readonly ms: number
}

export interface CatalogSource {
  /** `source.table`. */
  readonly name: string
  readonly columns: readonly CatalogColumn[]
}

export interface CatalogRun {
  readonly run_id: string
  readonly started_at: string
  readonly ms: number
  /** Every model is built or unchanged. */
  readonly ok: boolean
  readonly built: number
  readonly unchanged: number
  readonly failed: number
  readonly skipped: number
  /** Checks that warned. */
  readonly warned: number
  /** Events that came into tables, and that were set aside. */
  readonly events: number
  readonly rejected: number
  /** The first models that failed; missing where none did, and for runs of versions that did not say. */
  readonly failures?: readonly CatalogFailure[]
}

export interface CatalogFailure {
  readonly model: string
  /** The beginning of what went wrong. */
  readonly because: string
}

export interface CatalogLastRun {
  readonly run_id: string
  readonly flushed: readonly {
    readonly model: string
    readonly events: number
    readonly rejected: number
  }[]
  readonly models: readonly {
    readonly model: string
    readonly status: CatalogState['status']
    readonly because: string
    readonly rows?: number
    readonly ms: number
    readonly warnings?: readonly string[]
  }[]
}

export interface RejectedEvents {
  /** The events model that they were sent to. */
  readonly model: string
  /** With values in it where the service that took them could not know better. */
  readonly reason: string
  readonly events: number
  /** When the last of them was rejected. */
  readonly last_at: string
}

export interface DocsData {
  readonly catalog: Catalog
  readonly written_at: string
  /** null: it was not compared with anything. */
  readonly changes: Changes | null
}

export interface Changes {
  /** The file that the project was compared with. */
  readonly against: string
  /** By model; those that are the same are not there. Models that were removed are in the catalog too. */
  readonly models: Readonly<Record<string, ModelChange>>
}

export interface ModelChange {
  /** `affected`: it reads, itself or by way of others, one that is changed. */
  readonly is: 'added' | 'removed' | 'changed' | 'affected'
  readonly columns: readonly ColumnChange[]
}

export interface ColumnChange {
  readonly name: string
  readonly is: 'added' | 'removed' | 'changed'
  /** null: there was none, or there is none. */
  readonly before: string | null
  readonly after: string | null
}
