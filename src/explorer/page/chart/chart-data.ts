// The request of a chart as one $apply, and the rows of its answer as what it draws: marks along x, and a series for each
// colour. And the numbers of a chart as a table, and that as CSV (RFC 4180).

import {
  freeNames,
  hasTime,
  type Label,
  labelOf,
  pathTo,
  textOf,
  type TypedColumn,
  valueAt,
} from '../model/schema.ts'
import { binExpression, type Bins, filledBins } from './steps.ts'
import type { ChartState, Method } from './chart-state.ts'
import { timeGroups, type TimeUnit, unitLabel } from './time-units.ts'

interface Series {
  readonly label: Label
  /** The values as the service sent them, one for each mark; null where it sent none. */
  readonly values: readonly (string | null)[]
}

export interface ChartMark extends Label {
  /** Number of the time unit or of the bin; the value itself of a category. */
  readonly index: unknown
}

export interface ChartData {
  readonly form: 'line' | 'bars' | 'histogram'
  readonly marks: readonly ChartMark[]
  readonly series: readonly Series[]
  readonly isStacked: boolean
  readonly notes: readonly string[]
  /** How the model says that the values are shown. */
  readonly format?: string | undefined
}

/** One colour is for "others". */
const MOST_COLOURS = 7
/** Between years of which a few have rows there may be any number without. */
const MOST_MARKS = 20_000
const FORMS = { time: 'line', bins: 'histogram', value: 'bars' } as const
const OTHERS = Symbol('others')

export function chartData(
  state: ChartState,
  grouping: Grouping,
  request: ChartRequest,
  answer: readonly AnswerRow[],
  mostMarks = MOST_MARKS,
): ChartData {
  const notes: string[] = []
  const adds = state.method === 'sum' || state.method === 'count'
  const sum = (before = 0, value: number) => before + Math.abs(value)
  const all = request.read(answer)
  const coloured = fold(all, 'colour', MOST_COLOURS, adds, sum)
  if (coloured.rest > 0 && !adds)
    notes.push(`${coloured.rest} more values of ${state.by} are not in the picture.`)
  const isByValue = grouping.by === 'value'
  const grouped = isByValue
    ? withFewGroups(state, request.total(answer), coloured.rows, adds)
    : coloured
  if (isByValue && grouped.rest > 0 && !adds)
    notes.push(`${grouped.rest} more values are not in the picture.`)
  const marks = isByValue
    ? grouped.keys.map((index) => ({ index, ...groupLabel(index, grouped.rest) }))
    : scale(grouping, grouped.rows, notes, mostMarks)
  // Where no rows are there is nothing to add up, which is a gap and not 0. The other groups together have all of them.
  const whereNone = (index: unknown) => (index === OTHERS ? '0' : null)
  return {
    form: FORMS[grouping.by],
    marks,
    series: seriesOf(state, grouped.rows, coloured.keys).map(({ label, values }) => ({
      label,
      values: marks.map(({ index }) => {
        const value = values.get(index)
        return value === undefined ? whereNone(index) : value
      }),
    })),
    isStacked: adds && coloured.rows.every(({ value }) => !(Number(value) < 0)),
    notes,
  }
}

interface Folded {
  readonly rows: readonly ChartRow[]
  /** The keys of the groups or colours, the greatest first. */
  readonly keys: readonly unknown[]
  readonly rest: number
}

/** The greatest are kept; what is left becomes one where it can be added up, else it is left out. */
function fold(
  rows: readonly ChartRow[],
  by: 'group' | 'colour',
  most: number,
  adds: boolean,
  total: (before: number | undefined, value: number) => number,
): Folded {
  const totals = new Map<unknown, number>()
  for (const row of rows) totals.set(row[by], total(totals.get(row[by]), Number(row.value ?? 0)))
  const keys = [...totals.keys()].toSorted((a, b) => totals.get(b)! - totals.get(a)!)
  const kept = keys.slice(0, most)
  const isKept = new Set(kept)
  const left = rows.filter((row) => isKept.has(row[by]))
  const rest = keys.length - kept.length
  if (rest === 0 || !adds) return { rows: left, keys: kept, rest }
  const others = new Map<unknown, ChartRow[]>()
  for (const row of rows) {
    if (isKept.has(row[by])) continue
    const place = row[by === 'group' ? 'colour' : 'group']
    others.set(place, [...(others.get(place) ?? []), row])
  }
  const folded = Array.from(others.values(), (some) => ({
    ...some[0]!,
    [by]: OTHERS,
    value: totalOf(some.map(({ value }) => value)),
  }))
  return { rows: [...left, ...folded], keys: [...kept, OTHERS], rest }
}

/** With colours all groups came, and the greatest are found here. Without, they came with what all of them come to. */
function withFewGroups(
  { by, first }: ChartState,
  total: ReturnType<ChartRequest['total']>,
  rows: readonly ChartRow[],
  adds: boolean,
): Folded {
  if (by !== null)
    return fold(rows, 'group', first, adds, (before, value) =>
      before === undefined ? value : adds ? before + value : Math.max(before, value),
    )
  const keys = rows.map(({ group }) => group)
  const rest = (total?.groups ?? rows.length) - rows.length
  if (rest === 0 || !adds) return { rows, keys, rest }
  const known = rows.map(({ value }) => value)
  const others = { group: OTHERS, colour: null, value: totalOf([total?.value], known) }
  return { rows: [...rows, others], keys: [...keys, OTHERS], rest }
}

const groupLabel = (group: unknown, rest: number): Label =>
  group === OTHERS ? { text: `${rest} others`, isWord: true } : labelOf(group)

/** Every unit or bin from the first to the last, also those without rows: a gap is a fact too. */
function scale(
  grouping: Exclude<Grouping, { readonly by: 'value' }>,
  rows: readonly ChartRow[],
  notes: string[],
  mostMarks: number,
): readonly ChartMark[] {
  const groups = rows.map(({ group }) => group)
  const known = new Set(groups.filter((group) => typeof group === 'number'))
  if (groups.some((group) => typeof group !== 'number')) {
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
    }))
  }
  return withoutGaps(known, mostMarks).map((index) => ({
    index,
    text: unitLabel(index, grouping.unit),
    isWord: false,
  }))
}

/** All numbers from the least to the greatest, unless these are too many. */
export function withoutGaps(known: ReadonlySet<number>, most: number): readonly number[] {
  const sorted = [...known].toSorted((a, b) => a - b)
  const [first = 0] = sorted
  const count = (sorted.at(-1) ?? -1) - first + 1
  if (count > most) return sorted.slice(0, most)
  return Array.from({ length: count }, (_, i) => first + i)
}

function seriesOf(
  { by, y, method }: ChartState,
  rows: readonly ChartRow[],
  colours: readonly unknown[],
): readonly { readonly label: Label; readonly values: ReadonlyMap<unknown, string | null> }[] {
  const value = method === 'measure' ? y : `${method} of ${y}`
  const only: Label = { text: y === null ? 'rows' : `${value}`, isWord: false }
  const others: Label = { text: 'others', isWord: true }
  return colours.map((colour) => ({
    label: by === null ? only : colour === OTHERS ? others : labelOf(colour),
    values: new Map(
      rows
        .filter((row) => row.colour === colour)
        .map(({ group, value }) => [group, value === null ? null : textOf(value)]),
    ),
  }))
}

/**
 * The sum of some values less that of others; nulls count nothing. 64-bit integers and decimals come as texts with all
 * their digits, and sums of them are exact too, since the bar of "others" is what is left of a total.
 */
export function totalOf(added: readonly unknown[], subtracted: readonly unknown[] = []): string {
  const textsOf = (values: readonly unknown[]) =>
    values.filter((value) => value !== null && value !== undefined).map(String)
  const [plus, minus] = [textsOf(added), textsOf(subtracted)]
  const all = [...plus, ...minus]
  if (!all.every((text) => /^-?\d+(?:\.\d+)?$/.test(text))) {
    const sumOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Number(text), 0)
    return String(sumOf(plus) - sumOf(minus))
  }
  const scale = Math.max(0, ...all.map((text) => fractionOf(text).length))
  const digitsOf = (text: string) =>
    BigInt(text.replace('.', '') + '0'.repeat(scale - fractionOf(text).length))
  const sumOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + digitsOf(text), 0n)
  const total = sumOf(plus) - sumOf(minus)
  const sign = total < 0n ? '-' : ''
  const digits = String(total < 0n ? -total : total).padStart(scale + 1, '0')
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const fractionOf = (decimal: string) => decimal.split('.')[1] ?? ''

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
  const lines = rows.map(({ label: { text, isWord }, values }) => [
    isWord && text === 'null' ? '' : quoted(isWord && text === 'empty text' ? '' : text),
    ...values.map((value) => value ?? ''),
  ])
  return [head.map(quoted), ...lines].map((line) => `${line.join(',')}\r\n`).join('')
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

/** A line or a chart of bars of more groups says nothing, and takes long to draw. */
export const MOST_GROUPS = 5_000

export type Grouping =
  | { readonly by: 'time'; readonly unit: TimeUnit }
  | { readonly by: 'bins'; readonly bins: Bins }
  /** Or what an expression makes of them. */
  | { readonly by: 'value'; readonly of?: string | undefined }

export type AnswerRow = Readonly<Record<string, unknown>>

interface ChartRow {
  /** Number of the time unit or of the bin; the value itself of a category. null where the value is null. */
  readonly group: unknown
  readonly colour: unknown
  /** The value as it was sent: a text with all digits. */
  readonly value: unknown
}

interface ChartRequest {
  readonly apply: string
  readonly read: (rows: readonly AnswerRow[]) => readonly ChartRow[]
  /** All groups together, when the answer has only the greatest of them. */
  readonly total: (
    rows: readonly AnswerRow[],
  ) => { readonly value: unknown; readonly groups: number } | null
}

interface ChartColumns {
  readonly x: TypedColumn
  /** Names that computed ones must not have: the properties of the set and its navigation. */
  readonly names: readonly string[]
  /** Nobody wants to know what the groups come to that are not among the greatest. */
  readonly isWithoutTotal?: boolean
}

export function chartRequest(
  state: ChartState,
  grouping: Grouping,
  { x, names, isWithoutTotal = false }: ChartColumns,
): ChartRequest {
  const { by, y, method, first } = state
  const name = freeNames([...names, ...[state.x, by, y].flatMap((path) => path?.split('/') ?? [])])
  const computed: string[] = []
  const compute = (expression: string, wanted: string) => {
    const free = name(wanted)
    computed.push(`${expression} as ${free}`)
    return free
  }
  const keyFor = (path: string) => (pathTo(path) === path ? path : compute(pathTo(path), 'group'))
  const { keys, groupOf } = keysOf(x, grouping, { name, computed, compute, keyFor })
  const colour = by === null ? null : keyFor(by)
  const value = name('value')
  const aggregated = y === null ? `$count as ${value}` : aggregateOf(y, method, value)
  const isCut = grouping.by === 'value' && colour === null
  const counted = name('groups')
  // Sums and counts of the other groups are the difference to what all of them come to.
  const sum = method === 'sum' || method === 'count' ? `${value} with sum as ${value},` : ''
  const greatest = `topcount(${first},${value})`
  const withTotal = `concat(${greatest},aggregate(${sum}$count as ${counted}))`
  const apply = [
    ...filterOf(state),
    ...(computed.length === 0 ? [] : [`compute(${computed.join(',')})`]),
    `groupby((${[...keys, ...(colour === null ? [] : [colour])].join(',')}),aggregate(${aggregated}))`,
    ...(isCut && first < Infinity ? [isWithoutTotal ? greatest : withTotal] : []),
  ].join('/')
  const isTotal = (row: AnswerRow) => isCut && counted in row
  return {
    apply,
    read: (rows) =>
      rows
        .filter((row) => !isTotal(row))
        .map((row) => ({
          group: groupOf(row),
          colour: colour === null ? null : valueAt(row, colour),
          value: row[value] ?? null,
        })),
    total(rows) {
      const row = rows.find(isTotal)
      return row === undefined ? null : { value: row[value] ?? null, groups: Number(row[counted]) }
    },
  }
}

const aggregateOf = (y: string, method: Method, name: string) =>
  method === 'measure' ? `${y} as ${name}` : `${pathTo(y)} with ${method} as ${name}`

/**
 * The ends of the values of x, which bins and units of time are proposed from. `isFloating`: without NaN, which is above
 * all numbers, and without infinities.
 */
export function boundsRequest(state: ChartState, x: string, isFloating = false): string {
  const path = pathTo(x)
  return [
    ...filterOf(state),
    ...(isFloating ? [`filter(${path} gt -INF and ${path} lt INF)`] : []),
    `aggregate(${path} with min as lo,${path} with max as hi)`,
  ].join('/')
}

const filterOf = ({ filter }: ChartState) => (filter === null ? [] : [`filter(${filter})`])

interface Naming {
  readonly name: (wanted: string) => string
  readonly computed: string[]
  readonly compute: (expression: string, wanted: string) => string
  readonly keyFor: (path: string) => string
}

function keysOf(
  x: TypedColumn,
  grouping: Grouping,
  { name, computed, compute, keyFor }: Naming,
): { readonly keys: readonly string[]; readonly groupOf: (row: AnswerRow) => unknown } {
  const path = pathTo(x.name)
  if (grouping.by === 'bins') {
    const key = compute(binExpression(path, grouping.bins), 'bin')
    return { keys: [key], groupOf: (row) => numberOrNull(row[key]) }
  }
  if (grouping.by === 'value') {
    const key = grouping.of === undefined ? keyFor(x.name) : compute(grouping.of, 'group')
    return { keys: [key], groupOf: (row) => valueAt(row, key) }
  }
  const groups = timeGroups(path, grouping.unit, { hasTime: hasTime(x), name })
  computed.push(...groups.computed.map((one) => `${one.expression} as ${one.name}`))
  const { keys } = groups
  return { keys, groupOf: (row) => groups.indexOf(keys.map((key) => valueAt(row, key))) }
}

function numberOrNull(value: unknown): number | null {
  const number = value === null || value === undefined ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}
