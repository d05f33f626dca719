// Columns that the target of a project cannot store. A table with one would fail in its first run.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Column } from '../core/relation.ts'
import type { SourceFile, Span } from '../core/source.ts'
import { storedType } from '../core/stored-types.ts'
import type { ProjectFiles } from '../core/project.ts'

/** What a draft knows of where its rows will lie. */
export interface TargetTypes {
  readonly hasStoredTypes: ProjectFiles['hasStoredTypes']
}

interface StoredPlaces {
  readonly source: SourceFile
  /** The place of a column in the text. */
  readonly spanOf: (index: number) => Span
  readonly hintOf: (column: Column) => string
}

export function unstorableColumns(
  { hasStoredTypes }: TargetTypes,
  columns: readonly Column[],
  { source, spanOf, hintOf }: StoredPlaces,
): readonly Diagnostic[] {
  if (hasStoredTypes !== true) return []
  return columns.flatMap((column, i): readonly Diagnostic[] => {
    const { name, type } = column
    if (storedType(type) !== null) return []
    const place = { source, span: spanOf(i) }
    return [diagnostic('lake-type', { column: name, type }, place, hintOf(column))]
  })
}

const PLAIN = /^[a-z_]\w*$/

export function castToJson({ name }: Pick<Column, 'name'>): string {
  const column = PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`
  return `cast it: CAST(${column} AS JSON) AS ${column}`
}
