// Which columns of models and sources each column of a query is computed from, found in DuckDB's syntax tree with the
// scopes of its names.
//
// A column depends on another when its values are computed from it: in the SELECT list, in a scalar subquery, in
// the list of a window. Columns that only decide which rows there are (WHERE, JOIN … ON, GROUP BY, HAVING, LIMIT) do not
// count, and count(*) depends on none. What this file does not understand is unknown (`null`), and so is everything
// computed from it.

import type { CompiledExternal } from '../../core/sources.ts'
import { kinds } from '../../core/kinds.ts'
import type { ColumnOrigin, Lineage, Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import {
  columnNames,
  ctesOf,
  isColumn,
  isSubquery,
  nodesIn,
  type SyntaxNode,
} from '../../duckdb/syntax.ts'
import { unnestNames } from '../sql/engine-functions.ts'
import {
  byName,
  type Columns,
  computed,
  emptyScope,
  inPairs,
  nodeOf,
  none,
  ownColumns,
  type Origins,
  renamed,
  resolveName,
  type Scope,
  type ScopeColumn,
  scopeColumn,
  textOf,
  union,
  type ScopeValue,
} from './scope.ts'
import { scopeOfFrom } from './tables.ts'
import { afterCut, exactNames, exactPairs, exactSelect } from './exact.ts'
import { givenBy, withGivers } from './given.ts'
import { withSubqueries } from './subqueries.ts'
import { trailsOf, withEqualities, type Uses } from './trails.ts'

/** Is called for each table and each column that a query names, also where it only decides which rows there are. */
interface NameObserver {
  readonly table: (node: SyntaxNode, name: string) => void
  /** `isItem`: it is an item of a SELECT list, whose name it gives. */
  readonly column: (node: SyntaxNode, value: ScopeValue, isItem: boolean) => void
  /** Two columns are compared by `=`, USING or IN. */
  readonly equality?: (left: ScopeValue, right: ScopeValue) => void
}

export interface LineageContext {
  readonly findModel: (name: string) => ModelName | null
  /** The lineage of models that come before. */
  readonly columnsOf: (model: ModelName) => Columns
  /** The table of a source that a written name means; null: there is none. */
  readonly columnsOfSource: (name: string) => Columns
  /** Whether a call reads a table that its arguments name. */
  readonly readsTables: (call: string) => boolean
  readonly observer?: NameObserver
  /** Where trails are asked for. */
  readonly uses?: Uses
  /** Where expressions are asked for. */
  readonly findsExpressions?: true
}

export interface LineageSources {
  /** In an order in which each comes after all that it reads. */
  readonly models: ReadonlyMap<ModelName, Model>
  /** The syntax trees of models with a query; null where DuckDB does not show it. */
  readonly trees: ReadonlyMap<ModelName, SyntaxNode | null>
  /** The lineage of models that were not compiled now. */
  readonly known?: ReadonlyMap<ModelName, Lineage>
  readonly external: readonly CompiledExternal[]
  readonly findModel: (name: string) => ModelName | null
  readonly readsTables: (call: string) => boolean
}

/** The lineage of all models. Columns of events models and seeds, and those that a run adds, have none. */
export function lineageOfAll(sources: LineageSources): ReadonlyMap<ModelName, Lineage> {
  const { models, trees, known } = sources
  const context = contextOf(sources)
  return new Map(
    Array.from(models.values(), ({ name, kind, columns }) => {
      const before = known?.get(name)
      if (before !== undefined) return [name, before]
      const tree = trees.get(name)
      if (tree === undefined) return [name, columns.map(() => [])]
      if (tree === null) return [name, columns.map(() => null)]
      const added = kinds[kind].addedColumns
      const own = columns.slice(0, columns.length - added.length)
      const lineage = lineageOf(tree, own, context)
      return [name, [...lineage, ...added.map(() => [])]]
    }),
  )
}

export function contextOf(sources: Omit<LineageSources, 'trees'>): LineageContext {
  const { models, external, findModel, readsTables } = sources
  const known = new Map<ModelName, Columns>()
  const columnsOf = (name: ModelName) => {
    const model = models.get(name)
    const columns = known.get(name) ?? withGivers(ownColumns(name, model?.columns ?? []), model)
    known.set(name, columns)
    return columns
  }
  const tables = new Map(
    external.map(({ name, columns }) => [foldCase(name), ownColumns(name, columns)]),
  )
  const columnsOfSource = (name: string) => tables.get(foldCase(name)) ?? null
  return { findModel, columnsOf, columnsOfSource, readsTables }
}

/**
 * For each column of each model with a query, in order: the column of a model or a source whose values it passes on as they
 * are; null: it is computed, or not known.
 */
export function passedColumns(
  sources: Omit<LineageSources, 'known'>,
): ReadonlyMap<ModelName, readonly (ColumnOrigin | null)[]> {
  const context = contextOf(sources)
  return new Map(
    Array.from(sources.models.values(), ({ name, kind, columns }) => {
      const tree = sources.trees.get(name) ?? null
      const own = columns.slice(0, columns.length - kinds[kind].addedColumns.length)
      const found = tree === null ? null : columnsGivenBy(tree, own, context)
      return [name, columns.map((_, i) => found?.[i]?.same ?? null)]
    }),
  )
}

/** One for each of `columns`, which the query gives; null: unknown. */
function lineageOf(tree: SyntaxNode, columns: readonly Column[], context: LineageContext): Lineage {
  const found = columnsGivenBy(tree, columns, context)
  return columns.map((_, i) => {
    const origins = found?.[i]?.origins ?? null
    return origins === null ? null : [...origins.values()]
  })
}

/** One for each of `columns`; null: unknown. */
export function columnsGivenBy(
  tree: SyntaxNode,
  columns: readonly Column[],
  context: LineageContext,
): Columns {
  const found = columnsOfQuery(nodeOf(tree), { scope: null, ctes: new Map(), context })
  // A star or an unnest that means more columns than it seems shows in their number.
  const fits =
    found?.length === columns.length &&
    found.every(({ name }, i) => name === '' || isNameOf(columns[i]!.name, name))
  return fits ? found : null
}

/** A table has no two columns of one name: DuckDB adds a number to the second. */
const isNameOf = (column: string, name: string) =>
  sameName(column, name) || foldCase(column).startsWith(`${foldCase(name)}_`)

export interface QueryPlace {
  /** What names mean around the query; null at the top. */
  readonly scope: Scope | null
  /** Columns of common table expressions, by name in lower case. */
  readonly ctes: ReadonlyMap<string, Columns>
  readonly context: LineageContext
}

export function columnsOfQuery(node: SyntaxNode, outer: QueryPlace): Columns {
  const place = enterCtes(node, outer)
  switch (node['type']) {
    case 'SELECT_NODE':
      return columnsOfSelect(node, place)
    case 'SET_OPERATION_NODE': {
      const left = columnsOfQuery(node['left'] as SyntaxNode, place)
      const right = columnsOfQuery(node['right'] as SyntaxNode, place)
      const exact = place.context.uses?.exact
      if (exact) {
        const isByName = node['setop_type'] === 'UNION_BY_NAME'
        const both = isByName
          ? exactNames(byName(left, right), left, right)
          : exactPairs(left, right)
        return afterCut(node, both, exact)
      }
      if (node['setop_type'] === 'UNION') return inPairs(left, right)
      if (node['setop_type'] === 'UNION_BY_NAME') return byName(left, right)
      return node['setop_type'] === 'EXCEPT' || node['setop_type'] === 'INTERSECT' ? left : null
    }
    case 'RECURSIVE_CTE_NODE':
      return columnsOfRecursion(node, place)
    default:
      return null
  }
}

function enterCtes(node: SyntaxNode, place: QueryPlace): QueryPlace {
  let inner = place
  for (const { key, value } of ctesOf(node)) {
    const find = () => renamed(columnsOfQuery(nodeOf(value.query), inner), value.aliases)
    const columns = place.context.uses?.within(find) ?? find()
    inner = { ...inner, ctes: new Map([...inner.ctes, [foldCase(key), columns]]) }
  }
  return inner
}

/** The right side reads what both sides give, until nothing is added. */
function columnsOfRecursion(node: SyntaxNode, place: QueryPlace): Columns {
  const name = foldCase(String(node['cte_name']))
  const aliases = node['aliases'] as readonly string[] | undefined
  const first = renamed(columnsOfQuery(node['left'] as SyntaxNode, place), aliases)
  let columns: Columns = first?.map((column) => ({ ...column, trails: [] })) ?? null
  for (;;) {
    const ctes = new Map([...place.ctes, [name, columns], [`recurring.${name}`, columns]])
    const right = columnsOfQuery(node['right'] as SyntaxNode, { ...place, ctes })
    const both = inPairs(columns, right)
    // A row may be made from rows of any other value, several steps before.
    if (both === null || columns === null || isSame(both, columns))
      return both?.map((column) => ({ ...column, trails: [] })) ?? null
    columns = both
  }
}

const isSame = (a: NonNullable<Columns>, b: NonNullable<Columns>) =>
  a.every(({ origins }, i) => origins?.size === b[i]!.origins?.size)

function columnsOfSelect(node: SyntaxNode, place: QueryPlace): Columns {
  const { observer, uses } = place.context
  const own = { ...place, scope: emptyScope(place.scope) }
  const find = () => {
    const from = scopeOfFrom(node['from_table'] as SyntaxNode, own)
    return withEqualities(from, node['where_clause'], place)
  }
  const scope = uses?.exact
    ? withSubqueries(node, place, uses.exact, { find, columnsOfQuery })
    : find()
  const columns: ScopeColumn[] = []
  let isKnown = true
  for (const item of node['select_list'] as readonly SyntaxNode[]) {
    const given = columnsOfItem(item, { ...place, scope: { ...scope, aliases: columns } })
    isKnown &&= given !== null
    if (!isKnown && observer === undefined) return null
    columns.push(...(given ?? []))
  }
  const inside = { ...place, scope: { ...scope, aliases: columns } }
  if (observer !== undefined) observeRest(node, inside)
  if (uses?.exact && isKnown) return exactSelect(node, columns, uses.exact, inside)
  return isKnown ? columns : null
}

/** What decides which rows there are, and in which order: there the names of the SELECT list come first. */
function observeRest(node: SyntaxNode, place: Inside): void {
  for (const member of ['where_clause', 'group_expressions', 'having', 'qualify'])
    originsOf(node[member], place)
  const items = { alias: '', schema: null, columns: place.scope.aliases }
  const scope = { ...emptyScope(place.scope), relations: [items] }
  originsOf(node['modifiers'], { ...place, scope })
}

function columnsOfItem(item: SyntaxNode, place: Inside): Columns {
  if (item['class'] === 'STAR') return columnsOfStar(item, place)
  const alias = textOf(item['alias'])
  const names = columnNames(item)
  if (names !== null) {
    const value = resolveName(names, place.scope)
    place.context.observer?.column(item, value, alias === '')
    const { origins, type, same, trails } = value
    const column = scopeColumn(alias || names.at(-1)!, origins, type, undefined, same, trails)
    return [{ ...column, by: givenBy(item, place) }]
  }
  if (holdsStar(item) || isUnnestOfMany(item, place)) {
    if (place.context.observer !== undefined) originsOf(item, place)
    return null
  }
  const column = computed(alias, originsOf(item, place), trailsOf(item, place))
  return [{ ...column, by: givenBy(item, place) }]
}

export interface Inside extends QueryPlace {
  readonly scope: Scope
}

/** One column for each that the star stands for. */
function columnsOfStar(star: SyntaxNode, place: Inside): Columns {
  const list = (member: string) => (star[member] ?? []) as readonly unknown[]
  if (star['columns'] === true || star['expr'] != null) return null
  if (list('qualified_exclude_list').length > 0 || list('rename_list').length > 0) return null
  const all = expand(textOf(star['relation_name']), place.scope)
  const excluded = list('exclude_list').map(String)
  const replaced = list('replace_list') as readonly { key: string; value: SyntaxNode }[]
  return (
    all
      ?.filter(({ name }) => !excluded.some((other) => sameName(other, name)))
      .map((column) => {
        const by = replaced.find(({ key }) => sameName(key, column.name))
        if (by === undefined) return column
        const trails = trailsOf(by.value, place)
        const origins = originsOf(by.value, place)
        return { ...computed(column.name, origins, trails), by: givenBy(by.value, place) }
      }) ?? null
  )
}

function expand(alias: string, { relations, merged }: Scope): Columns {
  if (alias !== '') {
    const named = relations.filter((relation) => relation.alias === foldCase(alias))
    return named.length === 1 ? named[0]!.columns : null
  }
  const columns: ScopeColumn[] = []
  const seen = new Set<string>()
  for (const relation of relations) {
    if (relation.columns === null) return null
    for (const column of relation.columns) {
      const one = merged.get(column.key)
      if (one !== undefined && seen.has(column.key)) continue
      seen.add(column.key)
      columns.push(one ?? column)
    }
  }
  return columns
}

/** A star inside an expression makes several columns of it. */
const holdsStar = (item: SyntaxNode): boolean =>
  nodesIn(item, isSubquery).some((node) => node['class'] === 'STAR')

/** Unnesting a STRUCT, or what may be one, makes several columns. */
function isUnnestOfMany(item: SyntaxNode, { scope }: Inside): boolean {
  if (item['class'] !== 'FUNCTION' || !unnestNames.has(foldCase(String(item['function_name']))))
    return false
  const [list, ...more] = item['children'] as readonly SyntaxNode[]
  const names = columnNames(list)
  const type = names === null ? null : resolveName(names, scope).type
  return more.length > 0 || !type?.endsWith(']')
}

/** The origins of an expression: those of every column that it names, and that a subquery in it gives. */
export function originsOf(value: unknown, place: Inside): Origins {
  if (typeof value !== 'object' || value === null) return none
  if (Array.isArray(value)) return union(value.map((item) => originsOf(item, place)))
  const node = value as SyntaxNode
  switch (node['class']) {
    case 'COLUMN_REF': {
      const value = resolveName(node['column_names'] as readonly string[], place.scope)
      place.context.observer?.column(node, value, false)
      return value.origins
    }
    case 'SUBQUERY': {
      place.context.uses?.exact?.noteSubquery(node)
      const isValue = node['subquery_type'] === 'SCALAR' || node['subquery_type'] === 'ANY'
      if (!isValue && place.context.observer === undefined) return null
      const given = columnsOfQuery(nodeOf(node['subquery'] as SyntaxNode), place)
      if (node['subquery_type'] === 'ANY' && node['comparison_type'] === 'COMPARE_EQUAL')
        observeEquality(place, valueOf(node['child'], place), given?.[0] ?? null)
      const inner = given === null ? null : union(given.map(({ origins }) => origins))
      const all = union([inner, originsOf(node['child'], place)])
      return isValue ? all : null
    }
    case 'COMPARISON':
      if (node['type'] === 'COMPARE_EQUAL')
        observeEquality(place, valueOf(node['left'], place), valueOf(node['right'], place))
      break
    case 'LAMBDA': {
      const parameters = parametersOf(node['lhs'])
      const own = { alias: '', schema: null, columns: parameters }
      const scope = { ...emptyScope(place.scope), relations: [own] }
      return parameters === null ? null : originsOf(node['expr'], { ...place, scope })
    }
    case 'STAR':
    case 'POSITIONAL_REFERENCE':
    case 'PARAMETER':
      return null
    case 'FUNCTION':
      if (place.context.readsTables(foldCase(String(node['function_name'])))) return null
  }
  return union(Object.values(node).map((member) => originsOf(member, place)))
}

function observeEquality(place: Inside, left: ScopeValue | null, right: ScopeValue | null): void {
  if (left !== null && right !== null) place.context.observer?.equality?.(left, right)
}

/** What a name stands for; null for any other expression. */
function valueOf(expression: unknown, { scope }: Inside): ScopeValue | null {
  const names = columnNames(expression)
  return names === null ? null : resolveName(names, scope)
}

/** The values of a parameter come from the list, which is an argument of the same call. */
function parametersOf(lhs: unknown): Columns {
  const node = lhs as SyntaxNode
  const all = isColumn(node) ? [node] : (node['children'] as SyntaxNode[] | undefined)
  if (all?.every(isColumn) !== true) return null
  return all.map((parameter) => scopeColumn(columnNames(parameter)![0]!, none))
}
