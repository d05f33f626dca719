// What a file promises, compared with the models that are to keep it.

import { neverNullBy, promisedColumns } from '../compiler/contract.ts'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Check, Model } from '../core/model.ts'
import { annotationName, foldCase } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import type { SaidColumn, SaidOfModel } from './format.ts'
import { demandsOf, plainSql } from './check-text.ts'
import { type HeaderLine, lineOfHeader, withHeader } from './header.ts'
import { logicalOf } from './odcs/types.ts'

interface HowHeld {
  /** Checks that the file has must be those of the model. */
  readonly withChecks: boolean
  /** Whether the model has a header of its own, which a seed and a rollup have not. */
  readonly hasFile: boolean
}

/** Errors at places of the file. */
export function brokenPromises(
  said: SaidOfModel,
  source: SourceFile,
  { withChecks, hasFile }: HowHeld,
): readonly Diagnostic[] {
  const { model, promise } = said
  if (model === null) return []
  if (promise === null) {
    if (!withChecks) return []
    const { text } = model.source
    const isTold = (line: HeaderLine) =>
      hasFile ? withHeader(text, [line]) === text : isMeant(line, model)
    return missingLines(said, model, source, isTold)
  }
  const hint = `change ${model.source.path}, or the contract`
  const broken = (problem: string, span: Span) =>
    diagnostic('contract-broken', { problem }, { source, span }, hint)
  const { expose, name } = model
  if (expose === null && model.kind !== 'events')
    return [broken(`${name} is not exposed`, said.span)]
  const key = expose?.key ?? []
  const wrongKey = promise.key.length > 0 && expose !== null && !isSameKey(promise.key, key)
  // An import writes the checks of the file with its promise.
  const demanded = withChecks ? [] : promise.columns.filter((column) => isDemanded(column, said))
  const neverNull = [...neverNullBy(model.checks), ...demanded.map((column) => column.name)]
  const promised = new Map(
    promisedColumns(model.kind, key, model.columns, neverNull).map((column) => [
      foldCase(column.name),
      column,
    ]),
  )
  const columns = promise.columns.flatMap((column) =>
    problemsOf(column, promised, name).map((problem) => broken(problem, column.span)),
  )
  const checks = withChecks
    ? missingChecks(said.lines, model).map((line) =>
        broken(notChecked(line, model), line.span ?? said.span),
      )
    : []
  return [
    ...(wrongKey ? [broken(`the key of ${name} is (${key.join(', ')})`, said.span)] : []),
    ...columns,
    ...checks,
  ]
}

/** Whether the file has a check that lets no NULL into it. */
function isDemanded({ name }: SaidColumn, { lines }: SaidOfModel): boolean {
  const [wanted = ''] = demandsOf(`not_null(${annotationName(name)})`)
  return lines.some(
    ({ annotation, value }) => annotation === 'check' && demandsOf(value).includes(wanted),
  )
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

/** Those that the model does not make, or only warns of. */
export function missingChecks(
  lines: readonly HeaderLine[],
  { checks }: Model,
): readonly HeaderLine[] {
  const demandsBy = (held: readonly Check[]) => new Set(held.flatMap(({ text }) => demandsOf(text)))
  const own = checks.filter(({ source, on }) => source === undefined && on === undefined)
  const failing = demandsBy(own.filter(({ severity }) => severity === 'fail'))
  const all = demandsBy(own)
  return lines.filter(({ annotation, repeats, value }) => {
    const held = annotation === 'warn' ? all : failing
    return repeats && !demandsOf(value).every((demand) => held.has(demand))
  })
}

function notChecked({ annotation, value }: HeaderLine, { name, checks }: Model): string {
  const demands = demandsOf(value)
  const isWarned =
    annotation === 'check' &&
    checks.some(({ text }) => demandsOf(text).some((demand) => demands.includes(demand)))
  return isWarned ? `${name} only warns of ${value}` : `${name} does not check ${value}`
}

/** Measures whose text does not come to the expression that people see in the file. */
export function untrueMeasures(
  { lines, span }: SaidOfModel,
  { name, meaning }: Model,
  source: SourceFile,
): readonly Diagnostic[] {
  return lines.flatMap((line) => {
    const { means, value } = line
    const measure = meaning?.measures.find(
      (one) => foldCase(annotationName(one.name)) === foldCase(line.subject ?? ''),
    )
    if (means === undefined || measure === undefined) return []
    if (plainSql(measure.sql) === plainSql(means)) return []
    const problem = `${value} is not the expression of the metric, which is ${means}`
    const hint = `delete its custom_extensions, and ${name} takes the expression`
    return [diagnostic('contract-broken', { problem }, { source, span: line.span ?? span }, hint)]
  })
}

/** Of a file that promises nothing, but says what things mean. */
function missingLines(
  { lines, span }: SaidOfModel,
  { name, source: { path } }: Model,
  source: SourceFile,
  isTold: (line: HeaderLine) => boolean,
): readonly Diagnostic[] {
  return lines
    .filter((line) => !isTold(line))
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

/** Whether a model says the same without having the line. */
function isMeant(line: HeaderLine, model: Model): boolean {
  const { annotation, subject, value, means = value, repeats } = line
  const { description, meaning, columns } = model
  const { measures = [], time = null, dimensions = [] } = meaning ?? {}
  const isSubject = ({ name }: { readonly name: string }) =>
    foldCase(annotationName(name)) === foldCase(subject ?? '')
  const shown = [...columns, ...measures].filter(isSubject)
  switch (annotation) {
    case 'measure':
      return measures.some((one) => isSubject(one) && plainSql(one.sql) === plainSql(means))
    case 'time':
      return time !== null && annotationName(time) === value
    case 'dimension':
      return dimensions.map(annotationName).join(', ') === value
    case 'description':
      return description === value
    case 'column':
      return shown.some((one) => one.description === value)
    case 'label':
    case 'unit':
    case 'format':
      return shown.some((one) => one[annotation] === value)
    default:
      return repeats === true && missingChecks([line], model).length === 0
  }
}
