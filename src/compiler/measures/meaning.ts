// `@measure`, `@dimension` and `@time` with names resolved. Measures are bound in a second engine that knows no macro and
// no extension, as the service does that answers with them.

import { type Diagnostic, diagnostic, hasErrors } from '../../core/diagnostics.ts'
import type { Meaning, Measure } from '../../core/meaning.ts'
import type { RollupFile } from '../../core/project.ts'
import { foldCase, isODataIdentifier, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { Resources } from '../../core/resources.ts'
import { positionOf, type SourceFile, type Span } from '../../core/source-text.ts'
import { ModelBody, type Sql, sql } from '../../core/sql.ts'
import type { Variables } from '../../core/variables.ts'
import { type Connection, Database } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import type { NamedColumn } from '../annotations/reader.ts'
import type { ModelHeader } from '../annotations/annotations.ts'
import { isPlainCondition } from '../checks/resolve-checks.ts'
import { engineDiagnostic } from '../hints/engine-diagnostic.ts'
import { changingCall } from '../row-filter.ts'
import { resolveColumns, shownAs } from '../sql/named-columns.ts'
import { isWord, nameOf } from '../sql/tokens.ts'
import { bodyOf } from '../variables.ts'
import {
  bodyOfMeasure,
  measuresIn,
  namesIn,
  namesInside,
  namesOutside,
  readMeasure,
  type ReadMeasure,
  servedType,
} from './measure-sql.ts'
import { aggregates } from './aggregates.ts'
import { resolveHierarchies } from './hierarchies.ts'
import { unorderedCall } from './row-order.ts'

interface ModelWithMeasures {
  readonly source: SourceFile
  readonly header: ModelHeader
  /** Absent where it is no rollup. One has measures with the names of its columns. */
  readonly rollup?: RollupFile | undefined
}

interface ResolvedMeaning {
  /** Absent where nothing is said. */
  readonly meaning?: Meaning
}

interface Found extends ResolvedMeaning {
  readonly diagnostics: readonly Diagnostic[]
}

/** One of the header, before anything is known of its names. */
interface Written {
  readonly named: NamedColumn
  readonly read: ReadMeasure
}

/** The engine for the measures of all models: most projects have none, so it starts with the first. */
export class MeasureEngine implements AsyncDisposable {
  readonly #resources = new Resources()
  #connection: Connection | null = null

  async connection(): Promise<Connection> {
    if (this.#connection !== null) return this.#connection
    const database = this.#resources.use(await Database.open({ path: ':memory:', threads: 1 }))
    return (this.#connection = this.#resources.use(await database.connect()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources[Symbol.asyncDispose]()
  }
}

/** What the mistakes of one measure are found with. */
interface Resolving {
  readonly model: ModelWithMeasures
  readonly columns: readonly Column[]
  readonly variables: Variables
  readonly measures: MeasureEngine
  readonly written: ReadonlyMap<string, Written>
}

export async function resolveMeaning(
  model: ModelWithMeasures,
  columns: readonly Column[],
  { variables, measures }: Pick<Resolving, 'variables' | 'measures'>,
): Promise<Found> {
  const { source, header } = model
  const { measure = [], dimension = [], time, hierarchy = [] } = header
  const isSaid = measure.length + dimension.length + hierarchy.length > 0 || time !== undefined
  if (!isSaid && model.rollup === undefined) return { diagnostics: [] }
  const asked = dimension.flatMap(({ value }) => value)
  const dimensions = resolveColumns(source, 'dimension', asked, columns)
  const times = resolveColumns(source, 'time', time === undefined ? [] : [time.value], columns)
  const [timeColumn] = times.names
  const { written, diagnostics } = writtenMeasures(model, columns)
  const hierarchies = resolveHierarchies(source, header, columns)
  const bound = await boundMeasures({ model, columns, variables, measures, written })
  return {
    meaning: {
      measures: bound.found,
      dimensions: dimensions.names,
      time: timeColumn ?? null,
      ...(model.rollup && { rollup: { of: model.rollup.of, never: model.rollup.never } }),
      ...(hierarchies.found.length > 0 && { hierarchies: hierarchies.found }),
      ...(hierarchies.levels.length > 0 && { levels: hierarchies.levels }),
    },
    diagnostics: [
      ...dimensions.diagnostics,
      ...times.diagnostics,
      ...wrongTime(
        model,
        columns.find(({ name }) => name === timeColumn),
      ),
      ...diagnostics,
      ...bound.diagnostics,
      ...hierarchies.diagnostics,
    ],
  }
}

function wrongTime({ source, header }: ModelWithMeasures, column: Column | undefined) {
  if (column === undefined || /^(?:DATE$|TIMESTAMP)/.test(column.type)) return []
  const { name, type } = column
  const place = { source, span: header.time!.value.span }
  return [diagnostic('invalid-time', { column: name, type }, place, `cast it: ${name}::DATE`)]
}

const mistake = (source: SourceFile, span: Span, problem: string, hint?: string) =>
  diagnostic('invalid-measure', { problem }, { source, span }, hint)

/** Those whose names are free. */
function writtenMeasures(
  { source, header, rollup }: ModelWithMeasures,
  columns: readonly Column[],
): { readonly written: Resolving['written']; readonly diagnostics: readonly Diagnostic[] } {
  const written = new Map<string, Written>()
  const diagnostics: Diagnostic[] = []
  for (const { value } of header.measure ?? []) {
    const { name, span } = value.measure
    const key = foldCase(name)
    const before = written.get(key)
    const wrong = (problem: string, hint: string) =>
      diagnostics.push(mistake(source, span, problem, hint))
    if (before !== undefined) {
      const { line } = positionOf(source, before.named.span.start)
      wrong(`the measure "${name}" is there already, in line ${line}`, 'rename one of the two')
    } else if (rollup === undefined && columns.some((column) => sameName(column.name, name)))
      wrong(`the measure "${name}" has the name of a column`, `rename it, such as total_${name}`)
    else if (!isODataIdentifier(name))
      wrong(`"${name}" cannot be the name of a measure`, 'take letters, digits and underscores')
    else written.set(key, { named: value.measure, read: readMeasure(source, value.sql) })
  }
  return { written, diagnostics }
}

async function boundMeasures(all: Resolving) {
  const diagnostics: Diagnostic[] = []
  const wrong = new Set<string>()
  for (const [key, one] of all.written) {
    const mistakes = mistakesOf(one, all)
    diagnostics.push(...mistakes)
    if (hasErrors(mistakes)) wrong.add(key)
  }
  const isWhole = (one: Written) => reached(one, all).every((each) => !wrong.has(each))
  const whole = [...all.written.values()].filter(isWhole)
  if (whole.length === 0) return { found: [], diagnostics }
  const connection = await all.measures.connection()
  const bound = new Map<Written, Measure>()
  // Parts come first: what is wrong in one is said there, and not once more of each measure that is made of it.
  for (const one of whole.toSorted((a, b) => reached(a, all).length - reached(b, all).length)) {
    if (!isWhole(one)) continue
    const measure = await boundMeasure(one, all, connection)
    if ('code' in measure) {
      diagnostics.push(measure)
      wrong.add(foldCase(one.named.name))
    } else bound.set(one, measure)
  }
  return { found: whole.flatMap((one) => bound.get(one) ?? []), diagnostics }
}

/** The measure and those that it is made of, by their keys. */
function reached(one: Written, all: Resolving): readonly string[] {
  const found = new Set<string>()
  const open = [one]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const key = foldCase(next.named.name)
    if (found.has(key)) continue
    found.add(key)
    open.push(...partsOf(next, all).map((part) => all.written.get(part)!))
  }
  return [...found]
}

/** Keys of the measures that it names. */
const partsOf = ({ read }: Written, { written }: Resolving): readonly string[] =>
  measuresIn(read, written)

/** What the text alone tells, and the other names. */
function mistakesOf(one: Written, all: Resolving): readonly Diagnostic[] {
  const { source } = all.model
  const { named, read } = one
  const wrong = (problem: string, hint: string, span: Span = read.span) => [
    mistake(source, span, problem, hint),
  ]
  const whole = ModelBody.of(source, { start: read.span.start, end: endOf(read) })
  if (read.tokens.length === 0 || !isPlainCondition(whole))
    return wrong(
      'a measure is one expression over the columns of this model, without subqueries',
      'such as sum(amount)',
      whole.span,
    )
  const changing = changingCall(whole.text)
  if (changing !== null)
    return wrong(
      `${changing} gives another result each time, and a measure must be one number`,
      'filter by the time of the rows where the measure is asked for',
      whole.span,
    )
  const over = read.tokens.find((token, i) => isWord(token, 'over') && i > 0)
  if (over !== undefined)
    return wrong('a measure has no window', 'ask for it in groups, in $apply', over)
  const inVariables = bodyOf(source, whole.span, all.variables).diagnostics
  if (hasErrors(inVariables)) return inVariables
  return (
    nested(one, all) ??
    outside(one, all) ??
    withoutOrder(one, all) ??
    wrongFilter(one, all) ??
    cycleFrom(one, all) ??
    (read.calls.length === 0 && partsOf(one, all).length === 0
      ? wrong(`"${named.name}" has no aggregate`, 'such as sum(amount), or other measures')
      : [])
  )
}

const endOf = ({ span, where }: ReadMeasure) => where?.end ?? span.end

function nested({ read }: Written, { model: { source }, columns, written }: Resolving) {
  for (const { start, end } of read.calls)
    for (const [i, token] of read.tokens.slice(start + 1, end).entries()) {
      const name = nameOf(token)
      if (name === null) continue
      const isCall = read.tokens[start + 2 + i]?.text === '('
      if (isCall && aggregates.has(foldCase(name)))
        return [
          mistake(
            source,
            token,
            'aggregates cannot be nested',
            'group in a model first, and aggregate that',
          ),
        ]
      const isColumn = columns.some((column) => sameName(column.name, name))
      if (!isCall && !isColumn && written.has(foldCase(name)))
        return [
          mistake(
            source,
            token,
            `"${name}" is a measure, and what is aggregated are columns`,
            'name it outside of the aggregate',
          ),
        ]
    }
  return null
}

/** A column has a value in each row, a measure one for many of them. */
function outside({ read }: Written, { model: { source }, columns, written }: Resolving) {
  const found = namesOutside(read).find((i) => {
    const name = nameOf(read.tokens[i])!
    const isPart = read.tokens[i - 1]?.text === '.'
    return (
      !isPart &&
      !written.has(foldCase(name)) &&
      columns.some((column) => sameName(column.name, name))
    )
  })
  if (found === undefined) return null
  const token = read.tokens[found]!
  const problem = `"${nameOf(token)}" stands outside of an aggregate: it has a value in each row, and a measure has one for many rows`
  return [mistake(source, token, problem, `aggregate it, such as sum(${token.text})`)]
}

function withoutOrder({ read }: Written, { model: { source } }: Resolving) {
  const found = unorderedCall(read)
  if (found === null) return null
  const problem = `${found.name} depends on the order of the rows, and a measure must be one number`
  return [mistake(source, found.span, problem, `write ${found.wanted}`)]
}

function wrongFilter(one: Written, all: Resolving) {
  const { read } = one
  const { source } = all.model
  if (read.where === null) return null
  const own = read.calls.find(({ isFiltered }) => isFiltered)
  if (own !== undefined)
    return [
      mistake(
        source,
        read.where,
        'the aggregate has a FILTER, and the measure has a condition too',
        'write both in one of them',
      ),
    ]
  const [part] = partsOf(one, all)
  if (part === undefined) return null
  const problem = `"${all.written.get(part)!.named.name}" is a measure, whose rows no condition here can choose`
  return [mistake(source, read.where, problem, 'write the condition into that measure')]
}

function cycleFrom(one: Written, all: Resolving) {
  const path: string[] = [foldCase(one.named.name)]
  const walk = (at: Written): boolean =>
    partsOf(at, all).some((part) => {
      if (part === path[0]) return true
      if (path.includes(part)) return false
      path.push(part)
      if (walk(all.written.get(part)!)) return true
      path.pop()
      return false
    })
  if (!walk(one)) return null
  const names = [...path, path[0]!].map((key) => all.written.get(key)!.named.name)
  const problem = `these measures depend on each other: ${names.join(' -> ')}`
  return [mistake(all.model.source, one.named.span, problem, 'make one of them of columns')]
}

async function boundMeasure(
  one: Written,
  all: Resolving,
  connection: Connection,
): Promise<Measure | Diagnostic> {
  const { model, columns, variables } = all
  const { source, header } = model
  const { read, named } = one
  const rows = sql`(SELECT ${sql.nulls(columns)} LIMIT 0) AS it`
  if (read.where !== null) {
    const { body } = bodyOf(source, read.where, variables)
    const wrong = await wrongCondition(body, rows, connection)
    if (wrong !== null) return wrong
  }
  const body = bodyOfMeasure(read, all)
  const before = sql`SELECT (`
  const query = sql`${before}${sql.body(body)}\n) AS m FROM ${rows}`
  const bound = await ifRefused(connection.columnsOf(query), ({ details }) =>
    engineDiagnostic(details, body, before.inline()),
  )
  if ('code' in bound) return withFunctions(bound)
  const type = servedType(bound[0]!.type)
  const hint = 'take one of the values, such as with max(…), or count them'
  if (type === null)
    return mistake(source, read.span, `"${named.name}" is ${bound[0]!.type}, not one value`, hint)
  const row = await connection.row(sql`SELECT count(*)::INTEGER AS n FROM (${query})`)
  if (row?.['n'] !== 1)
    return mistake(source, read.span, `"${named.name}" does not make one value of many rows`, hint)
  return {
    name: named.name,
    text: source.text.slice(read.span.start, endOf(read)),
    sql: body.text,
    type,
    columns: columnsOf(one, all),
    ...shownAs(header, named.name),
  }
}

/** A macro is known where models are built, and not where they are served. */
const withFunctions = (found: Diagnostic): Diagnostic =>
  found.message.startsWith('no function ')
    ? { ...found, hint: 'a measure takes functions of DuckDB, and no macros or extensions' }
    : found

async function wrongCondition(body: ModelBody, rows: Sql, connection: Connection) {
  const before = sql`SELECT (`
  const bound = await ifRefused(
    connection.columnsOf(sql`${before}${sql.body(body)}\n) FROM ${rows}`),
    ({ details }) => engineDiagnostic(details, body, before.inline()),
  )
  if ('code' in bound) return withFunctions(bound)
  const type = bound[0]!.type
  if (type === 'BOOLEAN') return null
  const problem = `the condition is ${type}, but must be BOOLEAN`
  return mistake(body.source, body.span, problem, 'compare it with something, such as > 0')
}

/** The columns as the model spells them, with those of the measures that it is made of. */
function columnsOf(one: Written, all: Resolving): readonly string[] {
  const { source } = all.model
  const names = reached(one, all).flatMap((key) => {
    const { read } = all.written.get(key)!
    const inWhere = read.where === null ? [] : namesIn(source, read.where)
    return [...namesInside(read), ...inWhere]
  })
  const used = new Set(names.map(foldCase))
  return all.columns.map(({ name }) => name).filter((name) => used.has(foldCase(name)))
}
