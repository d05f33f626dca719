// The columns of a model that annotations name.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { SourceFile } from '../../core/source.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { NamedColumn } from '../annotations/read-annotation.ts'
import type { ParsedModel } from '../model-file.ts'

interface ResolvedColumns {
  /** Spelled as in the model; those that it does not have are left out. */
  readonly names: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

export function resolveColumns(
  source: SourceFile,
  annotation: string,
  named: readonly NamedColumn[],
  columns: readonly Column[],
): ResolvedColumns {
  const found: string[] = []
  const diagnostics: Diagnostic[] = []
  for (const { name, span } of named) {
    const place = { source, span }
    const column = columns.find((candidate) => sameName(candidate.name, name))
    if (column === undefined) {
      const names = columns.map((candidate) => candidate.name)
      const hint = didYouMean(name, names) ?? `the columns are ${names.slice(0, 10).join(', ')}`
      const wrong = { annotation, column: name }
      diagnostics.push(diagnostic('unknown-key-column', wrong, place, hint))
    } else if (found.includes(column.name)) {
      const hint = 'name each column once'
      diagnostics.push(
        diagnostic('duplicate-key-column', { annotation, column: name }, place, hint),
      )
    } else found.push(column.name)
  }
  return { names: found, diagnostics }
}

/** The columns with what `@column` says of them. */
export function describeColumns(
  { source, header }: ParsedModel,
  columns: readonly Column[],
): { readonly described: readonly Column[]; readonly diagnostics: readonly Diagnostic[] } {
  const given = header.column ?? []
  const named = given.map(({ value }) => value.column)
  const { diagnostics } = resolveColumns(source, 'column', named, columns)
  const texts = new Map(given.map(({ value }) => [foldCase(value.column.name), value.text]))
  const described = columns.map((column) => {
    const description = texts.get(foldCase(column.name))
    return description === undefined ? column : { ...column, description }
  })
  return { described, diagnostics }
}
