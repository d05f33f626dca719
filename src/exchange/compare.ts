// What a file promises, compared with the models that are to keep it.

import { publishedColumns } from '../compiler/contract.ts'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Model } from '../core/model.ts'
import { foldCase } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import type { SaidColumn, SaidOfModel } from './format.ts'
import { lineOfHeader, oneLine, withHeader } from './header.ts'
import { logicalOf } from './odcs/types.ts'

interface HowHeld {
  /** Checks that the file has must be those of the model. */
  readonly withChecks: boolean
}

/** Errors at places of the file. */
export function brokenPromises(
  said: SaidOfModel,
  source: SourceFile,
  { withChecks }: HowHeld,
): readonly Diagnostic[] {
  const { model, promise } = said
  if (model === null) return []
  if (promise === null) return withChecks ? missingLines(said, model, source) : []
  const hint = `change ${model.source.path}, or the contract`
  const broken = (problem: string, span: Span) =>
    diagnostic('contract-broken', { problem }, { source, span }, hint)
  const { expose, name } = model
  if (expose === null && model.kind !== 'events')
    return [broken(`${name} is not exposed`, said.span)]
  const key = expose?.key ?? []
  const wrongKey = promise.key.length > 0 && expose !== null && !isSameKey(promise.key, key)
  const published = new Map(
    publishedColumns(model.kind, key, model.columns).map((column) => [
      foldCase(column.name),
      column,
    ]),
  )
  const columns = promise.columns.flatMap((column) =>
    problemsOf(column, published, name).map((problem) => broken(problem, column.span)),
  )
  const checks = withChecks
    ? missingChecks(said, model).map((text) => broken(`${name} does not check ${text}`, said.span))
    : []
  return [
    ...(wrongKey ? [broken(`the key of ${name} is (${key.join(', ')})`, said.span)] : []),
    ...columns,
    ...checks,
  ]
}

const isSameKey = (a: readonly string[], b: readonly string[]) =>
  foldCase(a.join('\0')) === foldCase(b.join('\0'))

/** `columns`: those of the model, by their names in lower case. */
function problemsOf(
  said: SaidColumn,
  columns: ReadonlyMap<string, Column>,
  model: string,
): readonly string[] {
  const column = columns.get(foldCase(said.name))
  if (column === undefined) return [`${model} has no column "${said.name}"`]
  // OData tells names apart by their case, SQL does not.
  if (column.name !== said.name) return [`the column "${said.name}" is spelled "${column.name}"`]
  const isOther =
    said.type === null
      ? said.logical !== null && logicalOf(column.type) !== said.logical
      : said.type !== column.type
  return [
    ...(isOther
      ? [`the column "${column.name}" is ${column.type}, not ${said.type ?? said.logical}`]
      : []),
    ...(said.required && column.nullable ? [`the column "${column.name}" may be null`] : []),
  ]
}

function missingChecks({ lines }: SaidOfModel, { checks }: Model): readonly string[] {
  const written = new Set(checks.map(({ text }) => oneLine(text)))
  return lines.flatMap(({ annotation, value }) =>
    ['check', 'warn'].includes(annotation) && !written.has(oneLine(value)) ? [oneLine(value)] : [],
  )
}

/** Of a file that promises nothing, but says what things mean. */
function missingLines(
  { lines, span }: SaidOfModel,
  { name, source: { path, text } }: Model,
  source: SourceFile,
): readonly Diagnostic[] {
  return lines
    .filter((line) => withHeader(text, [line]) !== text)
    .map((line) => {
      const problem = `${name} does not say ${lineOfHeader(line)}`
      return diagnostic(
        'contract-broken',
        { problem },
        { source, span },
        `change ${path}, or the file`,
      )
    })
}
