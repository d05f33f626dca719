// The SQL of a measure, made of what its author writes: each aggregate gets the condition of the measure as a FILTER, an
// average becomes a sum divided by a count, a division by zero gives NULL, and names of other measures become what those
// are. All of it is put into the author's own text, so that the engine's places in the one are places in the other.

import { foldCase } from '../../core/names.ts'
import { type ColumnType, columnType } from '../../core/relation.ts'
import type { SourceFile, Span } from '../../core/source-text.ts'
import { type Insert, ModelBody, type Sql, sql } from '../../core/sql.ts'
import type { Variables } from '../../core/variables.ts'
import { depthsOf, isSymbol, isWord, nameOf, type Token, tokenize } from '../sql/tokens.ts'
import { bodyOf } from '../variables.ts'
import { aggregates, averages } from './aggregates.ts'

/** A call of an aggregate that is in no other one; numbers of tokens, which end before `end`. */
export interface AggregateCall {
  readonly name: string
  readonly start: number
  readonly end: number
  /** What stands in its brackets. */
  readonly inside: { readonly start: number; readonly end: number }
  readonly isDistinct: boolean
  /** It has a FILTER. */
  readonly isFiltered: boolean
}

export interface ReadMeasure {
  readonly source: SourceFile
  /** The place of the expression, without `where`. */
  readonly span: Span
  readonly tokens: readonly Token[]
  readonly calls: readonly AggregateCall[]
  /** The condition, without the word `where`; null: there is none. */
  readonly where: Span | null
}

/** `span`: of the expression, with the condition. */
export function readMeasure(source: SourceFile, span: Span): ReadMeasure {
  const all = tokensIn(source, span)
  const depths = depthsOf(all)
  const at = all.findIndex((token, i) => depths[i] === 0 && isWord(token, 'where'))
  const tokens = at < 0 ? all : all.slice(0, at)
  const after = at < 0 ? undefined : all[at]
  return {
    source,
    span: { start: span.start, end: tokens.at(-1)?.end ?? span.start },
    tokens,
    calls: callsIn(tokens),
    where:
      after === undefined ? null : { start: all[at + 1]?.start ?? after.end, end: all.at(-1)!.end },
  }
}

/** The tokens have places in the file. */
function tokensIn(source: SourceFile, { start, end }: Span): readonly Token[] {
  return tokenize(source.text.slice(start, end))
    .filter(({ kind }) => kind !== 'comment')
    .map((token) => ({ ...token, start: token.start + start, end: token.end + start }))
}

/** The number after the bracket that closes the one at `open`. */
function afterBracket(tokens: readonly Token[], open: number): number {
  const depths = depthsOf(tokens.slice(open))
  const after = depths.findIndex((depth, i) => i > 0 && depth === 0)
  return after < 0 ? tokens.length : open + after
}

function callsIn(tokens: readonly Token[]): readonly AggregateCall[] {
  const calls: AggregateCall[] = []
  for (let i = 0; i < tokens.length; i++) {
    const name = foldCase(nameOf(tokens[i]) ?? '')
    if (!aggregates.has(name) || !isSymbol(tokens[i + 1], '(')) continue
    const close = afterBracket(tokens, i + 1)
    const isFiltered = isWord(tokens[close], 'filter') && isSymbol(tokens[close + 1], '(')
    const end = isFiltered ? afterBracket(tokens, close + 1) : close
    const inside = { start: i + 2, end: close - 1 }
    const isDistinct = isWord(tokens[i + 2], 'distinct')
    calls.push({ name, start: i, end, inside, isDistinct, isFiltered })
    i = end - 1
  }
  return calls
}

/** Names outside of aggregates, without those of functions: what can be other measures, and cannot be columns. */
export function namesOutside({ tokens, calls }: ReadMeasure): readonly number[] {
  return tokens.flatMap((token, i) => {
    const isInside = calls.some(({ start, end }) => start <= i && i < end)
    return isInside || !isName(tokens, i) || token.kind === 'string' ? [] : [i]
  })
}

/** The keys of the measures that it names, among those that are known by theirs. */
export const measuresIn = (
  read: ReadMeasure,
  known: { has(key: string): boolean },
): readonly string[] =>
  namesOutside(read)
    .map((i) => foldCase(nameOf(read.tokens[i])!))
    .filter((key) => known.has(key))

/** Names inside of aggregates, which are those of columns or of their parts. */
export const namesInside = ({ tokens, calls }: ReadMeasure): readonly string[] =>
  calls.flatMap(({ start, end }) =>
    tokens.slice(start + 1, end).flatMap((token, i) => {
      const at = start + 1 + i
      return isName(tokens, at) ? [nameOf(token)!] : []
    }),
  )

/** Names in a condition. Rather one too many than one too few. */
export const namesIn = (source: SourceFile, span: Span): readonly string[] => {
  const tokens = tokensIn(source, span)
  return tokens.flatMap((token, i) => (isName(tokens, i) ? [nameOf(token)!] : []))
}

const isName = (tokens: readonly Token[], i: number) =>
  nameOf(tokens[i]) !== null && !isSymbol(tokens[i + 1], '(')

/** What is put where more than one thing is to be put: the condition belongs to what a bracket closes after it. */
const ORDER = { filter: 0, close: 1, open: 2, whole: 3 } as const

interface Piece extends Insert {
  readonly order: number
}

interface Making {
  readonly measure: ReadMeasure
  readonly variables: Variables
  /** ` FILTER (WHERE …)`, or nothing. */
  readonly filter: Sql
  /** What a name outside of aggregates stands for; null: it is no measure. */
  readonly meant: (name: string) => Sql | null
}

/** The whole expression. The mistakes in its variables are found elsewhere. */
function measureBody(making: Making): ModelBody {
  const { measure } = making
  return bodyWith(making, { start: 0, end: measure.tokens.length })
}

/** The SQL of a measure and of those that it names, which are known by their names in lower case. */
export function bodyOfMeasure(
  measure: ReadMeasure,
  all: {
    readonly variables: Variables
    readonly written: ReadonlyMap<string, { readonly read: ReadMeasure }>
  },
): ModelBody {
  const { variables, written } = all
  const meant = (name: string): Sql | null => {
    const other = written.get(foldCase(name))
    return other === undefined ? null : sql.body(bodyOfMeasure(other.read, all))
  }
  return measureBody({ measure, variables, filter: filterOf(measure, variables), meant })
}

function filterOf({ source, where }: ReadMeasure, variables: Variables): Sql {
  if (where === null) return sql.empty
  return sql` FILTER (WHERE ${sql.body(bodyOf(source, where, variables).body)})`
}

/** One aggregate of a measure alone; of an average that which is called `as`. */
export function bodyOfPart(of: {
  readonly measure: ReadMeasure
  readonly call: AggregateCall
  readonly as: string
  readonly variables: Variables
}): Sql {
  const { measure, call, as, variables } = of
  const filter = filterOf(measure, variables)
  const making = { measure, variables, filter, meant: () => null }
  if (!isAverage(call)) return sql.body(bodyWith(making, call))
  return sql`${sql.ident(as)}(${sql.body(bodyWith(making, call.inside))})${filter}`
}

interface Range {
  readonly start: number
  readonly end: number
}

function bodyWith(making: Making, range: Range): ModelBody {
  const { source, tokens, span: whole } = making.measure
  const isWhole = range.start === 0 && range.end === tokens.length
  const first = tokens[range.start]
  const last = tokens[range.end - 1]
  const span = isWhole ? whole : { start: first?.start ?? 0, end: last?.end ?? 0 }
  const inVariables = bodyOf(source, span, making.variables).body.inserts
  const pieces: readonly Piece[] = [
    ...inVariables.map((insert) => ({ ...insert, order: ORDER.whole })),
    ...callPieces(making, range),
    ...divisionPieces(making.measure, range),
    ...namePieces(making, range),
  ]
  const sorted = pieces.toSorted((a, b) => a.start - b.start || a.order - b.order)
  return ModelBody.of(source, span, withoutNested(sorted))
}

/** What lies in a part that is replaced has been put into what replaces it. */
function withoutNested(pieces: readonly Piece[]): readonly Insert[] {
  let end = -1
  return pieces.filter((piece) => {
    if (piece.start < end) return false
    end = Math.max(end, piece.end)
    return true
  })
}

function callPieces(making: Making, { start, end }: Range): readonly Piece[] {
  const { tokens, calls } = making.measure
  return calls
    .filter((call) => call.start >= start && call.end <= end)
    .map((call): Piece => {
      const at = tokens[call.end - 1]!.end
      if (!isAverage(call)) return { start: at, end: at, sql: making.filter, order: ORDER.filter }
      const values = sql.body(bodyWith(making, call.inside))
      const { filter } = making
      return {
        start: tokens[call.start]!.start,
        end: at,
        sql: sql`(sum(${values})${filter} / nullif(count(${values})${filter}, 0))`,
        order: ORDER.whole,
      }
    })
}

/** One with a FILTER or DISTINCT of its own stays as it is. */
export const isAverage = ({ name, isDistinct, isFiltered }: AggregateCall): boolean =>
  averages.has(name) && !isDistinct && !isFiltered

function divisionPieces({ tokens }: ReadMeasure, range: Range): readonly Piece[] {
  const pieces: Piece[] = []
  for (let i = range.start; i < range.end; i++) {
    if (!isSymbol(tokens[i], '/')) continue
    // `//` gives NULL as it is.
    if (isSymbol(tokens[i + 1], '/')) i++
    else {
      const end = tokens[afterOperand(tokens, i + 1) - 1]?.end
      const start = tokens[i + 1]?.start
      if (start === undefined || end === undefined) continue
      pieces.push({ start, end: start, sql: sql`nullif(`, order: ORDER.open })
      pieces.push({ start: end, end, sql: sql`, 0)`, order: ORDER.close })
    }
  }
  return pieces
}

/** The number after what a sign of division divides by. */
function afterOperand(tokens: readonly Token[], from: number): number {
  let i = from
  while (isSymbol(tokens[i], '-') || isSymbol(tokens[i], '+')) i++
  if (isWord(tokens[i], 'case')) i = afterCase(tokens, i)
  else if (isSymbol(tokens[i], '(')) i = afterBracket(tokens, i)
  else i++
  for (;;) {
    const [here, next] = [tokens[i], tokens[i + 1]]
    if (isSymbol(here, '.')) i += 2
    else if (isSymbol(here, '(') || isSymbol(here, '[')) i = afterBracket(tokens, i)
    else if (isSymbol(here, ':') && isSymbol(next, ':')) i += 3
    else if (isWord(here, 'filter') && isSymbol(next, '(')) i = afterBracket(tokens, i + 1)
    else if (isSymbol(here, '^')) return afterOperand(tokens, i + 1)
    else if (isSymbol(here, '*') && isSymbol(next, '*')) return afterOperand(tokens, i + 2)
    else return Math.min(i, tokens.length)
  }
}

function afterCase(tokens: readonly Token[], from: number): number {
  let depth = 0
  for (let i = from; i < tokens.length; i++) {
    if (isWord(tokens[i], 'case')) depth++
    else if (isWord(tokens[i], 'end') && --depth === 0) return i + 1
  }
  return tokens.length
}

function namePieces({ measure, meant }: Making, { start, end }: Range): readonly Piece[] {
  return namesOutside(measure).flatMap((i): readonly Piece[] => {
    const token = measure.tokens[i]!
    const body = i >= start && i < end ? meant(nameOf(token)!) : null
    if (body === null) return []
    return [{ start: token.start, end: token.end, sql: sql`(${body})`, order: ORDER.whole }]
  })
}

/** Sums of whole numbers are wider than anything that is served; null: the type is not that of one value. */
export function servedType(type: ColumnType): ColumnType | null {
  if (type === 'HUGEINT' || type === 'UHUGEINT') return columnType('DECIMAL(38,0)')
  return /^(?:STRUCT|MAP|UNION|VARIANT)|\]$/.test(type) ? null : type
}
