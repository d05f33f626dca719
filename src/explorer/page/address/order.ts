// `$orderby` and `$select` as the header of the table knows them.

import { splitTopLevel } from './literal.ts'

interface Order {
  /** A property, or any expression that the address brought along. */
  readonly by: string
  readonly descending: boolean
}

export function readOrder(orderby: string | undefined): readonly Order[] {
  if (orderby === undefined) return []
  return splitTopLevel(orderby, ',')
    .filter((item) => item !== '')
    .map((item) => {
      const match = /^(.*?)\s+(asc|desc)$/is.exec(item)
      if (match === null) return { by: item, descending: false }
      return { by: match[1]!, descending: match[2]!.toLowerCase() === 'desc' }
    })
}

export function writeOrder(orders: readonly Order[]): string | undefined {
  if (orders.length === 0) return undefined
  return orders.map(({ by, descending }) => (descending ? `${by} desc` : by)).join(',')
}

/**
 * What a click on a header makes of the order: ascending, descending, none. With `keepOthers` the column comes after those
 * that are sorted by already, and keeps its place among them.
 */
export function toggleOrder(
  orders: readonly Order[],
  by: string,
  keepOthers: boolean,
): readonly Order[] {
  const current = orders.find((order) => order.by === by)
  const next = current === undefined ? { by, descending: false } : { by, descending: true }
  const isLast = current?.descending === true
  if (!keepOthers) return isLast ? [] : [next]
  if (current === undefined) return [...orders, next]
  return orders.flatMap((order) => (order.by === by ? (isLast ? [] : [next]) : [order]))
}

/** Undefined for all columns, which is also what `*` asks for. */
export function readSelect(select: string | undefined): readonly string[] | undefined {
  if (select === undefined) return undefined
  const names = splitTopLevel(select, ',').filter((name) => name !== '')
  return names.length === 0 || names.includes('*') ? undefined : names
}

/** No option where it would name all columns in their own order. */
export function writeSelect(
  columns: readonly string[],
  all: readonly string[],
): string | undefined {
  const isAll = columns.length === all.length && columns.every((name, i) => name === all[i])
  return isAll || columns.length === 0 ? undefined : columns.join(',')
}

/** `column` goes to the place that `target` has now. */
export function moveColumn(
  columns: readonly string[],
  column: string,
  target: string,
): readonly string[] {
  const to = columns.indexOf(target)
  const from = columns.indexOf(column)
  if (to === -1 || from === -1 || to === from) return columns
  const others = columns.filter((name) => name !== column)
  return [...others.slice(0, to), column, ...others.slice(to)]
}
