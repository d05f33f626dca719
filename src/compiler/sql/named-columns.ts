// The columns of a model that annotations name.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { sameName } from '../../core/names.ts'
import { decimalsOf, readNumberFormat } from '../../core/number-format.ts'
import type { Column, Shown } from '../../core/relation.ts'
import type { SourceFile } from '../../core/source-text.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { NamedColumn } from '../annotations/reader.ts'
import type { ModelHeader } from '../annotations/annotations.ts'
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
  columns: readonly Pick<Column, 'name'>[],
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

const SHOWN = { column: 'description', label: 'label', unit: 'unit', format: 'format' } as const
type ShownBy = keyof typeof SHOWN
const shownBy = Object.keys(SHOWN) as readonly ShownBy[]

/** What annotations say of the column or the measure of that name. */
export const shownAs = (header: ModelHeader, name: string): Shown =>
  Object.fromEntries(
    shownBy.flatMap((annotation) => {
      const found = header[annotation]?.findLast(({ value }) => sameName(value.column.name, name))
      return found === undefined ? [] : [[SHOWN[annotation], found.value.text]]
    }),
  )

/** The columns with what `@column`, `@label`, `@unit`, `@format` and `@text` say of them. Measures have the first four too. */
export function describeColumns(
  { source, header }: ParsedModel,
  columns: readonly Column[],
): { readonly described: readonly Column[]; readonly diagnostics: readonly Diagnostic[] } {
  const measures = (header.measure ?? []).map(({ value }) => value.measure)
  const known = [...columns, ...measures.filter(({ name }) => !hasColumn(columns, name))]
  const diagnostics = shownBy.flatMap((annotation) => {
    const named = (header[annotation] ?? []).map(({ value }) => value.column)
    return resolveColumns(source, annotation, named, known).diagnostics
  })
  const texts = (header.text ?? []).map(({ value }) => value)
  const ofTexts = [texts.map(({ column }) => column), texts.map(({ other }) => other)] as const
  const resolved = ofTexts.map((named) => resolveColumns(source, 'text', named, columns))
  const described = columns.map((column) => {
    const other = texts.find((text) => sameName(text.column.name, column.name))?.other
    const text = columns.find(({ name }) => other !== undefined && sameName(name, other.name))
    return {
      ...column,
      ...shownAs(header, column.name),
      ...(text === undefined ? {} : { text: text.name }),
    }
  })
  return {
    described,
    diagnostics: [
      ...diagnostics,
      ...resolved.flatMap((one) => one.diagnostics),
      ...unknownFormats(source, header),
    ],
  }
}

function unknownFormats(source: SourceFile, { format = [] }: ModelHeader): readonly Diagnostic[] {
  return format.flatMap(({ value: { text }, valueSpan: { end } }) => {
    if (readNumberFormat(text) !== null || decimalsOf(text) !== undefined) return []
    const place = { source, span: { start: end - text.length, end } }
    const hint = 'such as 0, #,##0, 0.00 or 0.0%'
    return [diagnostic('unknown-format', { format: text }, place, hint)]
  })
}

const hasColumn = (columns: readonly Column[], name: string) =>
  columns.some((column) => sameName(column.name, name))
