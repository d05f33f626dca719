// `@renamed_from new: old`: a column that tables of earlier runs have under another name. The line may stay: a table that has
// the new name is left alone. So there may be several lines for one column, each for another age of the table.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { kinds } from '../core/kinds.ts'
import type { ColumnRename, Kind } from '../core/model.ts'
import { foldCase, sameName } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { SourceFile } from '../core/source-text.ts'
import type { ModelHeader } from './annotations/annotations.ts'
import { resolveColumns } from './sql/named-columns.ts'

export function renamesOf(
  source: SourceFile,
  { renamed_from: lines = [] }: ModelHeader,
  kind: Kind,
  columns: readonly Column[],
): { readonly renames: readonly ColumnRename[]; readonly mistakes: readonly Diagnostic[] } {
  const renames: ColumnRename[] = []
  const mistakes: Diagnostic[] = []
  const seen = new Set<string>()
  const refuse = (problem: string, hint: string, span: { start: number; end: number }) =>
    mistakes.push(diagnostic('invalid-rename', { problem }, { source, span }, hint))
  for (const { value } of lines) {
    const { names, diagnostics } = resolveColumns(source, 'renamed_from', [value.column], columns)
    mistakes.push(...diagnostics)
    const [to] = names
    if (to === undefined) continue
    const { name: from, span } = value.from
    const isAdded = kinds[kind].addedColumns.some(({ name }) => sameName(name, from))
    if (sameName(from, to))
      refuse(
        `"${from}" and "${to}" are one name: case does not distinguish columns`,
        'delete the line; the table keeps its column',
        span,
      )
    else if (isAdded)
      refuse(
        `a run adds the column "${from}", so no column of the SELECT had that name`,
        'name the column that it had before',
        span,
      )
    else if (columns.some(({ name }) => sameName(name, from)))
      refuse(
        `"${from}" is still a column of the model, so "${to}" is not its new name`,
        'delete the line, or take the column out of the SELECT',
        span,
      )
    else if (seen.has(foldCase(from)))
      refuse(`two columns had the name "${from}"`, 'delete one of the two lines', span)
    else renames.push({ from, to })
    seen.add(foldCase(from))
  }
  return { renames, mistakes }
}
