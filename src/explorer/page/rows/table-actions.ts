// What one can do with a table by its header and its cells. All of it is a change of the address.

import { moveColumn, readOrder, toggleOrder, writeOrder, writeSelect } from '../address/order.ts'
import { readFilter, writeFilter, type Condition, type TypeOfColumn } from '../address/filter.ts'
import { withOptions, type Options } from '../address/options.ts'
import type { Value } from '../model/value.ts'
import { textOf } from '../model/value.ts'

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

export function show(
  options: Options,
  columns: readonly string[],
  all: readonly string[],
): Options {
  const pinned = Math.min(pinnedCount(options), Math.max(0, columns.length - 1))
  const select = writeSelect(columns, all)
  return withOptions(options, { $select: select, pin: pinned === 0 ? undefined : String(pinned) })
}

export function hide(
  options: Options,
  shown: readonly string[],
  all: readonly string[],
  column: string,
): Options {
  const at = shown.indexOf(column)
  const pinned = pinnedCount(options) - (at < pinnedCount(options) ? 1 : 0)
  const rest = shown.filter((name) => name !== column)
  return withOptions(show(options, rest, all), { pin: pinned > 0 ? String(pinned) : undefined })
}

/** One place to the left or to the right. */
export function move(
  options: Options,
  shown: readonly string[],
  all: readonly string[],
  column: string,
  by: -1 | 1,
): Options {
  const target = shown[shown.indexOf(column) + by]
  return target === undefined ? options : show(options, moveColumn(shown, column, target), all)
}

export function pinnedCount(options: Options): number {
  const count = Number(options.get('pin') ?? 0)
  return Number.isInteger(count) && count > 0 ? count : 0
}

/** Pinned columns are the first ones of `$select`; the others follow in their order. */
export function togglePin(
  options: Options,
  shown: readonly string[],
  all: readonly string[],
  column: string,
): Options {
  const count = pinnedCount(options)
  const at = shown.indexOf(column)
  const isPinned = at < count
  const pinned = shown.slice(0, count).filter((name) => name !== column)
  const others = shown.slice(count).filter((name) => name !== column)
  const next = isPinned ? count - 1 : count + 1
  return withOptions(show(options, [...pinned, column, ...others], all), {
    pin: next === 0 ? undefined : String(next),
  })
}

export function filterBy(options: Options, typeOf: TypeOfColumn, condition: Condition): Options {
  const conditions = readFilter(options.get('$filter') ?? '', typeOf)
  return setFilter(options, typeOf, [...conditions, condition])
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

/** The longest value in an address, which the service and browsers take up to a length. */
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
