// What one can do with a table by its header and its cells. All of it is a change of the address.

import { moveColumn, readOrder, toggleOrder, writeOrder, writeSelect } from '../address/order.ts'
import { type Condition, type TypeOfColumn, writeFilter } from '../address/filter.ts'
import { type Options, withOptions } from '../address/options.ts'
import { textOf, type Value } from '../model/schema.ts'

/** The state without what belongs to the page that it was in. */
const FROM_THE_TOP = { $skip: undefined, $skiptoken: undefined }

export function sortBy(options: Options, column: string, keepOthers: boolean): Options {
  const orders = toggleOrder(readOrder(options.get('$orderby')), column, keepOthers)
  return withOptions(options, { $orderby: writeOrder(orders), ...FROM_THE_TOP })
}

export function sortExactly(options: Options, column: string, descending: boolean): Options {
  return withOptions(options, {
    $orderby: writeOrder([{ by: column, descending }]),
    ...FROM_THE_TOP,
  })
}

/** The columns of a table in their order, as its address says them. */
interface ShownColumns {
  readonly options: Options
  readonly shown: readonly string[]
  readonly all: readonly string[]
}

export function pinnedCount(options: Options): number {
  const count = Number(options.get('pin') ?? 0)
  return Number.isInteger(count) && count > 0 ? count : 0
}

/** Pinned columns are the first ones of `$select`; the others follow in their order. */
export function show(
  { options, shown, all }: ShownColumns,
  pinned = Math.min(pinnedCount(options), Math.max(0, shown.length - 1)),
): Options {
  const pin = pinned > 0 ? String(pinned) : undefined
  return withOptions(options, { $select: writeSelect(shown, all), pin })
}

export function hideColumn({ options, shown, all }: ShownColumns, column: string): Options {
  const count = pinnedCount(options)
  const isPinned = shown.indexOf(column) < count
  const rest = shown.filter((name) => name !== column)
  return show({ options, shown: rest, all }, isPinned ? count - 1 : count)
}

export function move({ options, shown, all }: ShownColumns, column: string, by: -1 | 1): Options {
  const target = shown[shown.indexOf(column) + by]
  if (target === undefined) return options
  return show({ options, shown: moveColumn(shown, column, target), all })
}

export function togglePin({ options, shown, all }: ShownColumns, column: string): Options {
  const count = pinnedCount(options)
  const isPinned = shown.indexOf(column) < count
  const pinned = shown.slice(0, count).filter((name) => name !== column)
  const others = shown.slice(count).filter((name) => name !== column)
  const next = [...pinned, column, ...others]
  return show({ options, shown: next, all }, isPinned ? count - 1 : count + 1)
}

export function setFilter(
  options: Options,
  typeOf: TypeOfColumn,
  conditions: readonly Condition[],
): Options {
  const different = conditions.filter(
    (one, i) => conditions.findIndex((other) => isSame(one, other, typeOf)) === i,
  )
  return withOptions(options, { $filter: writeFilter(different, typeOf), ...FROM_THE_TOP })
}

const MOST_CHARACTERS = 2_000

/** "Filter by this" and "leave this out". Undefined for what cannot be compared. */
export function conditionOf(
  column: string,
  value: Value,
  isWanted: boolean,
): Condition | undefined {
  if (value === null) {
    return { kind: 'test', column, operator: isWanted ? 'null' : 'notnull', values: [] }
  }
  if (typeof value === 'object' || textOf(value).length > MOST_CHARACTERS) return undefined
  if (value === '' && isWanted) return { kind: 'test', column, operator: 'empty', values: [] }
  return { kind: 'test', column, operator: isWanted ? 'eq' : 'ne', values: [textOf(value)] }
}

function isSame(a: Condition, b: Condition, typeOf: TypeOfColumn): boolean {
  return writeFilter([a], typeOf) === writeFilter([b], typeOf)
}
