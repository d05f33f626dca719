// The measures of a model as columns of a rollup, and as measures of these columns. Only the text decides.

import { foldCase } from '../../core/names.ts'
import { columnType } from '../../core/relation.ts'
import type { SourceFile } from '../../core/source-text.ts'
import { type Insert, ModelBody, type Sql, sql } from '../../core/sql.ts'
import type { Variables } from '../../core/variables.ts'
import type { ModelHeader } from '../annotations/annotations.ts'
import { bodyOf } from '../variables.ts'
import {
  type AggregateCall,
  bodyOfMeasure,
  bodyOfPart,
  isAverage,
  measuresIn,
  readMeasure,
  type ReadMeasure,
} from './measure-sql.ts'

export interface StoredMeasure {
  readonly name: string
  /** The value first, then the parts that it is computed of. */
  readonly columns: readonly StoredColumn[]
  /** The measure over these columns. null: nothing adds its values up. */
  readonly again: string | null
  /** Whether the values themselves can be summed. */
  readonly isSum: boolean
}

interface StoredColumn {
  readonly name: string
  readonly value: Sql
}

interface Storing {
  readonly source: SourceFile
  readonly variables: Variables
  readonly written: ReadonlyMap<string, { readonly read: ReadMeasure }>
  readonly stored: Map<string, StoredMeasure>
  /** Names of columns, in lower case. */
  readonly taken: Set<string>
}

/** `taken`: names of the other columns. Measures that depend on each other in a circle are left out. */
export function storedMeasures(
  source: SourceFile,
  header: ModelHeader,
  variables: Variables,
  taken: readonly string[],
): readonly StoredMeasure[] {
  const given = (header.measure ?? []).map(({ value }) => value)
  const written = new Map(
    given.map(({ measure, sql: span }) => [
      foldCase(measure.name),
      { read: readMeasure(source, span) },
    ]),
  )
  const names = new Set([...taken, ...written.keys()].map(foldCase))
  const all: Storing = { source, variables, written, stored: new Map(), taken: names }
  for (const { measure } of given) if (!isCircle(measure.name, all)) store(measure.name, all)
  return [...all.stored.values()]
}

const partsOf = ({ read }: { readonly read: ReadMeasure }, { written }: Storing) =>
  measuresIn(read, written)

function isCircle(name: string, all: Storing, path: readonly string[] = []): boolean {
  const key = foldCase(name)
  if (path.includes(key)) return true
  const parts = partsOf(all.written.get(key)!, all)
  return parts.some((part) => isCircle(part, all, [...path, key]))
}

function store(name: string, all: Storing): StoredMeasure {
  const key = foldCase(name)
  const known = all.stored.get(key)
  if (known !== undefined) return known
  const { read } = all.written.get(key)!
  const others = partsOf({ read }, all).map((part) => store(part, all))
  const value = { name, value: plain(sql.body(bodyOfMeasure(read, all)), mayBeHuge(key, all)) }
  const [only] = read.calls
  const isOne = only !== undefined && only.start === 0 && only.end === read.tokens.length
  const added = isOne && !isAverage(only) ? (againBy(only)?.(sql.ident(name)) ?? null) : null
  const made =
    isOne && !isAverage(only)
      ? { columns: [value], again: added?.inline() ?? null, isSum: isSummed(only) }
      : { ...ofParts(name, value, all, others), isSum: false }
  const stored = { name, ...made }
  all.stored.set(key, stored)
  return stored
}

/** One of several aggregates, or an average. */
function ofParts(
  name: string,
  value: StoredColumn,
  all: Storing,
  others: readonly StoredMeasure[],
): Pick<StoredMeasure, 'columns' | 'again'> {
  const { read } = all.written.get(foldCase(name))!
  const isAdded = (call: AggregateCall) => isAverage(call) || againBy(call) !== null
  if (!read.calls.every(isAdded) || others.some(({ again }) => again === null))
    return { columns: [value], again: null }
  const columns = [value]
  const part = (call: AggregateCall, as: string): Sql => {
    const column = freeName(`${name}_${as}`, all.taken)
    const of = bodyOfPart({ measure: read, call, as, variables: all.variables })
    columns.push({ name: column, value: plain(of, SUMS.includes(as)) })
    return againBy({ ...call, name: as })!(sql.ident(column))
  }
  const inserts = read.calls.map((call): Insert => {
    const start = read.tokens[call.start]!.start
    const end = read.tokens[call.end - 1]!.end
    return isAverage(call)
      ? { start, end, sql: sql`(${part(call, 'sum')} / ${part(call, 'count')})` }
      : { start, end, sql: part(call, call.name) }
  })
  const inVariables = bodyOf(all.source, read.span, all.variables).body.inserts.filter(
    (insert) => !inserts.some(({ start, end }) => start <= insert.start && insert.end <= end),
  )
  const sorted = [...inserts, ...inVariables].toSorted((a, b) => a.start - b.start)
  return { columns, again: ModelBody.of(all.source, read.span, sorted).text }
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let n = 2; taken.has(foldCase(name)); n++) name = `${wanted}_${n}`
  taken.add(foldCase(name))
  return name
}

const COUNTS = ['count', 'count_star']
/** Their values are HUGEINT where those that they add are whole numbers. */
const SUMS = ['sum', 'count_if', 'countif']
const ONES = ['min', 'max', 'bool_and', 'bool_or']

/** How values of the aggregate are added up; null: they cannot be. */
function againBy({ name, isDistinct }: AggregateCall): ((column: Sql) => Sql) | null {
  if (name === 'min' || name === 'max') return (column) => call(name, column)
  if (isDistinct) return null
  if (SUMS.includes(name)) return (column) => sql`sum(${column})`
  // Without rows a count is 0, and a sum of counts NULL.
  if (COUNTS.includes(name)) return (column) => sql`CAST(coalesce(sum(${column}), 0) AS BIGINT)`
  return ONES.includes(name) ? (column) => call(name, column) : null
}

const call = (name: string, column: Sql) => sql`${sql.ident(name)}(${column})`

const isSummed = ({ name, isDistinct }: AggregateCall) =>
  !isDistinct && [...SUMS, ...COUNTS].includes(name)

/** Sums of whole numbers are HUGEINT, which no client reads: here they are DECIMAL(38,0), and other sums as they are. */
const plain = (value: Sql, mayHuge: boolean): Sql =>
  mayHuge ? sql`coalesce(${value}, CAST(NULL AS ${sql.type(columnType('DECIMAL(1,0)'))}))` : value

/** A sum may be, and what sums are a part of. */
function mayBeHuge(key: string, all: Storing): boolean {
  const one = all.written.get(key)!
  const isSum = one.read.calls.some(({ name }) => SUMS.includes(name))
  return isSum || partsOf(one, all).some((part) => mayBeHuge(part, all))
}
