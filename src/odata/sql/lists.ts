// The SQL of functions of collections. Items are compared as `eq` does: null is equal to null.

import { type Sql, sql } from '../../core/sql.ts'
import type { CallName } from '../bind/expression/functions.ts'

type PrintList = (a: Sql, b: Sql, c: Sql) => Sql

const isSame = (a: Sql, b: Sql) => sql`${a} IS NOT DISTINCT FROM ${b}`

const indexOf = (a: Sql, b: Sql) =>
  sql`CAST(coalesce(list_min(list_filter(range(0, len(${a}) - len(${b}) + 1),
    lambda i: ${isSame(sql`(${a})[i + 1:i + len(${b})]`, b)})), -1) AS INTEGER)`

const occurrences = (list: Sql) =>
  sql`len(list_filter(${list}, lambda y: y IS NOT DISTINCT FROM x))`

/** Counted from zero; a negative start counts from the end, as in a text. */
const first = (list: Sql, start: Sql) =>
  sql`CASE WHEN ${start} < 0 THEN greatest(len(${list}) + ${start}, 0) ELSE ${start} END`

export const listSql = {
  listConcat: (a, b) => sql`list_concat(${a}, ${b})`,
  listContains: (a, b) => sql`(${indexOf(a, b)} >= 0)`,
  listStartswith: (a, b) => sql`(${isSame(sql`(${a})[:len(${b})]`, b)})`,
  listEndswith: (a, b) =>
    sql`(len(${b}) <= len(${a}) AND ${isSame(sql`(${a})[len(${a}) - len(${b}) + 1:]`, b)})`,
  listIndexof: indexOf,
  /** Each item is at least as often in the first as in the second. */
  hassubset: (a, b) =>
    sql`(len(list_filter(${b}, lambda x: ${occurrences(b)} > ${occurrences(a)})) = 0)`,
  /** Walks along the first, and along the second as far as its items have been met. */
  hassubsequence: (a, b) =>
    sql`(list_reduce(range(1, len(${a}) + 1), lambda met, i: met +
        CASE WHEN met < len(${b}) AND ${isSame(sql`(${b})[met + 1]`, sql`(${a})[i]`)} THEN 1 ELSE 0 END, 0)
        = len(${b}))`,
  listLength: (list) => sql`CAST(len(${list}) AS INTEGER)`,
  listSliceFrom: (list, start) => sql`list_slice(${list}, ${first(list, start)} + 1, len(${list}))`,
  listSlice: (list, start, count) => {
    const from = first(list, start)
    return sql`list_slice(${list}, ${from} + 1, ${from} + greatest(${count}, 0))`
  },
  hasLength: (list, length) => sql`(len(${list}) = ${length})`,
  hasItem: (list, place) => sql`(len(${list}) >= ${place})`,
  itemAt: (list, place) => sql`list_extract(${list}, ${place})`,
} satisfies Partial<Record<CallName, PrintList>>
