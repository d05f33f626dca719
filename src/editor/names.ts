// Where a project names models and columns, in its queries and in what their headers say; and where each is defined.

import { parseHeader } from '../compiler/annotations/annotations.ts'
import { namedIn } from '../compiler/annotations/named.ts'
import type { NamedColumn, NamedModel } from '../compiler/annotations/reader.ts'
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
  const models = [...compiled.models.values()]
  // A rollup has no file: eider writes its query.
  const made = new Set(
    models.filter(({ meaning }) => meaning?.rollup).map(({ source }) => source.path),
  )
  const inQueries = (compiled.mentions?.() ?? []).filter(({ source }) => !made.has(source.path))
  const inHeaders = models.filter(({ source }) => !made.has(source.path)).flatMap(mentionsInHeader)
  const all = [...inQueries, ...inHeaders]
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
  const asWhole = (named: NamedModel) => ({
    source,
    span: named.span,
    model: named.name,
    column: null,
  })
  return namedIn(header).flatMap(({ columns = [], models = [], others = [], sql = [] }) => [
    ...columns.map(own),
    ...models.map(asWhole),
    ...others.flatMap(({ model: other, column: { name: column, span } }) => [
      asWhole(other),
      { source, span, model: other.name, column },
    ]),
    ...sql.flatMap((span) => mentionsInSql(model, span, own)),
  ])
}

function mentionsInSql(
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
