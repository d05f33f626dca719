// The rows of an answer as what a chart draws: marks along x, and a series for each colour.
//
// And the numbers of a chart as a table, and that as CSV (RFC 4180).

import { filledBins } from './steps.ts'
import type { ChartRequest, ChartRow, Grouping, AnswerRow } from './chart-request.ts'
import type { ChartState } from './chart-state.ts'
import { startOf, unitLabel } from './time-units.ts'

export interface Label {
  readonly text: string
  /** Null, the empty text and "others": words of the page, not values. */
  readonly isWord: boolean
}

export interface Mark extends Label {
  /** Where a line has it; null for bars. */
  readonly seconds: number | null
}

interface Series {
  readonly label: Label
  /** The values as the service sent them, one for each mark; null where it sent none. */
  readonly values: readonly (string | null)[]
}

export interface ChartData {
  readonly form: 'line' | 'bars' | 'histogram'
  readonly marks: readonly Mark[]
  readonly series: readonly Series[]
  /** Whether series can be put on top of each other. */
  readonly isStacked: boolean
  /** What the picture leaves out. */
  readonly notes: readonly string[]
}

/** One colour is for "others". */
const MOST_COLOURS = 7
/** Between years of which a few have rows there may be any number without. */
const MOST_MARKS = 20_000

export function chartData(
  state: ChartState,
  grouping: Grouping,
  request: ChartRequest,
  answer: readonly AnswerRow[],
): ChartData {
  const all = request.read(answer)
  const notes: string[] = []
  const adds = state.method === 'sum' || state.method === 'count'
  const rows = withFewColours(state, all, adds, notes)
  const isStacked = adds && rows.every(({ value }) => !(Number(value) < 0))
  if (grouping.by === 'value') {
    const bars =
      state.by === null
        ? cutBars(request, answer, adds, notes)
        : foldedBars(rows, state, adds, notes)
    return { form: 'bars', ...bars, isStacked, notes }
  }
  const marks = scale(grouping, rows, notes)
  const whereNone =
    state.method === 'average' || state.method === 'min' || state.method === 'max' ? null : '0'
  return {
    form: grouping.by === 'time' ? 'line' : 'histogram',
    marks,
    series: seriesOf(state, rows).map(({ label, values }) => ({
      label,
      values: marks.map(({ index }) => (values.has(index) ? values.get(index)! : whereNone)),
    })),
    isStacked,
    notes,
  }
}

function labelOf(value: unknown): Label {
  if (value === null || value === undefined) return { text: 'null', isWord: true }
  if (value === '') return { text: 'empty text', isWord: true }
  return { text: textOf(value) ?? '', isWord: false }
}

const others: Label = { text: 'others', isWord: true }

interface IndexedMark extends Mark {
  readonly index: unknown
}

/** Every unit or bin from the first to the last, also those without rows: a gap is a fact too. */
function scale(
  grouping: Exclude<Grouping, { readonly by: 'value' }>,
  rows: readonly ChartRow[],
  notes: string[],
): readonly IndexedMark[] {
  const known = new Set<number>()
  let without = 0
  for (const { group } of rows) {
    if (typeof group === 'number') known.add(group)
    else without += 1
  }
  if (without > 0) {
    const what = grouping.by === 'time' ? 'time' : 'finite number'
    notes.push(`Rows without a ${what} are not in the picture.`)
  }
  if (known.size === 0) return []
  if (grouping.by === 'bins') {
    const { bins } = grouping
    const first = Math.min(bins.first, ...known)
    return filledBins(bins, new Map([...known].map((index) => [index, 0]))).map((bin, i) => ({
      index: first + i,
      text: bin.label,
      isWord: false,
      seconds: null,
    }))
  }
  const sorted = [...known].toSorted((a, b) => a - b)
  const first = sorted[0] ?? 0
  const count = (sorted.at(-1) ?? -1) - first + 1
  const indexes = count > MOST_MARKS ? sorted : Array.from({ length: count }, (_, i) => first + i)
  return indexes.map((index) => ({
    index,
    text: unitLabel(index, grouping.unit),
    isWord: false,
    seconds: startOf(index, grouping.unit) / 1000,
  }))
}

function seriesOf(
  { by, y, method }: ChartState,
  rows: readonly ChartRow[],
): readonly { readonly label: Label; readonly values: ReadonlyMap<unknown, string | null> }[] {
  const byColour = new Map<unknown, Map<unknown, string | null>>()
  for (const { colour, group, value } of rows) {
    const values = byColour.get(colour) ?? new Map<unknown, string | null>()
    values.set(group, textOf(value))
    byColour.set(colour, values)
  }
  const only: Label = { text: y === null ? 'rows' : `${method} of ${y}`, isWord: false }
  return Array.from(byColour, ([colour, values]) => ({
    label: by === null ? only : colour === OTHERS ? others : labelOf(colour),
    values,
  }))
}

const OTHERS = Symbol('others')

/** The colours with the greatest totals first; what is left becomes one where it can be added up, else it is left out. */
function withFewColours(
  { by }: ChartState,
  rows: readonly ChartRow[],
  adds: boolean,
  notes: string[],
): readonly ChartRow[] {
  if (by === null) return rows
  const totals = new Map<unknown, number>()
  for (const { colour, value } of rows)
    totals.set(colour, (totals.get(colour) ?? 0) + Math.abs(Number(value ?? 0)))
  const colours = [...totals.keys()].toSorted((a, b) => totals.get(b)! - totals.get(a)!)
  const kept = new Set(colours.slice(0, MOST_COLOURS))
  const ranked = rows.toSorted((a, b) => colours.indexOf(a.colour) - colours.indexOf(b.colour))
  if (colours.length <= MOST_COLOURS) return ranked
  const rest = colours.length - MOST_COLOURS
  if (!adds) {
    notes.push(`${rest} more values of ${by} are not in the picture.`)
    return ranked.filter(({ colour }) => kept.has(colour))
  }
  const folded = new Map<unknown, unknown[]>()
  for (const { colour, group, value } of ranked) {
    if (kept.has(colour)) continue
    folded.set(group, [...(folded.get(group) ?? []), value])
  }
  return [
    ...ranked.filter(({ colour }) => kept.has(colour)),
    ...Array.from(folded, ([group, values]) => ({ group, colour: OTHERS, value: totalOf(values) })),
  ]
}

type Bars = Pick<ChartData, 'marks' | 'series'>

/** The greatest groups came as such, with what all of them come to. */
function cutBars(
  request: ChartRequest,
  answer: readonly AnswerRow[],
  adds: boolean,
  notes: string[],
): Bars {
  const rows = request.read(answer)
  const total = request.total(answer)
  const rest = (total?.groups ?? rows.length) - rows.length
  const marks = rows.map(({ group }) => ({ ...labelOf(group), seconds: null }))
  const values = rows.map(({ value }) => textOf(value))
  if (rest > 0 && adds) {
    marks.push({ text: `${rest} others`, isWord: true, seconds: null })
    values.push(
      totalOf(
        [total?.value],
        rows.map(({ value }) => value),
      ),
    )
  } else if (rest > 0) notes.push(`${rest} more values are not in the picture.`)
  return { marks, series: [{ label: { text: 'value', isWord: false }, values }] }
}

/** With colours all groups came, and the greatest are found here. */
function foldedBars(
  rows: readonly ChartRow[],
  state: ChartState,
  adds: boolean,
  notes: string[],
): Bars {
  const totals = new Map<unknown, number>()
  for (const { group, value } of rows) {
    const number = Number(value ?? 0)
    const before = totals.get(group)
    totals.set(
      group,
      before === undefined ? number : adds ? before + number : Math.max(before, number),
    )
  }
  const groups = [...totals.keys()].toSorted((a, b) => totals.get(b)! - totals.get(a)!)
  const shown = groups.slice(0, state.first)
  const rest = new Set(groups.slice(state.first))
  if (rest.size > 0 && !adds) notes.push(`${rest.size} more values are not in the picture.`)
  const hasOthers = rest.size > 0 && adds
  const series = seriesOf(state, rows).map(({ label, values }) => {
    const left = [...values].filter(([group]) => rest.has(group)).map(([, value]) => value)
    return {
      label,
      values: [
        ...shown.map((group) => values.get(group) ?? null),
        ...(hasOthers ? [totalOf(left)] : []),
      ],
    }
  })
  const marks = shown.map((group) => ({ ...labelOf(group), seconds: null }))
  return {
    marks: hasOthers
      ? [...marks, { text: `${rest.size} others`, isWord: true, seconds: null }]
      : marks,
    series,
  }
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string}`
}

// Numbers as the service sends them: 64-bit integers and decimals are texts with all their digits. Sums of them are
// exact too, since the bar of "others" is what is left of a total.

interface Exact {
  readonly digits: bigint
  /** Digits after the point. */
  readonly scale: number
}

/** The sum of some values less that of others; nulls count nothing. Exact unless one of them is a double. */
export function totalOf(added: readonly unknown[], subtracted: readonly unknown[] = []): string {
  const signed = (values: readonly unknown[], sign: 1 | -1) =>
    values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => ({ value, sign, exact: exactOf(value) }))
  const all = [...signed(added, 1), ...signed(subtracted, -1)]
  let scale = 0
  for (const { exact } of all) {
    if (exact === null)
      return String(all.reduce((sum, { value, sign }) => sum + sign * Number(value), 0))
    scale = Math.max(scale, exact.scale)
  }
  const digits = all.reduce(
    (sum, { sign, exact }) =>
      sum + BigInt(sign) * exact!.digits * 10n ** BigInt(scale - exact!.scale),
    0n,
  )
  return decimalText({ digits, scale })
}

/** null for anything but a plain decimal number, such as NaN and numbers with an exponent. */
function exactOf(value: unknown): Exact | null {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? []
  if (whole === undefined) return null
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length }
}

function decimalText({ digits, scale }: Exact): string {
  const sign = digits < 0n ? '-' : ''
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

export interface ChartTable {
  readonly head: readonly string[]
  readonly rows: readonly ChartTableRow[]
}

export interface ChartTableRow {
  readonly label: Label
  readonly values: readonly (string | null)[]
}

export function chartTable({ marks, series }: ChartData, x: string, value: string): ChartTable {
  const names = series.length === 1 ? [value] : series.map(({ label }) => label.text)
  return {
    head: [x, ...names],
    rows: marks.map((label, i) => ({
      label,
      values: series.map(({ values }) => values[i] ?? null),
    })),
  }
}

/** CSV in the form of the service: null is nothing, an empty text is "", lines end with CR LF. */
export function csvOf({ head, rows }: ChartTable): string {
  const lines = rows.map(({ label, values }) => [
    label.text === 'null' && label.isWord
      ? ''
      : quoted(label.isWord && label.text === 'empty text' ? '' : label.text),
    ...values.map((value) => value ?? ''),
  ])
  return [head.map(quoted), ...lines].map((line) => `${line.join(',')}\r\n`).join('')
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
