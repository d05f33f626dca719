// The requests of the profile of a column: one that counts it, and one for its picture, which needs to know the ends
// that the first has found. What a type cannot do is not asked. A picture is a chart of the rows by the column.

import { chartData, chartRequest, type Grouping, withoutGaps } from '../chart/chart-data.ts'
import type { Condition, TypeOfColumn } from '../address/filter.ts'
import type { ChartState } from '../chart/chart-state.ts'
import {
  hasTime,
  isFloating,
  isIntegral,
  kindOf,
  type Label,
  pathTo,
  type TypedColumn,
} from '../model/schema.ts'
import { conditionFor } from '../chart/pick.ts'
import { binsBetween, endsOf } from '../chart/steps.ts'
import { unitBetween } from '../chart/time-units.ts'

type Row = Readonly<Record<string, unknown>>

/** A value may have a megabyte; a table of profiles shows its beginning. */
export const SHOWN_CHARACTERS = 80
/** The most bars that a picture of the width of a column can have. */
const MOST_BINS = 24
const MOST_UNITS = 48
const MOST_FREQUENT = 10
/** Lists of more lengths than that are few. */
const MOST_LENGTHS = 60
/** Years of which only the ends have rows would be a picture of nothing, and take long to draw. */
const MOST_BARS = 400

export interface Counts {
  readonly rows: number
  readonly filled: number
  /** null where the type does not tell. */
  readonly different: number | null
  readonly least: unknown
  readonly greatest: unknown
  readonly mean: unknown
  readonly longest: number | null
}

interface ProfileContext {
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
  const counts = `aggregate(${items.join(',')})`
  if (!isFloating(column)) return inSequence(filter, counts)
  // NaN is above all numbers, and the mean of numbers with NaN or infinities is none, so these are of the rest.
  const finite = `filter(${path} gt -INF and ${path} lt INF)/aggregate($count as finite,${path} with min as lo,${path} with max as hi,${path} with average as mean)`
  return inSequence(filter, `concat(${counts},${finite})`)
}

export function readCounts(rows: readonly Row[]): Counts {
  const row: Row = Object.assign({}, ...rows)
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

interface ShownPicture {
  readonly shows: 'bins' | 'times' | 'frequent' | 'shares' | 'lengths'
  readonly apply: string
  readonly read: (rows: readonly Row[]) => Picture
}

/** There may be nothing to see, and why. */
type PictureRequest = ShownPicture | { readonly shows: 'nothing'; readonly why: string }

export interface Bar extends Label {
  readonly rows: number
}

export interface Picture {
  /** Bars that stand side by side on a scale, or lie below each other with their names. */
  readonly form: 'columns' | 'bars'
  readonly bars: readonly Bar[]
  readonly sentence: string
  /** What the rows of a bar, or of one to another, have in common; undefined where no filter says it. */
  readonly between?: (first: number, last: number, typeOf: TypeOfColumn) => Condition | undefined
}

export function pictureRequest(
  column: TypedColumn,
  counts: Counts,
  context: ProfileContext,
): PictureRequest {
  const { name } = column
  const nothing = (why: string) => ({ shows: 'nothing', why }) as const
  if (counts.filled === 0) return nothing('no values')
  switch (kindOf(column)) {
    case 'number': {
      const [least, greatest] = [Number(counts.least), Number(counts.greatest)]
      if (counts.least === null || !Number.isFinite(least) || !Number.isFinite(greatest))
        return nothing('no finite values')
      const options = { most: MOST_BINS, isWhole: isIntegral(column) }
      const rows = rowsBy(column, context, {
        by: 'bins',
        bins: binsBetween(least, greatest, options),
      })
      return rows('bins', (bars) => columns(bars, `Histogram of ${name}`))
    }
    case 'time': {
      const options = { hasTime: hasTime(column), name, most: MOST_UNITS }
      const unit = unitBetween(String(counts.least), String(counts.greatest), options)
      const rows = rowsBy(column, context, { by: 'time', unit })
      return rows('times', (bars) => columns(bars, `Rows by ${unit} of ${name}`))
    }
    case 'list': {
      const length = { by: 'value', of: `${pathTo(name)}/$count` } as const
      const rows = rowsBy(column, context, length, MOST_LENGTHS)
      return rows('lengths', (bars) => columns(lengths(bars), `Lengths of ${name}`))
    }
    case 'boolean':
      return rowsBy(
        column,
        context,
        { by: 'value' },
        Infinity,
      )('shares', (bars) => listed(bars, `Values of ${name}`))
    case 'text':
    case 'id':
    case 'clock':
    case 'duration': {
      if (counts.different === counts.filled && counts.filled > 1)
        return nothing('every value once')
      // Long texts are counted by their beginnings, so that an answer stays small; two of them may begin alike.
      const isLong = (counts.longest ?? 0) > SHOWN_CHARACTERS
      const of = isLong ? `substring(${pathTo(name)},0,${SHOWN_CHARACTERS})` : undefined
      const rows = rowsBy(column, context, { by: 'value', of })
      return rows('frequent', (bars) => listed(bars, `Most frequent values of ${name}`))
    }
    case 'bytes':
    case 'struct':
      return nothing('no picture of this type')
  }
}

function rowsBy(
  column: TypedColumn,
  { names, filter }: ProfileContext,
  grouping: Grouping,
  first = MOST_FREQUENT,
) {
  const x = column.name
  const counted = { y: null, method: 'count', by: null, per: null, isCompared: false } as const
  const state: ChartState = { ...counted, x, first, filter }
  const request = chartRequest(state, grouping, { x: column, names, isWithoutTotal: true })
  const read = (rows: readonly Row[]) => {
    const { marks, series } = chartData(state, grouping, request, rows, MOST_BARS)
    const values = series[0]?.values ?? []
    const bars = marks.map(({ text, isWord }, i) => ({ text, isWord, rows: Number(values[i]) }))
    const between: Picture['between'] = (first, last, typeOf) =>
      conditionFor(x, grouping, [marks[first]!, marks[last]!], typeOf)
    return { bars, between }
  }
  return (shows: ShownPicture['shows'], draw: (bars: readonly Bar[]) => Picture): ShownPicture => ({
    shows,
    apply: request.apply,
    read(rows) {
      const { bars, between } = read(rows)
      // Lengths are of no column.
      return { ...draw(bars), ...(shows === 'lengths' ? {} : { between }) }
    },
  })
}

function lengths(bars: readonly Bar[]): readonly Bar[] {
  const counts = new Map(bars.map(({ text, rows }) => [Number(text), rows]))
  return withoutGaps(new Set(counts.keys()), MOST_BARS).map((length) => ({
    text: `${length} ${length === 1 ? 'item' : 'items'}`,
    isWord: false,
    rows: counts.get(length) ?? 0,
  }))
}

function columns(bars: readonly Bar[], what: string): Picture {
  const highest = bars.reduce<Bar | null>(
    (best, one) => (one.rows > (best?.rows ?? 0) ? one : best),
    null,
  )
  const [first] = endsOf(bars[0]?.text ?? '')
  const [, last] = endsOf(bars.at(-1)?.text ?? '')
  const from = bars.length === 0 ? '' : `, ${first} to ${last}`
  const most = highest === null ? '' : `; most at ${highest.text}: ${highest.rows} rows`
  return { form: 'columns', bars, sentence: `${what}${from}${most}` }
}

function listed(bars: readonly Bar[], what: string): Picture {
  const first = bars.slice(0, 5).map(({ text, rows }) => `${text} ${rows}`)
  return { form: 'bars', bars, sentence: `${what}: ${first.join(', ')}` }
}

function inSequence(filter: string | null, ...parts: readonly string[]): string {
  return [...(filter === null ? [] : [`filter(${filter})`]), ...parts].join('/')
}
