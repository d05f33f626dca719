// Nodes of a hierarchy, and their order, by recursion over the rows that are its nodes.
//
// Each step of a recursion joins the nodes that the one before has found with the rows. UNION takes each node once, so it
// ends where rows lead to each other in a circle. The rows of a table are read where they lie. Those that a token sees, or
// that a request has chosen, are found once, before all steps.

import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import {
  type ChosenNodes,
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
      return reachedSql(table, nodes, startOf(table, nodes.start), [])
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

/** How far the steps lead, and from where. */
type Steps = Pick<NodeSet & { readonly which: 'ancestor' }, 'distance' | 'withStart'> & {
  readonly which: 'ancestor' | 'descendant'
}

const startOf = ({ from, node }: NodeTable, start: Expression): Sql =>
  sql`SELECT ${node} AS node ${from} WHERE ${node} = ${valueSql(start)}`

/** One column: the nodes; and one for each group that these begin in. */
export function relativesOfSql(step: StepRelation & { readonly kind: 'relatives' }): Sql {
  const { start, nodes } = step
  const table = nodeTable(nodes)
  const groups = start.partition.map((_, i) => groupColumn(i))
  const keys = start.partition.map((key, i) => sql`, ${valueSql(key)} AS ${groups[i]!}`)
  const found = sql`SELECT ${valueSql(start.value)} AS node${sql.join(keys, sql.empty)} FROM ${relationSql(start.rows)} AS ${sql.ident(start.row.alias)}`
  const starts = start.areNodes
    ? found
    : sql`SELECT * FROM (${found}) WHERE node IN (SELECT ${table.node} ${table.from})`
  return reachedSql(table, step, starts, groups)
}

/** No property has a space in its name. */
export const groupColumn = (i: number): Sql => sql.ident(`group ${i}`)

/** `starts`: the nodes that the steps begin at, with what they are grouped by, which the steps carry along. */
function reachedSql(
  { from, node, parent, tables, alias }: NodeTable,
  { which, distance, withStart }: Steps,
  starts: Sql,
  groups: readonly Sql[],
): Sql {
  const [reached, begun] = [sql.ident(`${alias} reached`), sql.ident(`${alias} begun`)]
  const isDown = which === 'descendant'
  const carried = (of: Sql) =>
    sql.join(
      groups.map((group) => sql`, ${of}.${group}`),
      sql.empty,
    )
  // What the next step begins at: on the way down the node itself.
  const link = isDown ? sql.empty : sql`, ${parent} AS link`
  const columns = (of: Sql) => sql`${node} AS node${link}${carried(of)}`
  const steps =
    distance === null ? sql.empty : sql`, ${sql.value(withStart ? 0 : 1, BIGINT)} AS steps`
  const next = distance === null ? sql.empty : sql`, ${reached}.steps + 1`
  const end =
    distance === null ? sql.empty : sql` WHERE ${reached}.steps < ${sql.value(distance, BIGINT)}`
  const joined = isDown
    ? sql`JOIN ${reached} ON ${parent} = ${reached}.node`
    : sql`JOIN ${reached} ON ${node} = ${reached}.link`
  const above = sql`SELECT DISTINCT ${parent} AS node${carried(begun)} ${from} JOIN ${begun} ON ${node} = ${begun}.node`
  const first = withStart
    ? isDown
      ? sql`SELECT DISTINCT node${carried(begun)}${steps} FROM ${begun}`
      : sql`SELECT DISTINCT ${columns(begun)}${steps} ${from} JOIN ${begun} ON ${node} = ${begun}.node`
    : isDown
      ? sql`SELECT DISTINCT ${columns(begun)}${steps} ${from} JOIN ${begun} ON ${parent} = ${begun}.node`
      : sql`SELECT DISTINCT ${columns(PARENTS)}${steps} ${from} JOIN (${above}) AS ${PARENTS} ON ${node} = ${PARENTS}.node`
  const step = sql`SELECT ${columns(reached)}${next} ${from} ${joined}`
  return withTables(
    [
      ...tables,
      sql`${begun} AS MATERIALIZED (${starts})`,
      sql`${reached} AS (${first} UNION ${step}${end})`,
    ],
    sql`SELECT node${carried(reached)} FROM ${reached}`,
  )
}

const PARENTS = sql.ident('parents')

/** Digits of the place of a node among those with the same parent. */
const DIGITS = 8

type Traversal = StepRelation & { readonly kind: 'traverse' }

/**
 * Two columns: each node that the tree begins at or leads to, and the text that it is sorted by: the places of all nodes on
 * the way to it. After all digits comes a letter, by which it follows the nodes below it. Where the tree begins at nodes that
 * are chosen, a third: the nodes above it, from its parent on.
 */
export function treeOrderSql(step: Traversal): Sql {
  const { nodes, order, isPreorder, chosen } = step
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
  const walk =
    chosen === null
      ? sql`SELECT node, place AS path FROM ${placed} WHERE parent IS NULL
      UNION ALL SELECT ${placed}.node, ${path} FROM ${walked} JOIN ${placed} ON ${placed}.parent = ${walked}.node`
      : walkFromChosenSql(chosen, { placed, walked, path })
  const up = chosen === null ? sql.empty : sql`, up`
  return sql`WITH RECURSIVE ${placed} AS MATERIALIZED (SELECT ${own} AS node, ${FOUND} AS parent, printf('%08x', ${place}) AS place
      FROM (SELECT ${name}.*, ${found} AS ${FOUND} ${from}) AS ${name}),
    ${walked} AS (${walk})
    SELECT node, ${key} AS place${up} FROM ${walked}`
}

/** A way ends before a node that it has met: a circle has no root, and may have a node that is chosen. */
function walkFromChosenSql(
  { rows, row, node, order }: ChosenNodes,
  { placed, walked, path }: Readonly<Record<'placed' | 'walked' | 'path', Sql>>,
): Sql {
  const start = columnSql(row.alias, node)
  const met = sql`CAST(${walked}.node AS VARCHAR)`
  const up = sql`list_prepend(${met}, ${walked}.up)`
  return sql`SELECT ${start} AS node, printf('%08x', row_number() OVER (${orderSql(order)})) AS path,
        CAST([] AS VARCHAR[]) AS up
      FROM ${relationSql(rows)} AS ${sql.ident(row.alias)}
    UNION ALL SELECT ${placed}.node, ${path}, ${up} FROM ${walked} JOIN ${placed} ON ${placed}.parent = ${walked}.node
      WHERE NOT list_contains(${up}, CAST(${placed}.node AS VARCHAR))`
}

type NodesInTrees = Pick<StepRelation & { readonly kind: 'above' }, 'nodes' | 'chosen'>

/** The nodes that a root leads to, and of these the chosen ones, each once, in one column. */
export function nodesInTreesSql({ nodes, chosen }: NodesInTrees): Sql {
  const { tables, walked } = treesOf(nodes)
  return withTables(tables, sql`SELECT DISTINCT node FROM ${walked}${amongSql(sql`node`, chosen)}`)
}

/**
 * Two columns: each node with itself, and with each that is above it; these are the nodes in trees. Each is walked to once,
 * with the list of those on its way: to carry each pair from level to level takes twice the time.
 */
export function nodesAboveSql({ nodes, chosen }: NodesInTrees): Sql {
  const { all, parents } = parentsOf(nodes)
  const walked = sql.ident(`${nodes.row.alias} walked`)
  const way = atMostLevels(sql`len(${walked}.way)`, sql`list_append(${walked}.way, ${all}.node)`)
  const walk = sql`${walked} AS (SELECT node, [node] AS way FROM ${all} WHERE parent IS NULL
    UNION ALL SELECT ${all}.node, ${way} FROM ${walked} JOIN ${all} ON ${all}.parent = ${walked}.node)`
  const pairs = sql`SELECT node, unnest(way) AS above FROM ${walked}`
  const found =
    chosen === null ? pairs : sql`SELECT node, above FROM (${pairs})${amongSql(sql`above`, chosen)}`
  return withTables([parents, walk], found)
}

function amongSql(node: Sql, chosen: ChosenNodes | null): Sql {
  if (chosen === null) return sql.empty
  const { rows, row } = chosen
  return sql` WHERE ${node} IN (SELECT ${columnSql(row.alias, chosen.node)} FROM ${relationSql(rows)} AS ${sql.ident(row.alias)})`
}

function treesOf(nodes: NodeRows) {
  const { all, parents } = parentsOf(nodes)
  const walked = sql.ident(`${nodes.row.alias} walked`)
  const level = atMostLevels(sql`${walked}.level`, sql`${walked}.level + 1`)
  const walk = sql`${walked} AS (SELECT node, ${sql.value(1, BIGINT)} AS level FROM ${all} WHERE parent IS NULL
    UNION SELECT ${all}.node, ${level} FROM ${walked} JOIN ${all} ON ${all}.parent = ${walked}.node)`
  return { tables: [parents, walk], walked }
}

/** `next`, as long as there are not too many levels already. */
const atMostLevels = (levels: Sql, next: Sql): Sql =>
  sql`CASE WHEN ${levels} >= ${sql.value(limits.treeLevels, BIGINT)} THEN error(${sql.value(ROLLUP_TOO_DEEP)}) ELSE ${next} END`

/** A table of all nodes with what is above them. */
function parentsOf({ rows, row, node, parent }: NodeRows) {
  const { alias } = row
  const [own, above] = [columnSql(alias, node), columnSql(alias, parent)]
  const from = sql`FROM ${relationSql(rows)} AS ${sql.ident(alias)}`
  const found = foundParent({ tables: [], from, node: own, parent: above, alias })
  const all = sql.ident(`${alias} parents`)
  const parents = sql`${all} AS MATERIALIZED (SELECT ${own} AS node, ${found} AS parent ${from} WHERE ${own} IS NOT NULL)`
  return { all, parents }
}

/** No property has a space in its name. */
const FOUND = sql.ident('found parent')
