// The request of a chart: which groups, and what is worked out for each of them, as one $apply.

import { binExpression, type Bins } from './steps.ts'
import type { ChartState } from './chart-state.ts'
import { freeNames, hasTime, pathTo, type TypedColumn, valueAt } from '../model/schema.ts'
import { timeGroups, type TimeUnit } from './time-units.ts'

/** A line or a chart of bars of more groups says nothing, and takes long to draw. */
export const MOST_GROUPS = 5_000

/** How the values of x become groups. */
export type Grouping =
  | { readonly by: 'time'; readonly unit: TimeUnit }
  | { readonly by: 'bins'; readonly bins: Bins }
  /** Or what an expression makes of them. */
  | { readonly by: 'value'; readonly of?: string | undefined }

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
  const aggregated = y === null ? `$count as ${value}` : `${pathTo(y)} with ${method} as ${value}`
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
