// Nodes of a hierarchy, and their order, by recursion over the rows that are its nodes.
//
// Each step of a recursion joins the nodes that the one before has found with the rows. UNION takes each node once, so it
// ends where rows lead to each other in a circle. The rows of a table are read where they lie. Those that a token sees, or
// that a request has chosen, are found once, before all steps.

import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import {
  type Expression,
  type NodeRows,
  type NodeSet,
  propertyOf,
  type StepRelation,
} from '../bind/bound.ts'
import { BIGINT } from './engine-types.ts'
import { columnSql, valueSql } from './expression.ts'
import { ROLLUP_TOO_DEEP, TREE_TOO_DEEP } from './raised.ts'
import { orderSql, relationSql } from './relation.ts'

/** The rows as SQL. */
interface NodeTable {
  /** Tables that must be named before. */
  readonly tables: readonly Sql[]
  readonly from: Sql
  readonly node: Sql
  readonly parent: Sql
  /** Begins the names of tables: no other rows of the statement have it. */
  readonly alias: string
}

/** A statement with one column: those nodes, some of them perhaps several times. */
export function nodesSql(nodes: NodeSet): Sql {
  const table = nodeTable(nodes.of)
  const { from, node, parent } = table
  switch (nodes.which) {
    case 'node':
      return withTables(table.tables, sql`SELECT ${node} ${from}`)
    case 'root':
      return withTables(
        table.tables,
        sql`SELECT ${node} ${from} WHERE ${parent} IS NULL OR ${parent} NOT IN (SELECT ${node} ${from})`,
      )
    case 'leaf':
      return withTables(
        table.tables,
        sql`SELECT ${node} ${from} WHERE ${node} NOT IN (SELECT ${parent} ${from} WHERE ${parent} IS NOT NULL)`,
      )
    case 'sibling':
      return siblingsSql(table, nodes.start)
    case 'ancestor':
    case 'descendant':
      return reachedSql(table, nodes)
  }
}

function nodeTable({ rows, row, node, parent }: NodeRows): NodeTable {
  const { alias } = row
  const from = sql`FROM ${relationSql(rows)} AS ${sql.ident(alias)}`
  const [own, above] = [columnSql(alias, node), columnSql(alias, parent)]
  if (rows.kind === 'set' && rows.set.only.length === 0)
    return { tables: [], from, node: own, parent: above, alias }
  const name = sql.ident(`${alias} nodes`)
  return {
    tables: [sql`${name} AS MATERIALIZED (SELECT ${own} AS node, ${above} AS parent ${from})`],
    from: sql`FROM ${name} AS ${sql.ident(alias)}`,
    node: sql.ident(alias, 'node'),
    parent: sql.ident(alias, 'parent'),
    alias,
  }
}

const withTables = (tables: readonly Sql[], statement: Sql): Sql =>
  tables.length === 0 ? statement : sql`WITH RECURSIVE ${sql.join(tables)} ${statement}`

/** A parent of which there is no row is none. */
const foundParent = ({ from, node, parent }: NodeTable): Sql =>
  sql`CASE WHEN ${parent} IN (SELECT ${node} ${from}) THEN ${parent} END`

function siblingsSql(table: NodeTable, start: Expression): Sql {
  const all = sql.ident(`${table.alias} parents`)
  const parents = sql`${all} AS MATERIALIZED (SELECT ${table.node} AS node, ${foundParent(table)} AS parent ${table.from})`
  const theirs = sql`(SELECT parent FROM ${all} WHERE node = ${valueSql(start)})`
  return withTables(
    [...table.tables, parents],
    sql`SELECT node FROM ${all} WHERE node <> ${valueSql(start)} AND parent IS NOT DISTINCT FROM ${theirs}
      AND ${valueSql(start)} IN (SELECT node FROM ${all})`,
  )
}

type Reached = NodeSet & { readonly which: 'ancestor' | 'descendant' }

function reachedSql(table: NodeTable, nodes: Reached): Sql {
  const { from, node, parent } = table
  const { which, distance, withStart } = nodes
  const reached = sql.ident(`${table.alias} reached`)
  const isDown = which === 'descendant'
  // What the next step begins at: on the way down the node itself.
  const columns = isDown ? sql`${node} AS node` : sql`${node} AS node, ${parent} AS link`
  const joined = isDown
    ? sql`JOIN ${reached} ON ${parent} = ${reached}.node`
    : sql`JOIN ${reached} ON ${node} = ${reached}.link`
  const starts = startSql(table, nodes)
  const isFirst = withStart
    ? sql`${node} IN (${starts})`
    : isDown
      ? sql`${parent} IN (${starts})`
      : sql`${node} IN (SELECT ${parent} ${from} WHERE ${node} IN (${starts}))`
  const first =
    isDown && withStart && distance === null
      ? starts
      : sql`SELECT ${columns}${stepsFrom(withStart ? 0 : 1, distance)} ${from} WHERE ${isFirst}`
  const step = sql`SELECT ${columns}${distance === null ? sql.empty : sql`, ${reached}.steps + 1`} ${from} ${joined}`
  const end =
    distance === null ? sql.empty : sql` WHERE ${reached}.steps < ${sql.value(distance, BIGINT)}`
  const name = isDown && distance === null ? sql`${reached}(node)` : reached
  const found = sql`${name} AS (${first} UNION ${step}${end})`
  return withTables([...table.tables, found], sql`SELECT node FROM ${reached}`)
}

const stepsFrom = (first: number, distance: number | null): Sql =>
  distance === null ? sql.empty : sql`, ${sql.value(first, BIGINT)} AS steps`

/** Those of the nodes that the steps begin at. */
function startSql({ from, node }: NodeTable, { start }: Reached): Sql {
  if (start.kind !== 'ofRows') return sql`SELECT ${node} ${from} WHERE ${node} = ${valueSql(start)}`
  const values = sql`SELECT ${valueSql(start.value)} FROM ${relationSql(start.rows)} AS ${sql.ident(start.row.alias)}`
  return start.areNodes ? values : sql`SELECT ${node} ${from} WHERE ${node} IN (${values})`
}

/** Digits of the place of a node among those with the same parent. */
const DIGITS = 8

/**
 * Two columns: each node that a root leads to, and the text that it is sorted by: the places of all nodes on the way to it.
 * After all digits comes a letter, by which it follows the nodes below it.
 */
export function treeOrderSql({
  nodes,
  order,
  isPreorder,
}: Pick<StepRelation & { readonly kind: 'traverse' }, 'nodes' | 'order' | 'isPreorder'>): Sql {
  const { rows, row, node, parent } = nodes
  const { alias } = row
  const [own, above] = [columnSql(alias, node), columnSql(alias, parent)]
  const name = sql.ident(alias)
  const from = sql`FROM ${relationSql(rows)} AS ${name}`
  const found = foundParent({ tables: [], from, node: own, parent: above, alias })
  const [placed, walked] = [sql.ident(`${alias} placed`), sql.ident(`${alias} walked`)]
  const tie = { value: propertyOf(row, node), descending: false }
  const place = sql`row_number() OVER (PARTITION BY ${FOUND}${orderSql([...order, tie])})`
  const tooDeep = sql`strlen(${walked}.path) >= ${sql.value(limits.treeLevels * DIGITS, BIGINT)}`
  const path = sql`CASE WHEN ${tooDeep} THEN error(${sql.value(TREE_TOO_DEEP)}) ELSE ${walked}.path || ${placed}.place END`
  const key = isPreorder ? sql`path` : sql`path || 'g'`
  return sql`WITH RECURSIVE ${placed} AS MATERIALIZED (SELECT ${own} AS node, ${FOUND} AS parent, printf('%08x', ${place}) AS place
      FROM (SELECT ${name}.*, ${found} AS ${FOUND} ${from}) AS ${name}),
    ${walked} AS (SELECT node, place AS path FROM ${placed} WHERE parent IS NULL
      UNION ALL SELECT ${placed}.node, ${path} FROM ${walked} JOIN ${placed} ON ${placed}.parent = ${walked}.node)
    SELECT node, ${key} AS place FROM ${walked}`
}

/** Each node that a root leads to, in one column. */
export function nodesInTreesSql(nodes: NodeRows): Sql {
  const { tables, walked } = treesOf(nodes)
  return withTables(tables, sql`SELECT DISTINCT node FROM ${walked}`)
}

/** Two columns: each of these nodes with itself, and with each that is above it. */
export function nodesAboveSql(nodes: NodeRows): Sql {
  const { tables, walked, all } = treesOf(nodes)
  const pairs = sql.ident(`${nodes.row.alias} pairs`)
  const found = sql`${pairs}(node, above) AS (SELECT node, node FROM ${walked}
    UNION SELECT ${all}.node, ${pairs}.above FROM ${pairs} JOIN ${all} ON ${all}.parent = ${pairs}.node)`
  return withTables([...tables, found], sql`SELECT node, above FROM ${pairs}`)
}

function treesOf({ rows, row, node, parent }: NodeRows) {
  const { alias } = row
  const [own, above] = [columnSql(alias, node), columnSql(alias, parent)]
  const from = sql`FROM ${relationSql(rows)} AS ${sql.ident(alias)}`
  const found = foundParent({ tables: [], from, node: own, parent: above, alias })
  const [all, walked] = [sql.ident(`${alias} parents`), sql.ident(`${alias} walked`)]
  const tooDeep = sql`${walked}.level >= ${sql.value(limits.treeLevels, BIGINT)}`
  const level = sql`CASE WHEN ${tooDeep} THEN error(${sql.value(ROLLUP_TOO_DEEP)}) ELSE ${walked}.level + 1 END`
  const tables = [
    sql`${all} AS MATERIALIZED (SELECT ${own} AS node, ${found} AS parent ${from} WHERE ${own} IS NOT NULL)`,
    sql`${walked} AS (SELECT node, ${sql.value(1, BIGINT)} AS level FROM ${all} WHERE parent IS NULL
      UNION SELECT ${all}.node, ${level} FROM ${walked} JOIN ${all} ON ${all}.parent = ${walked}.node)`,
  ]
  return { tables, walked, all }
}

/** No property has a space in its name. */
const FOUND = sql.ident('found parent')
