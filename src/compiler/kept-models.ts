// Models that an earlier compile understood and that nothing has changed since: they take part in a compile as they are.
// The engine sees of them no more than an empty table, and only where a model that is compiled now reads it.

import type { Diagnostic } from '../core/diagnostics.ts'
import type { CompiledProject, Lineage, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import { wholeFile } from '../core/source.ts'
import { sql } from '../core/sql.ts'
import type { Draft } from './bind/draft.ts'

/** What is known of a model once it is compiled, and holds as long as its file and the columns that it reads do. */
export interface ModelUnit {
  /** Without the checks of files of checks/. */
  readonly model: Model
  /** Those of its own file, or of its own data file, in the order in which they were found. */
  readonly warnings: readonly Diagnostic[]
  /** Names, in lower case, that it looked up and that no model has. */
  readonly absent: readonly string[]
}

export interface KeptUnit extends ModelUnit {
  readonly lineage: Lineage
}

export type KeptModels = ReadonlyMap<ModelName, KeptUnit>

export interface CompiledUnits {
  readonly project: CompiledProject
  /** One for each model that was bound, and for each that was kept. */
  readonly units: ReadonlyMap<ModelName, ModelUnit>
  /** Columns that the engine gave to models that are kept, where others read them. */
  readonly standIns: ReadonlyMap<ModelName, readonly Column[]>
}

/** Bound, it is an empty table with the columns of the model. */
export function draftKept({ model, warnings }: KeptUnit): Draft {
  return {
    name: model.name,
    dependsOn: model.dependsOn,
    complete: true,
    rows: () => sql`SELECT ${sql.nulls(model.columns)}`,
    placeOf: () => wholeFile(model.source.path),
    // It has no columns then, which are others than it had.
    explain: () => Promise.resolve([]),
    finish: () => Promise.resolve({ model, diagnostics: warnings }),
  }
}
