// What a plan says of each step: made in pipeline/, drawn in cli/, printed as JSON (docs/commands.md).

import { limits } from '../limits.ts'
import type { FailedModel, Model } from '../model.ts'
import type { ModelName } from '../names.ts'
import type { Step } from '../step.ts'

export interface PlannedStep extends Step<Model | FailedModel> {
  readonly columns: readonly PlannedColumn[]
  /** What happens to the waiting events; null where that was not tried. */
  readonly events: EventsVerdict | null
  /** null without a diff, and for a model that is not built or fails. */
  readonly diff: ModelDiff | null
}

/** What the next publication changes for clients of the OData service. */
export interface ContractChange {
  readonly set: string
  /** One line. */
  readonly change: string
  /** A client that works today may fail. */
  readonly breaking: boolean
  /** Of a change that breaks clients; absent where the project names nobody. */
  readonly read_by?: ReadBy
}

/** Who reads a set, or columns of it that are others; members are named as in JSON. */
export interface ReadBy {
  /** Directly or through others. */
  readonly models: readonly ModelName[]
  /** Of those models. */
  readonly sets: readonly string[]
  /** Names of `odata.tokens` for which the set is there. */
  readonly tokens: readonly string[]
}

/** `read by mart.a, mart.b (set mart_b) and the token "excel"`. */
export function readByText({ models, sets, tokens }: ReadBy): string {
  const published =
    sets.length === 0 ? '' : ` (${sets.length === 1 ? 'set' : 'sets'} ${some(sets)})`
  const holders = tokens.map((token) => `"${token}"`)
  const parts = [
    ...(models.length === 0 ? [] : [`${some(models)}${published}`]),
    ...(tokens.length === 0
      ? []
      : [`the ${tokens.length === 1 ? 'token' : 'tokens'} ${some(holders)}`]),
  ]
  return `read by ${parts.join(' and ')}`
}

function some(names: readonly string[]): string {
  const left = names.length - limits.namedReaders
  const shown = names.slice(0, limits.namedReaders).join(', ')
  return left > 0 ? `${shown} and ${left} more` : shown
}

export interface PlannedColumn {
  readonly column: string
  /** null: the column is new. */
  readonly from: string | null
  /** null: the column is gone. */
  readonly to: string | null
  /** The name that it has in the table. */
  readonly renamedFrom?: string
}

export interface ModelDiff {
  /** null: there is no table yet, or it is a view that is not published, whose rows nobody counts. */
  readonly rowsBefore: number | null
  readonly rowsAfter: number | null
  /** null: rows are not compared. */
  readonly changes: RowChanges | null
  /** One line for each `@warn` that finds something. */
  readonly warnings: readonly string[]
}

export interface RowChanges {
  readonly inserted: number
  readonly changed: number
  readonly removed: number
  /** Columns that tell rows apart. Empty: whole rows are compared, so none counts as changed. */
  readonly key: readonly string[]
  /** At most limits.plannedRows of each sort, in the order of their keys. */
  readonly sample: readonly RowChange[]
}

/** Values are texts, cut at limits.shownRowCharacters; null is NULL. */
export type Values = Readonly<Record<string, string | null>>

export type RowChange =
  | { readonly change: 'inserted' | 'removed'; readonly row: Values }
  | {
      readonly change: 'changed'
      readonly key: Values
      /** Those whose value differs. */
      readonly columns: Readonly<
        Record<string, { readonly from: string | null; readonly to: string | null }>
      >
    }

/** What happens to events that wait in the buffer. */
export interface EventsVerdict {
  readonly waiting: number
  readonly rejected: number
  /** Events that were rejected before and fit now. */
  readonly retried: number
  /** At most limits.plannedReasons, those of most events first. */
  readonly reasons: readonly RejectionReason[]
  /** Of columns that the table has and the model no longer lists; missing where no waiting event has a value for one. */
  readonly kept?: readonly KeptCount[]
}

/** How many events have a value for a column that the model no longer lists. */
export interface KeptCount {
  readonly column: string
  readonly events: number
}

export const keptText = ({ column, events }: KeptCount): string =>
  `${events === 1 ? '1 event has' : `${events} events have`} a value for "${column}", which the model no longer lists: it goes into that column of the table, which is not published`

interface RejectionReason {
  /** Why the first of the events is rejected. */
  readonly reason: string
  readonly events: number
  /** Sequence number of the first of the events. */
  readonly first: number
}
