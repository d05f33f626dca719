// Values of annotations: one member for each form that a value may have, which read-annotation.ts reads.

import type { Comparison, OnSchemaChange, UpTo } from '../../core/model.ts'
import type { Span } from '../../core/source.ts'
import type { SqlValue } from '../../core/sql.ts'

/** A column that an annotation names, as written there. */
export interface NamedColumn {
  readonly name: string
  readonly span: Span
}

export interface AnnotationValues {
  readonly word: string
  readonly text: string
  readonly columns: readonly NamedColumn[]
  readonly optionalColumns: readonly NamedColumn[]
  readonly incremental: { readonly column: NamedColumn; readonly lookback: string | null }
  /** The column of `latest`; null for `fail`. */
  readonly onDuplicate: NamedColumn | null
  readonly deletes: 'keep' | 'mirror'
  readonly onSchemaChange: OnSchemaChange
  readonly check: CheckSyntax
  readonly models: readonly NamedModel[]
  readonly contract: ContractTerm
  readonly columnText: { readonly column: NamedColumn; readonly text: string }
}

/** One line of what an exposed model promises. `nothing`: it is still to be written down. */
export type ContractTerm =
  | { readonly is: 'nothing' }
  | { readonly is: 'key'; readonly columns: readonly string[] }
  | {
      readonly is: 'column'
      readonly column: string
      readonly type: string
      readonly nullable: boolean
    }

/** The checks that are written like calls, each by an example. */
export const checkExamples = {
  not_null: 'not_null(a, b)',
  unique: 'unique(a, b)',
  accepted: "accepted(a, 'x', 'y')",
  references: 'references(a, schema.model.column)',
  row_count: 'row_count(> 0)',
} as const satisfies Record<Exclude<CheckForm['is'], 'condition'>, string>

export type CheckName = keyof typeof checkExamples

export const checkNames = Object.keys(checkExamples) as readonly CheckName[]

/** `condition`: the whole value is SQL, but for what follows it. */
export type CheckSyntax = CheckForm & { readonly upTo?: UpToSyntax }

export interface UpToSyntax extends UpTo {
  /** Characters at the end of the value. */
  readonly length: number
}

export type CheckForm =
  | { readonly is: 'not_null' | 'unique'; readonly columns: readonly NamedColumn[] }
  | { readonly is: 'accepted'; readonly column: NamedColumn; readonly values: readonly SqlValue[] }
  | {
      readonly is: 'references'
      readonly column: NamedColumn
      readonly model: NamedModel
      readonly target: NamedColumn
    }
  | { readonly is: 'row_count'; readonly comparison: Comparison; readonly rows: bigint }
  | { readonly is: 'condition' }

/** A model that an annotation names, as written there but for its quotes. */
export interface NamedModel {
  readonly name: string
  readonly span: Span
}
