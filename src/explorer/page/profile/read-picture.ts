// The rows of an answer as what a picture draws, and the sentence that says it to those who do not see it.

import { filledBins } from '../chart/bins.ts'
import { markAt } from '../chart/steps.ts'
import type { TypedColumn } from '../chart/column-kind.ts'
import { unitLabel } from '../chart/time-units.ts'
import { countedValue, type PictureRequest, pictureNames } from './profile-requests.ts'

type Row = Readonly<Record<string, unknown>>

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
export function named(value: unknown): Omit<Bar, 'rows'> {
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
