// A relation, or the rows of a set, as a FROM item.

import { byKind } from '../../core/by-kind.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type {
  AggregateColumn,
  Expression,
  ColumnValue,
  OrderItem,
  Relation,
  StepRelation,
} from '../bind/bound.ts'
import { totalSql } from './aggregate.ts'
import { BIGINT } from './engine-types.ts'
import { conditionSql, orderItemSql, valueSql } from './expression.ts'
import {
  groupColumn,
  nodesAboveSql,
  nodesInTreesSql,
  relativesOfSql,
  treeOrderSql,
} from './hierarchy.ts'
import { tableSql } from './visible-rows.ts'

/** A table or a subquery, without an alias. */
export function relationSql(relation: Relation): Sql {
  switch (relation.kind) {
    case 'set':
      return tableSql(relation.set)
    case 'cross':
      return sql`(SELECT ${sql.join(relation.columns.map(columnSql))} FROM ${sql.join(
        relation.parts.map(
          ({ alias, set }) => sql`${relationSql({ kind: 'set', set })} AS ${sql.ident(alias)}`,
        ),
      )})`
    case 'union':
      return sql`(${sql.join(
        relation.parts.map((part) => sql`SELECT * FROM ${relationSql(part)}`),
        sql` UNION ALL `,
      )})`
    case 'nodes':
      return sql`(SELECT node AS ${sql.ident(relation.column)} FROM (${nodesInTreesSql(relation)}))`
    default:
      return sql`(${stepSql(relation, fromSql(relation))})`
  }
}

const fromSql = ({ from, row }: StepRelation) =>
  sql`FROM ${relationSql(from)} AS ${sql.ident(row.alias)}`

const stepSql = byKind<StepRelation, Sql, [from: Sql]>({
  filter: ({ condition }, from) => sql`SELECT * ${from} WHERE ${conditionSql(condition)}`,
  project: ({ columns }, from) => sql`SELECT ${sql.join(columns.map(columnSql))} ${from}`,
  group: groupSql,
  window: windowSql,
  running: runningSql,
  join: joinSql,
  traverse: traverseSql,
  above: aboveSql,
  relatives: relativesSql,
})

function joinSql(
  { columns, other, otherRow, on, isOuter }: StepRelation & { readonly kind: 'join' },
  from: Sql,
): Sql {
  const how = on.length === 0 ? sql`CROSS JOIN` : isOuter ? sql`LEFT JOIN` : sql`JOIN`
  const condition = on.length === 0 ? sql.empty : sql` ON ${sql.all(on.map(valueSql))}`
  return sql`SELECT ${sql.join(columns.map(columnSql))} ${from} ${how} ${relationSql(other)} AS ${sql.ident(otherRow.alias)}${condition}`
}

function traverseSql(step: StepRelation & { readonly kind: 'traverse' }, from: Sql): Sql {
  const tree = sql.ident('tree')
  const up = step.up === null ? [] : [sql`${tree}.up AS ${sql.ident(step.up)}`]
  const place = sql`${tree}.place AS ${sql.ident(step.place)}`
  const columns = [...step.columns.map(columnSql), place, ...up]
  return sql`SELECT ${sql.join(columns)} ${from}
    JOIN (${treeOrderSql(step)}) AS ${tree} ON ${tree}.node = ${valueSql(step.value)}`
}

function aboveSql(step: StepRelation & { readonly kind: 'above' }, from: Sql): Sql {
  const { columns, place, value } = step
  const tree = sql.ident('tree')
  const selected = [...columns.map(columnSql), sql`${tree}.above AS ${sql.ident(place)}`]
  return sql`SELECT ${sql.join(selected)} ${from}
    JOIN (${nodesAboveSql(step)}) AS ${tree} ON ${tree}.node = ${valueSql(value)}`
}

/** Each step carries what the start nodes are grouped by along. */
function relativesSql(step: StepRelation & { readonly kind: 'relatives' }, from: Sql): Sql {
  const tree = sql.ident('tree')
  const groups = step.partition.map(
    (key, i) => sql`${tree}.${groupColumn(i)} IS NOT DISTINCT FROM ${valueSql(key)}`,
  )
  const on = sql.all([sql`${tree}.node = ${valueSql(step.value)}`, ...groups])
  return sql`SELECT * ${from} SEMI JOIN (${relativesOfSql(step)}) AS ${tree} ON ${on}`
}

const columnSql = ({ column, value }: ColumnValue) =>
  sql`${valueSql(value)} AS ${sql.ident(column)}`

const aggregateSql = (total: AggregateColumn) =>
  sql`${totalSql(total, total.value === null ? sql.empty : valueSql(total.value))} AS ${sql.ident(total.column)}`

function groupSql({ keys, aggregates }: StepRelation & { readonly kind: 'group' }, from: Sql): Sql {
  const columns = [...keys.map(columnSql), ...aggregates.map(aggregateSql)]
  const selected = sql`SELECT ${sql.join(columns)} ${from}`
  if (keys.length === 0) return selected
  return sql`${selected} GROUP BY ${sql.join(keys.map(({ value }) => valueSql(value)))}`
}

const PLACE = sql.ident('place')

function windowSql(
  { partition, order, skip, top }: StepRelation & { readonly kind: 'window' },
  from: Sql,
): Sql {
  if (partition.length === 0) {
    const limit = top === null ? sql.empty : sql` LIMIT ${sql.value(top, BIGINT)}`
    return sql`SELECT * ${from}${orderSql(order)}${limit} OFFSET ${sql.value(skip, BIGINT)}`
  }
  const last = Math.min(Number.MAX_SAFE_INTEGER, top === null ? Infinity : skip + top)
  return sql`SELECT * ${from} QUALIFY row_number() OVER (${partitionSql(partition)}${orderSql(order)}) BETWEEN ${sql.value(skip + 1, BIGINT)} AND ${sql.value(last, BIGINT)}`
}

/**
 * A sum can fall again after the row that reached the limit, so a row is kept when no row before it, nor the empty
 * beginning, has reached it.
 */
function runningSql(step: StepRelation & { readonly kind: 'running' }, from: Sql): Sql {
  const { partition, order, isPercent } = step
  const value = sql`coalesce(${valueSql(step.value)}, 0)`
  const within = partitionSql(partition)
  const before = sql`coalesce(sum(${value}) OVER (${within}${orderSql(order)} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`
  const limit = valueSql(step.limit)
  const total = sql`CAST(sum(${value}) OVER (${within}) AS DOUBLE)`
  const part = sql`100 * CAST(${before} AS DOUBLE)`
  const reached = isPercent
    ? sql`CASE WHEN ${total} > 0 THEN ${part} >= ${limit} * ${total} ELSE ${part} <= ${limit} * ${total} AND ${total} < 0 END`
    : sql`CASE WHEN ${limit} < 0 THEN ${before} <= ${limit} ELSE ${before} >= ${limit} END`
  const groups = partition.map((_, i) => sql.ident(`p${i}`))
  const marks = partition.map((key, i) => sql`${valueSql(key)} AS ${groups[i]!}, `)
  const place = sql`row_number() OVER (${within}${orderSql(order)}) AS ${PLACE}`
  const marked = sql`SELECT *, ${sql.join(marks, sql.empty)}${place}, ${reached} AS ${REACHED} ${from}`
  const inner = groups.length === 0 ? sql.empty : sql`PARTITION BY ${sql.join(groups)}`
  return sql`SELECT * EXCLUDE (${sql.join([...groups, PLACE, REACHED])}) FROM (${marked}) QUALIFY NOT bool_or(${REACHED}) OVER (${inner} ORDER BY ${PLACE} ROWS UNBOUNDED PRECEDING)`
}

const REACHED = sql.ident('reached')

const partitionSql = (partition: readonly Expression[]) =>
  partition.length === 0 ? sql.empty : sql`PARTITION BY ${sql.join(partition.map(valueSql))}`

export function orderSql(order: readonly OrderItem[]): Sql {
  if (order.length === 0) return sql.empty
  const items = order.map(({ value, descending }) => orderItemSql(value, descending))
  return sql` ORDER BY ${sql.join(items)}`
}
