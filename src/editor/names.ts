// Where a project names models and columns, in its queries and in what their headers say; and where each is defined.

import { parseHeader } from '../compiler/annotations/annotations.ts'
import type { CheckSyntax } from '../compiler/annotations/check-syntax.ts'
import type { NamedColumn } from '../compiler/annotations/reader.ts'
import { parseColumnList } from '../compiler/bind/columns.ts'
import { outputColumnSpan, statementsOf, nameOf, tokenize } from '../compiler/sql/tokens.ts'
import type { CompiledProject, Mention, Model } from '../core/model.ts'
import { foldCase, type ModelName, sameName } from '../core/names.ts'
import type { Span, FilePlace } from '../core/source-text.ts'
import type { LastCompile } from './edited-project.ts'

/** A model, or a table of a source; or a column of one. */
export interface Thing {
  readonly model: string
  readonly column: string | null
}

export const isSameThing = (a: Thing, b: Thing): boolean =>
  sameName(a.model, b.model) &&
  (a.column === null || b.column === null ? a.column === b.column : sameName(a.column, b.column))

const found = new WeakMap<CompiledProject, readonly Mention[]>()

export function allMentions({ compiled }: LastCompile): readonly Mention[] {
  const known = found.get(compiled)
  if (known !== undefined) return known
  const inHeaders = [...compiled.models.values()].flatMap(mentionsInHeader)
  const all = [...(compiled.mentions?.() ?? []), ...inHeaders]
  found.set(compiled, all)
  return all
}

/** What is named at an offset of a file: in its text, or by its own SELECT list. */
export function thingAt(
  understood: LastCompile,
  path: string,
  offset: number,
): (Thing & { readonly span: Span }) | null {
  const covers = ({ start, end }: Span) => start <= offset && offset <= end
  const mention = allMentions(understood).find(
    ({ source, span }) => source.path === path && covers(span),
  )
  if (mention !== undefined) return mention
  const own = [...understood.compiled.models.values()].find(({ source }) => source.path === path)
  for (const { name } of own?.columns ?? []) {
    const span = definedIn(own!, name)
    if (span !== null && covers(span)) return { model: own!.name, column: name, span }
  }
  return null
}

/** null: it is not in a file of the project. */
export function placeOf(understood: LastCompile, { model, column }: Thing): FilePlace | null {
  const { compiled, project } = understood
  const table = compiled.external?.tables.find(({ name }) => sameName(name, model))
  if (table !== undefined) {
    const source = project.files.sources?.find(({ name }) =>
      sameName(name, table.name.split('.')[0]!),
    )
    return source === undefined ? null : { source: source.source, span: table.span }
  }
  const of = compiled.models.get(model as ModelName) ?? compiled.failed.get(model as ModelName)
  if (of === undefined) return null
  const start = { source: of.source, span: { start: 0, end: 0 } }
  if (column === null || !('columns' in of)) return start
  const span = definedIn(of, column)
  if (span !== null) return { source: of.source, span }
  // SELECT *: where it comes from says more than the star.
  const index = of.columns.findIndex(({ name }) => sameName(name, column))
  const origins = compiled.lineage().get(of.name)?.[index] ?? []
  const [origin] = origins
  const isPassedOn = origins.length === 1 && sameName(origin!.column, column)
  return (isPassedOn ? placeOf(understood, origin!) : null) ?? start
}

/** The name of a column where its model gives it: after AS, or in the list of an events model. */
export function definedIn(model: Model, column: string): Span | null {
  if (model.kind === 'seed') return null
  if (model.kind === 'events') {
    const [statement] = statementsOf(model.source).statements
    if (statement === undefined) return null
    const { columns } = parseColumnList(model.source, statement)
    return columns.find(({ name }) => sameName(name, column))?.span ?? null
  }
  const item = outputColumnSpan(model.body.text, column)
  const last = item === null ? undefined : tokenize(model.body.text.slice(0, item.end)).at(-1)
  return last === undefined ? null : model.body.spanInFile(last)
}

function mentionsInHeader(model: Model): readonly Mention[] {
  const { source, name, kind } = model
  if (kind === 'seed') return []
  const { header } = parseHeader(source, statementsOf(source).header)
  const own = ({ name: column, span }: NamedColumn) => ({ source, span, model: name, column })
  const columns = [
    ...(header.unique_key?.value ?? []),
    ...(header.expose?.value ?? []),
    ...(header.incremental === undefined ? [] : [header.incremental.value.column]),
    ...(header.on_duplicate?.value == null ? [] : [header.on_duplicate.value]),
    ...(header.column ?? []).map(({ value }) => value.column),
  ]
  const models = (header.depends_on?.value ?? []).map((other) => {
    return { source, span: other.span, model: other.name, column: null }
  })
  const checks = [...(header.check ?? []), ...(header.warn ?? [])].flatMap(({ value, valueSpan }) =>
    mentionsInCheck(model, value, valueSpan, own),
  )
  return [...columns.map(own), ...models, ...checks]
}

function mentionsInCheck(
  model: Model,
  check: CheckSyntax,
  valueSpan: Span,
  own: (column: NamedColumn) => Mention,
): readonly Mention[] {
  const inCondition = (span: Span) => mentionsInCondition(model, span, own)
  if (check.where !== undefined) {
    const { where, ...rest } = check
    return [...mentionsInCheck(model, rest, valueSpan, own), ...inCondition(where)]
  }
  const { source } = model
  switch (check.is) {
    case 'not_null':
    case 'unique':
      return check.columns.map(own)
    case 'accepted':
      return [own(check.column)]
    case 'references': {
      const { model: referenced, target } = check
      const of = { source, model: referenced.name }
      return [
        own(check.column),
        { ...of, span: referenced.span, column: null },
        { ...of, span: target.span, column: target.name },
      ]
    }
    case 'row_count':
      return []
    case 'condition':
      return inCondition(valueSpan)
  }
}

function mentionsInCondition(
  { source, columns }: Model,
  { start: base, end }: Span,
  own: (column: NamedColumn) => Mention,
): readonly Mention[] {
  const names = new Map(columns.map(({ name }) => [foldCase(name), name]))
  const tokens = tokenize(source.text.slice(base, end))
  return tokens.flatMap((token, i) => {
    const name = names.get(foldCase(nameOf(token) ?? ''))
    const isCall = tokens[i + 1]?.text === '('
    const isField = tokens[i - 1]?.text === '.'
    if (name === undefined || isCall || isField) return []
    return [own({ name, span: { start: base + token.start, end: base + token.end } })]
  })
}
