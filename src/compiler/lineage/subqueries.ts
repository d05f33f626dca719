// What subqueries in expressions depend on. Evaluated for a row with a value in a column, one that compares this column by
// `=` looks only at rows with the value: so these give the column its value, as those of a join do.

import { foldCase } from '../../core/names.ts'
import type { Trail } from '../../core/addresses.ts'
import { columnNames, isSubquery, type SyntaxNode } from '../../duckdb/syntax.ts'
import { areOne, compareAsOne, type Correlation, type ExactUses, loose } from './exact.ts'
import type { Inside, QueryPlace } from './query.ts'
import {
  type Columns,
  resolveIn,
  resolveName,
  type Scope,
  type ScopeColumn,
  type ScopeRelation,
} from './scope.ts'
import { equalitiesIn, trailsOf, withMore } from './trails.ts'

interface Finding {
  /** The scope of the FROM, with what the WHERE makes equal. */
  readonly find: () => Scope
  readonly columnsOfQuery: (node: SyntaxNode, place: QueryPlace) => Columns
}

/** The scope of a SELECT, whose columns are also given their values by what its subqueries read. */
export function withSubqueries(
  node: SyntaxNode,
  place: QueryPlace,
  uses: ExactUses,
  { find, columnsOfQuery }: Finding,
): Scope {
  const { found: scope, reads } = uses.during(find)
  const inside = { ...place, scope }
  uses.tell(correlationsOf(node['where_clause'], inside, reads))
  let all = scope
  for (const one of subqueriesIn(node)) {
    const look = () => uses.collect(() => columnsOfQuery(queryOf(one.node), inside))
    const { found, reads: ofSubquery } = uses.during(look)
    const isMember = one.isCondition && isEquality(one.node)
    const members = isMember ? memberOf(one.node, found.found?.[0], inside, ofSubquery) : []
    const told = [...found.told, ...members]
    const followed = new Set(told.flatMap(({ trails }) => trails.map(({ use }) => use)))
    if ([...ofSubquery].every((use) => followed.has(use))) uses.follow(one.node)
    // What is compared with a column further out is told to the query that has it.
    uses.tell(told.filter(({ owner }) => !scope.relations.includes(owner)))
    for (const correlation of told) all = withTrails(all, scope, correlation)
  }
  uses.enter(node, all)
  return all
}

const queryOf = (subquery: SyntaxNode) => (subquery['subquery'] as SyntaxNode)['node'] as SyntaxNode

const isEquality = (subquery: SyntaxNode) =>
  subquery['subquery_type'] === 'ANY' && subquery['comparison_type'] === 'COMPARE_EQUAL'

/** `before`: as the subqueries have seen it. */
function withTrails(scope: Scope, before: Scope, { owner, key, trails }: Correlation): Scope {
  const at = before.relations.indexOf(owner)
  const relations = scope.relations.map((one, i) =>
    i === at ? { ...one, columns: withMore(one.columns, key, trails.map(loose)) } : one,
  )
  return { ...scope, relations }
}

interface FoundSubquery {
  readonly node: SyntaxNode
  /** Only where it is true there is a row, so that NULL is as good as false. */
  readonly isCondition: boolean
}

/** Those of the SELECT itself, not those within others. */
function subqueriesIn(select: SyntaxNode): readonly FoundSubquery[] {
  const conditions = ['where_clause', 'having', 'qualify'].map((name) => select[name])
  const others = ['select_list', 'group_expressions'].map((name) => select[name])
  return [...conditions.flatMap((one) => subqueriesOf(one, true)), ...subqueriesOf(others, false)]
}

function subqueriesOf(value: unknown, isCondition: boolean): readonly FoundSubquery[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one) => subqueriesOf(one, isCondition))
  const node = value as SyntaxNode
  if (isSubquery(node)) return [{ node, isCondition }, ...subqueriesOf(node['child'], false)]
  const stays = isCondition && node['class'] === 'CONJUNCTION'
  return Object.values(node).flatMap((one) => subqueriesOf(one, stays))
}

/** Of a SELECT, which reads these: what it compares with columns further out. */
function correlationsOf(
  condition: unknown,
  place: Inside,
  reads: ReadonlySet<number>,
): readonly Correlation[] {
  return equalitiesIn(condition).flatMap(({ left, right }) =>
    compareAsOne(left, right, place)
      ? [
          ...correlated(columnAround(left, place.scope), trailsOf(right, place), reads),
          ...correlated(columnAround(right, place.scope), trailsOf(left, place), reads),
        ]
      : [],
  )
}

/** Of `column IN (SELECT …)`. */
function memberOf(
  { child }: SyntaxNode,
  given: ScopeColumn | undefined,
  place: Inside,
  reads: ReadonlySet<number>,
): readonly Correlation[] {
  const node = child as SyntaxNode
  const column = columnIn(node, place.scope) ?? columnAround(node, place.scope)
  if (given === undefined || column === null) return []
  const value = resolveName(columnNames(node)!, place.scope)
  return areOne(value, given) ? correlated(column, given.trails ?? [], reads) : []
}

function correlated(
  column: OwnedColumn | null,
  all: readonly Trail[],
  reads: ReadonlySet<number>,
): readonly Correlation[] {
  const trails = all.filter(({ use }) => reads.has(use))
  return column === null || trails.length === 0 ? [] : [{ ...column, trails }]
}

type OwnedColumn = Pick<Correlation, 'owner' | 'key'>

/** A column of a query around. null: it is none, or not known whether. */
function columnAround(node: SyntaxNode, scope: Scope): OwnedColumn | null {
  const keys = columnNames(node)?.map(foldCase)
  if (keys === undefined || resolveIn(keys, scope) !== null) return null
  for (let level = scope.outer; level !== null; level = level.outer)
    if (resolveIn(keys, level) !== null) return columnIn(node, level)
  return null
}

/** A column of the scope itself that is one of a table there, and no field of it. */
function columnIn(node: SyntaxNode, scope: Scope): OwnedColumn | null {
  const keys = columnNames(node)?.map(foldCase)
  if (keys === undefined) return null
  const found = resolveIn(keys, scope)
  const key = keys.at(-1)!
  if (found?.part !== keys.length - 1 || scope.merged.has(key)) return null
  const has = ({ columns }: ScopeRelation) => columns?.some((one) => one.key === key) === true
  const owner = found.table ?? scope.relations.find(has)
  return owner === undefined ? null : { owner, key }
}
