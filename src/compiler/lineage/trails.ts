// Which columns of what a query reads give a column of it its values: where a row of the result has a value, then each
// row that has part in it through such a column has that value there, or one that leads to it. So rows that change with
// known values can change the result only where these values lead.
//
// What this file does not understand has no trail, and is read as something whose changes may lead anywhere.

import { foldCase, type ModelName } from '../../core/names.ts'
import { positionOf } from '../../core/source-text.ts'
import type { ModelBody } from '../../core/sql.ts'
import type { Addresses, Trail, Trails, TrailStep, Use } from '../../core/addresses.ts'
import { columnNames, isColumn, isSubquery, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'
import { spanAtByte } from '../hints/engine-diagnostic.ts'
import { nodeLocation } from '../sql/references.ts'
import { stepByCall } from './calls.ts'
import { detoursOf } from './detours.ts'
import { compareAsOne, ExactUses, loose, wholeOf } from './exact.ts'
import { columnsOfQuery, contextOf, type Inside, type LineageSources } from './query.ts'
import type { QueryPlace } from './query.ts'
import { numbersRows, leftOutBy, windowsOfValues } from './left-out.ts'
import { picksRows } from './picked.ts'
import { Reads } from './reads.ts'
import {
  type Columns,
  emptyScope,
  nodeOf,
  resolveName,
  type Scope,
  type ScopeRelation,
} from './scope.ts'

/** Those of each model with a query; `known` are of models that were not compiled now. */
export function trailsOfAll(
  sources: LineageSources,
  known: ReadonlyMap<ModelName, Trails | null>,
): ReadonlyMap<ModelName, Trails> {
  const context = contextOf(sources)
  const found = new Map<ModelName, Trails>()
  for (const model of sources.models.values()) {
    const { name, columns } = model
    const tree = sources.trees.get(name)
    const before = known.get(name)
    if (before != null) found.set(name, before)
    if (before !== undefined || tree == null) continue
    const uses = new UseLog()
    // Names are looked for in the whole query: also what only decides which rows there are is read.
    const observer = { table: () => undefined, column: () => undefined }
    const place = { scope: null, ctes: new Map(), context: { ...context, observer, uses } }
    const given = columnsOfQuery(nodeOf(tree), place)
    const trails = columns.map((_, i) => given?.[i]?.trails ?? [])
    const body = 'body' in model ? model.body : null
    const addresses = addressesOf(tree, columns.length, body, { ...place, context })
    found.set(name, {
      uses: uses.all,
      columns: trails,
      looksAround: looksAround(tree),
      isGrouped: isGrouped(tree),
      leavesOut: leftOutBy(tree),
      hasValuesOfOthers: windowsOfValues(tree).some((window) => !numbersRows(window)),
      addresses,
    })
  }
  return found
}

function addressesOf(
  tree: SyntaxNode,
  width: number,
  body: ModelBody | null,
  place: QueryPlace,
): Addresses {
  const uses = new ExactUses()
  const observer = { table: () => undefined, column: () => undefined }
  const context = { ...place.context, observer, uses }
  const given = columnsOfQuery(nodeOf(tree), { ...place, context })
  const spanOf = (node: SyntaxNode) => {
    const at = nodeLocation(node)
    return at === null || body === null ? null : spanAtByte(body, at)
  }
  const placed = ({ text, node }: { readonly text: string; readonly node: SyntaxNode }) => {
    const span = spanOf(node)
    const line = span === null ? null : positionOf(body!.source, span.start).line
    return { text, line }
  }
  const top = nodeOf(tree)
  const whole = wholeOf(top, uses)
  return {
    uses: uses.all.map(({ name, node }) => ({
      name,
      span: spanOf(node),
      alias: textIn(node, 'alias'),
    })),
    // A star or an unnest that means more columns than it seems shows in their number.
    columns: Array.from({ length: width }, (_, i) =>
      given?.length === width ? (given[i]!.trails ?? []).map(asSaid) : [],
    ),
    detours: detoursOf(top, uses),
    problems: uses.problems.map(placed),
    picks: picksRows(top),
    whole: whole === null ? null : placed(whole),
  }
}

const asSaid = ({ use, column, steps, type = '' }: Trail): Trail => ({ use, column, steps, type })

/** What is asked of the places at which a query reads something. */
export interface Uses {
  /** The columns of a table that is read here. */
  of(node: SyntaxNode, name: string, columns: Columns): Columns
  /** Finds the columns of a common table expression. */
  within(find: () => Columns): Columns
  /** A common table expression that is read here. */
  again(columns: Columns, node: SyntaxNode): Columns
  /** Present where trails mean more (exact.ts). */
  readonly exact: ExactUses | null
}

/** The places at which a query reads something, numbered. */
class UseLog implements Uses {
  readonly exact = null
  readonly #uses: { name: string; isShared: boolean }[] = []
  readonly #reads = new Reads()
  readonly #referred = new Set<Columns>()

  get all(): readonly Use[] {
    return this.#uses
  }

  of(node: SyntaxNode, name: string, columns: Columns): Columns {
    const use = this.#reads.at(node, () => this.#uses.push({ name, isShared: false }) - 1)
    return (
      columns?.map((one) => ({ ...one, trails: [{ use, column: one.name, steps: [] }] })) ?? null
    )
  }

  within(find: () => Columns): Columns {
    const { columns, reads } = this.#reads.within(find)
    // Where the columns are not known, nothing tells how often it is used.
    if (columns === null) this.#share(reads)
    return columns
  }

  /** From the second time on rows of two places meet in one. */
  again(columns: Columns): Columns {
    const reads = this.#reads.inside(columns)
    this.#reads.note(reads)
    if (this.#referred.has(columns)) this.#share(reads)
    this.#referred.add(columns)
    return columns
  }

  #share(uses: Iterable<number>): void {
    for (const use of uses) this.#uses[use]!.isShared = true
  }
}

/** What gives an expression its values. */
export function trailsOf(node: SyntaxNode, place: Inside): readonly Trail[] {
  if (place.context.uses === undefined) return []
  const names = columnNames(node)
  if (names !== null) return resolveName(names, place.scope).trails ?? []
  const { compared } = place.scope
  const others = compared === undefined ? [] : (compared.get(textOfTree(node, place.scope)) ?? [])
  const step = stepOf(node) ?? (place.context.uses.exact === null ? null : stepByCall(node))
  if (step === null) return others
  const own = trailsOf(step.of, place)
  return [...own.map((trail) => ({ ...trail, steps: [...trail.steps, step.does] })), ...others]
}

/** Equal for expressions that are written alike, but for the names of the table before those of columns. */
function textOfTree(node: SyntaxNode, scope: Scope): string {
  return JSON.stringify(node, (member, value: unknown) => {
    if (member === 'alias' || member === 'query_location') return undefined
    const names = columnNames(value)
    if (names === null) return value
    return ownerOf(names, scope)?.alias.concat('.', foldCase(names.at(-1)!)) ?? names
  })
}

/** The table whose column the name means. */
function ownerOf(names: readonly string[], scope: Scope): ScopeRelation | null {
  const { part, table } = resolveName(names, scope)
  if (part !== names.length - 1) return null
  const key = foldCase(names.at(-1)!)
  return table ?? scope.relations.find((one) => one.columns?.some((own) => own.key === key)) ?? null
}

function stepOf(node: SyntaxNode): { readonly of: SyntaxNode; readonly does: TrailStep } | null {
  if (node['class'] === 'CAST' && node['try_cast'] !== true) {
    const cast = textIn(node['cast_type'], 'id')
    // Its digits decide what it rounds to, and the name of the type does not tell them.
    if (cast === 'DECIMAL') return null
    return { of: node['child'] as SyntaxNode, does: { cast } }
  }
  if (node['class'] !== 'FUNCTION') return null
  const [first, of, ...more] = node['children'] as readonly SyntaxNode[]
  if (first === undefined || of === undefined || more.length > 0) return null
  switch (node['function_name']) {
    case 'date_trunc':
    case 'datetrunc':
      return withText(textOfConstant(first), of, (trunc) => ({ trunc }))
    case 'timezone':
      return withText(textOfConstant(first), of, (zone) => ({ zone }))
    case 'time_bucket':
      return withText(intervalOf(first), of, (bucket) => ({ bucket }))
    default:
      return null
  }
}

const withText = (
  text: string,
  of: SyntaxNode,
  make: (text: string) => TrailStep,
): { readonly of: SyntaxNode; readonly does: TrailStep } | null =>
  text === '' ? null : { of, does: make(text) }

const textOfConstant = (node: SyntaxNode): string =>
  node['class'] === 'CONSTANT' ? textIn(node['value'], 'value') : ''

/** The text of INTERVAL '1 hour', of '1 hour'::INTERVAL, or of INTERVAL 1 HOUR. */
function intervalOf(node: SyntaxNode): string {
  if (node['class'] === 'CAST' && textIn(node['cast_type'], 'id') === 'INTERVAL')
    return textOfConstant(node['child'] as SyntaxNode)
  const unit = UNIT.exec(textIn(node, 'function_name'))?.[1]
  const [amount] = (node['children'] ?? []) as readonly SyntaxNode[]
  const number = unit === undefined ? null : wholeNumberOf(amount)
  return number === null ? '' : `${number} ${unit}`
}

const UNIT = /^to_(seconds|minutes|hours|days|weeks|months|years)$/

/** DuckDB puts trunc() and casts around the number of INTERVAL 1 HOUR. */
function wholeNumberOf(node: SyntaxNode | undefined): number | null {
  if (node?.['class'] === 'CAST') return wholeNumberOf(node['child'] as SyntaxNode)
  if (node?.['class'] === 'FUNCTION' && node['function_name'] === 'trunc')
    return wholeNumberOf((node['children'] as readonly SyntaxNode[])[0])
  if (node?.['class'] !== 'CONSTANT') return null
  const { type, is_null, value } = node['value'] as SyntaxNode
  return textIn(type, 'id') === 'INTEGER' && is_null !== true ? (value as number) : null
}

function textIn(value: unknown, member: string): string {
  const found = (value as SyntaxNode | null)?.[member]
  return typeof found === 'string' ? found : ''
}

/**
 * Columns that a condition makes equal give each other their values, whatever the join: a row of the other side meets
 * only rows with its value. `sides`: those of a join that leaves rows alone, where only an equality between the two says
 * something of each row; null: the condition is true of every row.
 */
export function withEqualities(
  scope: Scope,
  condition: unknown,
  place: QueryPlace,
  sides: readonly (readonly ScopeRelation[])[] | null = null,
): Scope {
  const { context } = place
  if (context.uses === undefined) return scope
  const { exact } = context.uses
  let found = scope
  for (const { left, right } of equalitiesIn(condition)) {
    if (sides !== null && !isBetween(left, right, sides)) continue
    if (exact !== null && !compareAsOne(left, right, { ...place, scope })) continue
    for (const [one, other] of [
      [left, right],
      [right, left],
    ] as const) {
      const trails = trailsOf(other, { ...place, scope })
      const more = sides === null || exact === null ? trails : trails.map(loose)
      if (more.length === 0) continue
      const names = columnNames(one)
      found =
        names === null
          ? withCompared(found, textOfTree(one, scope), more)
          : withTrails(found, names, more)
    }
  }
  return found
}

function isBetween(
  left: SyntaxNode,
  right: SyntaxNode,
  [one = [], other = []]: readonly (readonly ScopeRelation[])[],
): boolean {
  const isOf = (relations: readonly ScopeRelation[], node: SyntaxNode) =>
    nodesIn(node, isColumn).every((one) => {
      const names = columnNames(one)
      if (names === null) return true
      return resolveName(names, { ...emptyScope(null), relations }).part !== undefined
    })
  return (isOf(one, left) && isOf(other, right)) || (isOf(other, left) && isOf(one, right))
}

interface Equality {
  readonly left: SyntaxNode
  readonly right: SyntaxNode
}

export function equalitiesIn(condition: unknown): readonly Equality[] {
  const node = (condition ?? {}) as SyntaxNode
  if (node['type'] === 'CONJUNCTION_AND')
    return (node['children'] as readonly SyntaxNode[]).flatMap(equalitiesIn)
  if (node['type'] !== 'COMPARE_EQUAL') return []
  return [{ left: node['left'] as SyntaxNode, right: node['right'] as SyntaxNode }]
}

function withCompared(scope: Scope, text: string, more: readonly Trail[]): Scope {
  const before = scope.compared?.get(text) ?? []
  return { ...scope, compared: new Map(scope.compared).set(text, [...before, ...more]) }
}

/** The scope in which this name has more trails. */
function withTrails(scope: Scope, names: readonly string[], more: readonly Trail[]): Scope {
  const key = foldCase(names.at(-1)!)
  const owner = ownerOf(names, scope)
  if (owner === null) return scope
  const relations = scope.relations.map((one) =>
    one === owner ? { ...one, columns: withMore(one.columns, key, more) } : one,
  )
  return { ...scope, relations }
}

export const withMore = (columns: Columns, key: string, more: readonly Trail[]): Columns =>
  columns?.map((one) =>
    one.key === key ? { ...one, trails: [...(one.trails ?? []), ...more] } : one,
  ) ?? null

/** Whether a row may depend on rows that have no part in it. */
const looksAround = (tree: SyntaxNode): boolean =>
  nodesIn(tree).some(
    ({ class: is, type, ref_type: way, sample, distinct_on_targets: targets }) =>
      is === 'WINDOW' ||
      ['RECURSIVE_CTE_NODE', 'LIMIT_MODIFIER', 'LIMIT_PERCENT_MODIFIER'].includes(String(type)) ||
      way === 'ASOF' ||
      way === 'POSITIONAL' ||
      sample != null ||
      (type === 'DISTINCT_MODIFIER' && (targets as []).length > 0),
  )

/** What only an expression asks, as IN (SELECT …) does, gives the query no rows. */
const isGrouped = (tree: SyntaxNode): boolean =>
  nodesIn(tree, isSubquery).some(
    ({ group_expressions: groups, aggregate_handling: handling }) =>
      ((groups ?? []) as []).length > 0 || handling === 'FORCE_AGGREGATES',
  )
