// `@keep`: how long rows stay in a table, and by which of its columns.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Keep } from '../core/model.ts'
import { type Column, isReceivedAt } from '../core/relation.ts'
import type { SourceFile } from '../core/source-text.ts'
import type { ModelHeader } from './annotations/annotations.ts'
import { resolveColumns } from './sql/named-columns.ts'

interface FoundKeep {
  /** null: all rows stay. */
  readonly keep: Keep | null
  readonly diagnostics: readonly Diagnostic[]
}

/** An events model keeps by the time at which an event was received, unless another column is named. */
export function keepOfEvents(
  source: SourceFile,
  header: ModelHeader,
  columns: readonly Column[],
): FoundKeep {
  const received = columns.find(isReceivedAt)?.name ?? null
  return keepOf(source, header, columns, received)
}

/** `usual`: the column where none is named; null: one has to be. */
export function keepOf(
  source: SourceFile,
  { keep: given }: ModelHeader,
  columns: readonly Column[],
  usual: string | null,
): FoundKeep {
  if (given === undefined) return { keep: null, diagnostics: [] }
  const { age, column: named } = given.value
  const place = { source, span: given.valueSpan }
  const { names, diagnostics } = resolveColumns(
    source,
    'keep',
    named === null ? [] : [named],
    columns,
  )
  if (diagnostics.length > 0) return { keep: null, diagnostics }
  const column = names[0] ?? usual
  if (column === null) {
    const problem = 'nothing says how old a row is: the model has no column received_at TIMESTAMPTZ'
    const hint = `add that column, or name another one: -- @keep: ${age} of ordered_at`
    return { keep: null, diagnostics: [diagnostic('invalid-keep', { problem }, place, hint)] }
  }
  const type = columns.find(({ name }) => name === column)?.type ?? ''
  if (/^(?:DATE|TIMESTAMP)/.test(type)) return { keep: { column, age }, diagnostics: [] }
  const problem = `"${column}" is ${type}, which does not say how old a row is`
  const hint = `name a column with a time: -- @keep: ${age} of ordered_at`
  return { keep: null, diagnostics: [diagnostic('invalid-keep', { problem }, place, hint)] }
}
