// What `eider docs` puts into its file: a catalog, and what differs from another one. A browser loads this file, so it
// imports nothing but others such.

import type { Catalog } from './catalog.ts'

export interface DocsData {
  readonly catalog: Catalog
  /** When the file was written. */
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
