// The request of a chart: which groups, and what is worked out for each of them, as one $apply.

import { binExpression, type Bins } from './steps.ts'
import type { ChartState } from './chart-state.ts'
import { hasTime, type TypedColumn } from './column-kind.ts'
import { freeNames, isGroupable, pathTo, valueAt } from './names.ts'
import { type TimeUnit, timeGroups } from './time-units.ts'

/** A line or a chart of bars of more groups says nothing, and takes long to draw. */
export const MOST_GROUPS = 5_000

/** How the values of x become groups. */
export type Grouping =
  | { readonly by: 'time'; readonly unit: TimeUnit }
  | { readonly by: 'bins'; readonly bins: Bins }
  | { readonly by: 'value' }

export type AnswerRow = Readonly<Record<string, unknown>>

export interface ChartRow {
  /** Number of the time unit or of the bin; the value itself of a category. null where the value is null. */
  readonly group: unknown
  readonly colour: unknown
  /** The value as it was sent: a text with all digits. */
  readonly value: unknown
}

export interface ChartRequest {
  readonly apply: string
  /** The rows of the answer that are groups. */
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
}

export function chartRequest(
  state: ChartState,
  grouping: Grouping,
  columns: ChartColumns,
): ChartRequest {
  const name = freeNames([...columns.names, ...namesOf(state)])
  const computed: string[] = []
  const compute = (expression: string, wanted: string) => {
    const free = name(wanted)
    computed.push(`${expression} as ${free}`)
    return free
  }
  const { keys, groupOf } = keysOf(columns.x, grouping, compute, name, computed)
  const colour = state.by === null ? null : groupKey(state.by, compute)
  const value = name('value')
  const aggregate = `${aggregated(state, value)}`
  const groups = [...keys, ...(colour === null ? [] : [colour])].join(',')
  const isCut = grouping.by === 'value' && colour === null
  const counted = name('groups')
  const apply = [
    ...filterOf(state),
    ...(computed.length === 0 ? [] : [`compute(${computed.join(',')})`]),
    `groupby((${groups}),aggregate(${aggregate}))`,
    ...(isCut ? [greatest(state, value, counted)] : []),
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

function filterOf({ filter }: Pick<ChartState, 'filter'>): readonly string[] {
  return filter === null ? [] : [`filter(${filter})`]
}

function keysOf(
  x: TypedColumn,
  grouping: Grouping,
  compute: (expression: string, wanted: string) => string,
  name: (wanted: string) => string,
  computed: string[],
): { readonly keys: readonly string[]; readonly groupOf: (row: AnswerRow) => unknown } {
  const path = pathTo(x.name)
  if (grouping.by === 'bins') {
    const key = compute(binExpression(path, grouping.bins), 'bin')
    return { keys: [key], groupOf: (row) => numberOrNull(row[key]) }
  }
  if (grouping.by === 'value') {
    const key = groupKey(x.name, compute)
    return { keys: [key], groupOf: (row) => valueAt(row, key) }
  }
  const groups = timeGroups(path, grouping.unit, { hasTime: hasTime(x), name })
  computed.push(...groups.computed.map((one) => `${one.expression} as ${one.name}`))
  const { keys } = groups
  return { keys, groupOf: (row) => groups.indexOf(keys.map((key) => valueAt(row, key))) }
}

function groupKey(path: string, compute: (expression: string, wanted: string) => string): string {
  return isGroupable(path) ? path : compute(pathTo(path), 'group')
}

const namesOf = ({ x, by, y }: ChartState) => [x, by, y].flatMap((path) => path?.split('/') ?? [])

function aggregated({ y, method }: ChartState, value: string): string {
  return y === null ? `$count as ${value}` : `${pathTo(y)} with ${method} as ${value}`
}

/** The greatest groups, and what all of them come to: sums and counts of the others are the difference. */
function greatest({ first, method }: ChartState, value: string, counted: string): string {
  const adds = method === 'sum' || method === 'count'
  const total = adds ? `${value} with sum as ${value},` : ''
  return `concat(topcount(${first},${value}),aggregate(${total}$count as ${counted}))`
}

function numberOrNull(value: unknown): number | null {
  const number = value === null || value === undefined ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}
