// The requests of the profile of a column: one that counts it, and one for its picture, which needs to know the ends
// that the first has found. What a type cannot do is not asked.
//
// And their answers as what a picture draws, with the sentence that says it to those who do not see it.

import { binExpression, type Bins, binsBetween, filledBins, markAt } from '../chart/steps.ts'
import { hasTime, isFloating, isIntegral, kindOf, type TypedColumn } from '../chart/column-kind.ts'
import { freeNames, isGroupable, pathTo, valueAt } from '../chart/names.ts'
import {
  type TimeGroups,
  type TimeUnit,
  timeGroups,
  unitBetween,
  unitLabel,
} from '../chart/time-units.ts'

type Row = Readonly<Record<string, unknown>>

/** A value may have a megabyte; a table of profiles shows its beginning. */
export const SHOWN_CHARACTERS = 80
/** The most bars that a picture of the width of a column can have. */
const MOST_BINS = 24
const MOST_UNITS = 48
const MOST_FREQUENT = 10
/** Lists of more lengths than that are few. */
const MOST_LENGTHS = 60

export interface Counts {
  readonly rows: number
  readonly filled: number
  /** null where the type does not tell. */
  readonly different: number | null
  /** Values as they were sent. */
  readonly least: unknown
  readonly greatest: unknown
  readonly mean: unknown
  /** Characters of the longest text. */
  readonly longest: number | null
}

export interface ProfileContext {
  /** Names of all properties of the set and of its navigation. */
  readonly names: readonly string[]
  readonly filter: string | null
}

export function countsRequest(column: TypedColumn, { filter }: ProfileContext): string {
  const path = pathTo(column.name)
  const kind = kindOf(column)
  const items = ['$count as rows', `${path} with count as filled`]
  if (kind === 'list') items.push(`${path}/$count with min as lo,${path}/$count with max as hi`)
  else if (kind !== 'struct') items.push(`${path} with countdistinct as different`)
  if (kind === 'text') {
    const start = `substring(${path},0,${SHOWN_CHARACTERS})`
    items.push(
      `${start} with min as lo,${start} with max as hi,length(${path}) with max as longest`,
    )
  } else if (!['list', 'struct', 'bytes'].includes(kind)) {
    items.push(`${path} with min as lo,${path} with max as hi`)
  }
  if (kind === 'number') items.push(`${path} with average as mean`)
  return inSequence(filter, `aggregate(${items.join(',')})`)
}

/** NaN is above all numbers, and the mean of numbers with NaN or infinities is none: then the rest is asked for. */
export function finiteRequest(column: TypedColumn, { filter }: ProfileContext): string {
  const path = pathTo(column.name)
  const ends = `${path} with min as lo,${path} with max as hi,${path} with average as mean`
  const finite = `filter(${path} gt -INF and ${path} lt INF)`
  return inSequence(filter, finite, `aggregate($count as finite,${ends})`)
}

export function needsFinite(column: TypedColumn, counts: Counts): boolean {
  return isFloating(column) && [counts.least, counts.greatest].some((end) => !isPlain(end))
}

/** null means that there is no end, such as for a column of nulls. */
const isPlain = (end: unknown) => end === null || Number.isFinite(Number(end))

export function readCounts(row: Row): Counts {
  const numberOf = (name: string) => (row[name] === undefined ? null : Number(row[name] ?? 0))
  return {
    rows: numberOf('rows') ?? 0,
    filled: numberOf('filled') ?? 0,
    different: numberOf('different'),
    least: row['lo'] ?? null,
    greatest: row['hi'] ?? null,
    mean: row['mean'] ?? null,
    longest: numberOf('longest'),
  }
}

/** What the picture of a column shows. */
export type PictureRequest =
  | { readonly shows: 'bins'; readonly apply: string; readonly bins: Bins }
  | {
      readonly shows: 'times'
      readonly apply: string
      readonly unit: TimeUnit
      readonly groups: TimeGroups
    }
  | { readonly shows: 'frequent'; readonly apply: string; readonly isCut: boolean }
  | { readonly shows: 'shares'; readonly apply: string }
  | { readonly shows: 'lengths'; readonly apply: string }
  /** There is nothing to see, and why. */
  | { readonly shows: 'nothing'; readonly why: string }

/** Names in the answer to a picture; no column has them. */
function pictureNames(names: readonly string[]) {
  const name = freeNames(names)
  return { value: name('value'), rows: name('n') }
}

export function pictureRequest(
  column: TypedColumn,
  counts: Counts,
  context: ProfileContext,
): PictureRequest {
  if (counts.filled === 0) return { shows: 'nothing', why: 'no values' }
  switch (kindOf(column)) {
    case 'number':
      return binsRequest(column, counts, context)
    case 'time':
      return timesRequest(column, counts, context)
    case 'boolean':
      return { shows: 'shares', apply: groupedRequest(column, context) }
    case 'list':
      return { shows: 'lengths', apply: lengthsRequest(column, context) }
    case 'text':
    case 'id':
    case 'clock':
    case 'duration':
      if (counts.different === counts.filled && counts.filled > 1)
        return { shows: 'nothing', why: 'every value once' }
      return frequentRequest(column, counts, context)
    case 'bytes':
    case 'struct':
      return { shows: 'nothing', why: 'no picture of this type' }
  }
}

function binsRequest(column: TypedColumn, counts: Counts, context: ProfileContext): PictureRequest {
  const [least, greatest] = [Number(counts.least), Number(counts.greatest)]
  if (counts.least === null || !Number.isFinite(least) || !Number.isFinite(greatest))
    return { shows: 'nothing', why: 'no finite values' }
  const bins = binsBetween(least, greatest, { most: MOST_BINS, isWhole: isIntegral(column) })
  const { value, rows } = pictureNames(context.names)
  const compute = `compute(${binExpression(pathTo(column.name), bins)} as ${value})`
  const groupby = `groupby((${value}),aggregate($count as ${rows}))`
  return { shows: 'bins', bins, apply: inSequence(context.filter, compute, groupby) }
}

function timesRequest(
  column: TypedColumn,
  counts: Counts,
  { names, filter }: ProfileContext,
): PictureRequest {
  const options = { hasTime: hasTime(column), most: MOST_UNITS }
  const unit = unitBetween(String(counts.least), String(counts.greatest), options)
  const { rows } = pictureNames(names)
  const path = pathTo(column.name)
  const name = freeNames([...names, rows])
  const groups = timeGroups(path, unit, { hasTime: hasTime(column), name })
  const computed = groups.computed.map((one) => `${one.expression} as ${one.name}`)
  const groupby = `groupby((${groups.keys.join(',')}),aggregate($count as ${rows}))`
  const parts = computed.length === 0 ? [groupby] : [`compute(${computed.join(',')})`, groupby]
  return { shows: 'times', unit, groups, apply: inSequence(filter, ...parts) }
}

/** Long texts are counted by their beginnings, so that an answer stays small; two of them may begin alike. */
function frequentRequest(
  column: TypedColumn,
  { longest }: Counts,
  context: ProfileContext,
): PictureRequest {
  const { rows, value } = pictureNames(context.names)
  const path = pathTo(column.name)
  const isCut = (longest ?? 0) > SHOWN_CHARACTERS
  const start = isCut ? `substring(${path},0,${SHOWN_CHARACTERS})` : path
  const isComputed = isCut || !isGroupable(column.name)
  const compute = isComputed ? [`compute(${start} as ${value})`] : []
  const key = isComputed ? value : column.name
  const groupby = `groupby((${key}),aggregate($count as ${rows}))/topcount(${MOST_FREQUENT},${rows})`
  return { shows: 'frequent', isCut, apply: inSequence(context.filter, ...compute, groupby) }
}

function groupedRequest({ name }: TypedColumn, { names, filter }: ProfileContext): string {
  const { rows, value } = pictureNames(names)
  const groupby = (key: string) => `groupby((${key}),aggregate($count as ${rows}))`
  if (isGroupable(name)) return inSequence(filter, groupby(name))
  return inSequence(filter, `compute(${pathTo(name)} as ${value})`, groupby(value))
}

function lengthsRequest({ name }: TypedColumn, { names, filter }: ProfileContext): string {
  const { rows, value } = pictureNames(names)
  const compute = `compute(${pathTo(name)}/$count as ${value})`
  const groupby = `groupby((${value}),aggregate($count as ${rows}))`
  return inSequence(filter, compute, groupby, `orderby(${value})`, `top(${MOST_LENGTHS})`)
}

/** The value that a row of frequent values, shares or lengths counts. */
function countedValue(row: Row, { name }: TypedColumn, names: readonly string[]): unknown {
  const { value } = pictureNames(names)
  return value in row ? row[value] : valueAt(row, name)
}

function inSequence(filter: string | null, ...parts: readonly string[]): string {
  return [...(filter === null ? [] : [`filter(${filter})`]), ...parts].join('/')
}

export interface Bar {
  readonly label: string
  readonly rows: number
  /** Null and the empty text, which are shown as words, must not look like the values of these names. */
  readonly isWord: boolean
}

export interface Picture {
  /** Bars that stand side by side on a scale, or lie below each other with their names. */
  readonly form: 'columns' | 'bars'
  readonly bars: readonly Bar[]
  readonly sentence: string
}

export function readPicture(
  request: Exclude<PictureRequest, { readonly shows: 'nothing' }>,
  rows: readonly Row[],
  column: TypedColumn,
  names: readonly string[],
): Picture {
  const counted = pictureNames(names)
  const rowsOf = (row: Row) => Number(row[counted.rows] ?? 0)
  switch (request.shows) {
    case 'bins': {
      const counts = new Map(
        rows
          .filter((row) => row[counted.value] !== null && isFinite(Number(row[counted.value])))
          .map((row) => [Number(row[counted.value]), rowsOf(row)]),
      )
      const bins = filledBins(request.bins, counts)
      const { step } = request.bins
      const first = Math.min(request.bins.first, ...counts.keys())
      const ends = [markAt(first, step), markAt(first + bins.length, step)] as const
      const bars = bins.map(({ label, value }) => bar(label, value))
      return columns(bars, `Histogram of ${column.name}`, ends)
    }
    case 'times': {
      const counts = new Map<number, number>()
      for (const row of rows) {
        const index = request.groups.indexOf(request.groups.keys.map((key) => row[key]))
        if (index !== null) counts.set(index, rowsOf(row))
      }
      const bars = filledUnits(counts).map((index) =>
        bar(unitLabel(index, request.unit), counts.get(index) ?? 0),
      )
      return columns(bars, `Rows by ${request.unit} of ${column.name}`)
    }
    case 'lengths': {
      const counts = new Map(
        rows.map((row) => [Number(countedValue(row, column, names)), rowsOf(row)]),
      )
      const bars = filledUnits(counts).map((length) =>
        bar(`${length} ${length === 1 ? 'item' : 'items'}`, counts.get(length) ?? 0),
      )
      return columns(bars, `Lengths of ${column.name}`)
    }
    case 'frequent':
    case 'shares': {
      const bars = rows.map((row) => ({
        ...named(countedValue(row, column, names)),
        rows: rowsOf(row),
      }))
      const what = request.shows === 'shares' ? 'Values' : 'Most frequent values'
      const listed = bars.slice(0, 5).map((one) => `${one.label} ${one.rows}`)
      return { form: 'bars', bars, sentence: `${what} of ${column.name}: ${listed.join(', ')}` }
    }
  }
}

/** Years of which only the ends have rows would be a picture of nothing, and take long to draw. */
const MOST_BARS = 400

function filledUnits(counts: ReadonlyMap<number, number>): readonly number[] {
  const known = [...counts.keys()].toSorted((a, b) => a - b)
  const [first = 0] = known
  const last = known.at(-1) ?? -1
  if (last - first + 1 > MOST_BARS) return known.slice(0, MOST_BARS)
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

const bar = (label: string, rows: number): Bar => ({ label, rows, isWord: false })

/** A value as the name of a bar. */
function named(value: unknown): Omit<Bar, 'rows'> {
  if (value === null || value === undefined) return { label: 'null', isWord: true }
  if (value === '') return { label: 'empty text', isWord: true }
  return {
    label: typeof value === 'object' ? JSON.stringify(value) : `${value as string}`,
    isWord: false,
  }
}

function columns(
  bars: readonly Bar[],
  what: string,
  ends: readonly (string | undefined)[] = [bars[0]?.label, bars.at(-1)?.label],
): Picture {
  const highest = bars.reduce((best, one) => (one.rows > best.rows ? one : best), bar('', 0))
  const from = bars.length === 0 ? '' : `, ${ends[0]} to ${ends[1]}`
  const most = highest.rows === 0 ? '' : `; most at ${highest.label}: ${highest.rows} rows`
  return { form: 'columns', bars, sentence: `${what}${from}${most}` }
}
