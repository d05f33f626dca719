// Trails by which a table can be kept up to date: of the rows of a query, those with one value in a column are made of
// rows of its input with that value alone. A trail of trails.ts promises less: there a NULL may come from anywhere, since
// what reads a table by ranges has none.
//
// What is not understood here has no trail, so that a table is built anew: that costs time and is never wrong.

import { foldCase } from '../../core/names.ts'
import type { Trail } from '../../core/addresses.ts'
import { isWholeNumber } from '../../core/relation.ts'
import { columnNames, isColumn, isSubquery, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'
import { isCalling, typeAfter } from './calls.ts'
import type { Inside } from './query.ts'
import { Reads } from './reads.ts'
import {
  type Columns,
  inPairs,
  resolveName,
  type Scope,
  type ScopeColumn,
  type ScopeRelation,
  type ScopeValue,
} from './scope.ts'
import { trailsOf, type Uses } from './trails.ts'

interface Noted {
  readonly text: string
  readonly node: SyntaxNode
}

/** Where a column of a query around has a value, a subquery depends on rows with this value alone. */
export interface Correlation {
  readonly owner: ScopeRelation
  /** The column, in lower case. */
  readonly key: string
  readonly trails: readonly Trail[]
}

/** The places at which a query reads something, where each use of a common table expression is one of its own. */
export class ExactUses implements Uses {
  readonly exact = this
  readonly all: { readonly name: string; readonly node: SyntaxNode }[] = []
  readonly problems: Noted[] = []
  readonly #reads = new Reads()
  readonly #referred = new Map<Columns, SyntaxNode>()
  readonly #seen = new Set<SyntaxNode>()
  readonly #followed = new Set<SyntaxNode>()
  readonly #scopes = new Map<SyntaxNode, Scope>()
  readonly #collecting: Correlation[][] = []
  readonly #copies = new Map<SyntaxNode, Columns>()

  of(node: SyntaxNode, name: string, columns: Columns): Columns {
    const use = this.#reads.at(node, () => this.all.push({ name, node }) - 1)
    return (
      columns?.map((one) => ({
        ...one,
        trails: [{ use, column: one.name, steps: [], type: one.type ?? '' }],
      })) ?? null
    )
  }

  within(find: () => Columns): Columns {
    return this.#reads.within(find).columns
  }

  during<T>(find: () => T): { readonly found: T; readonly reads: ReadonlySet<number> } {
    return this.#reads.during(find)
  }

  /** Finds something, and the correlations that are told meanwhile. */
  collect<T>(find: () => T): { readonly found: T; readonly told: readonly Correlation[] } {
    const told: Correlation[] = []
    this.#collecting.push(told)
    const found = find()
    this.#collecting.pop()
    return { found, told }
  }

  /** To the subquery in whose query this is. */
  tell(correlations: readonly Correlation[]): void {
    this.#collecting.at(-1)?.push(...correlations)
  }

  /** All that this subquery reads is followed by columns of the query that it is in. */
  follow(subquery: SyntaxNode): void {
    this.#followed.add(subquery)
  }

  /** The scope of a SELECT, once it is known. */
  enter(select: SyntaxNode, scope: Scope): void {
    this.#scopes.set(select, scope)
  }

  /** null: it is no SELECT that has been looked at. */
  scopeOf(select: SyntaxNode): Scope | null {
    return this.#scopes.get(select) ?? null
  }

  /** null: no table is read there. */
  readonly useOf = (node: SyntaxNode): number | null => this.#reads.of(node)

  noteSubquery(node: SyntaxNode): void {
    if (!this.#followed.has(node)) this.note('a subquery in an expression', node)
  }

  again(columns: Columns, node: SyntaxNode): Columns {
    this.#seen.add(node)
    const reads = this.#reads.inside(columns)
    const first = this.#referred.get(columns) ?? node
    this.#referred.set(columns, first)
    if (first === node) {
      this.#reads.note(reads)
      return columns
    }
    const known = this.#copies.get(node)
    if (known !== undefined) return known
    const copies = new Map(Array.from(reads, (use) => [use, this.all.push(this.all[use]!) - 1]))
    this.#reads.note(copies.values())
    const own = (trail: Trail) => ({ ...trail, use: copies.get(trail.use) ?? trail.use })
    const copy = columns?.map((one) => ({ ...one, trails: (one.trails ?? []).map(own) })) ?? null
    this.#copies.set(node, copy)
    return copy
  }

  /** Whether this has been looked at: what has not may be anything. */
  knows(node: SyntaxNode): boolean {
    return this.#reads.has(node) || this.#seen.has(node)
  }

  note(text: string, node: SyntaxNode): void {
    if (!this.problems.some((one) => one.node === node)) this.problems.push({ text, node })
  }
}

/** What a value is before it becomes another: two of one form are equal only where they are the same. */
function formOf({ type = '', steps }: Trail): string {
  const last = steps.at(-1)
  const isTold = last === undefined || 'cast' in last || isCalling(last)
  const form = (isTold ? typeAfter(type, steps) : null) ?? ''
  return form === '' ? `${type} ${JSON.stringify(steps)}` : isWholeNumber(form) ? 'integer' : form
}

/** The engine compares values of two types as values of a third, where more of them may be equal. */
function haveOneForm(...all: readonly (Pick<ScopeValue, 'trails' | 'type'> | null)[]): boolean {
  const forms = new Set<string | null>()
  for (const one of all) {
    const trails = one?.trails ?? []
    if (trails.length > 0) for (const trail of trails) forms.add(formOf(trail))
    else
      forms.add(
        one?.type == null ? null : formOf({ use: 0, column: '', steps: [], type: one.type }),
      )
  }
  return forms.size === 1 && !forms.has(null)
}

export function compareAsOne(left: SyntaxNode, right: SyntaxNode, place: Inside): boolean {
  const valueOf = (node: SyntaxNode) => {
    const names = columnNames(node)
    const type = names === null ? null : resolveName(names, place.scope).type
    return { trails: trailsOf(node, place), type }
  }
  return haveOneForm(valueOf(left), valueOf(right))
}

export const areOne = (left: ScopeValue, right: ScopeValue): boolean => haveOneForm(left, right)

/** This holds for EXCEPT and INTERSECT too: whether a row is there depends on the rows of both sides that are equal to it. */
export function exactPairs(left: Columns, right: Columns): Columns {
  return withOneForm(inPairs(left, right), (i) => [left![i]!, right![i]!])
}

export const exactNames = (both: Columns, left: Columns, right: Columns): Columns =>
  withOneForm(both, (i) => {
    const { key } = both![i]!
    return [left, right].flatMap((side) => side?.find((one) => one.key === key) ?? [])
  })

const withOneForm = (both: Columns, sides: (i: number) => readonly ScopeColumn[]): Columns =>
  both?.map((one, i) => {
    const all = sides(i)
    if (!haveOneForm(...all)) return { ...one, trails: [] }
    const isSure = all.length > 1 && all.every(({ trails }) => surely(trails).length > 0)
    return isSure ? one : { ...one, trails: (one.trails ?? []).map(loose) }
  }) ?? null

export const loose = (trail: Trail): Trail => ({ ...trail, isLoose: true })

/** Those that have part in each row. */
const surely = (trails: readonly Trail[] = []) => trails.filter(({ isLoose }) => isLoose !== true)

/**
 * Of rows that a join gives though they have no partner, the columns of the other side are NULL, which is not the value of
 * any row. `start`, `middle`: where the tables of the left and of the right begin.
 */
export function afterJoin(
  table: SyntaxNode,
  uses: ExactUses,
  whole: Scope,
  scopes: { readonly before: Scope; readonly left: Scope },
): Scope {
  const [start, middle] = [scopes.before.relations.length, scopes.left.relations.length]
  const type = String(table['join_type'])
  const way = String(table['ref_type'])
  const isNear = way === 'ASOF' || way === 'POSITIONAL'
  if (isNear) uses.note(way === 'ASOF' ? 'an ASOF join' : 'a POSITIONAL join', table)
  if (type === 'FULL' || type === 'OUTER') uses.note('a FULL join', table)
  const [fromLeft, fromRight] = [
    isNear || (type !== 'INNER' && type !== 'LEFT' && type !== 'SEMI' && type !== 'ANTI'),
    isNear || (type !== 'INNER' && type !== 'RIGHT'),
  ]
  const isUnsure = (i: number) => i >= start && (i < middle ? fromLeft : fromRight)
  const relations = whole.relations.map((one, i) => (isUnsure(i) ? withoutTrails(one) : one))
  const merged = new Map(whole.merged)
  for (const [key, column] of whole.merged) {
    if (scopes.before.merged.get(key) === column) continue
    const isLeft = scopes.left.merged.get(key) === column
    const isOwn = !isLeft && usedHere(table, key)
    if (isNear || (isLeft ? fromLeft : fromRight && !isOwn))
      merged.set(key, { ...column, trails: [] })
  }
  return { ...whole, relations, merged, compared: new Map() }
}

const usedHere = (table: SyntaxNode, key: string): boolean =>
  table['ref_type'] === 'NATURAL' ||
  ((table['using_columns'] ?? []) as readonly string[]).some((name) => foldCase(name) === key)

const withoutTrails = (relation: ScopeRelation): ScopeRelation => ({
  ...relation,
  columns: relation.columns?.map((one) => ({ ...one, trails: [] })) ?? null,
})

/** The columns that a SELECT gives, where its windows and its limits leave them their trails. */
export function exactSelect(
  node: SyntaxNode,
  columns: Columns,
  uses: ExactUses,
  place: Inside,
): Columns {
  const all = afterCut(node, columns, uses)
  const parts = partsOf(node)
  if (parts.length === 0 || all === null) return all
  const isPart = (one: ScopeColumn, { of }: Part) => {
    const own = textsOf(one.trails)
    return of.some((part) => isSame(own, textsOf(trailsOf(part, place))))
  }
  for (const part of parts)
    if (!all.some((one) => isPart(one, part))) uses.note(part.text, part.node)
  return all.map((one) => (parts.every((part) => isPart(one, part)) ? one : { ...one, trails: [] }))
}

/** Also of several SELECTs that UNION puts together. */
export function afterCut(node: SyntaxNode, columns: Columns, uses: ExactUses): Columns {
  const cut = cutOf(node)
  if (cut === null) return columns
  uses.note(cut.text, cut.node)
  return columns?.map((one) => ({ ...one, trails: [] })) ?? null
}

const textsOf = (trails: readonly Trail[] | undefined): ReadonlySet<string> =>
  new Set(surely(trails).map((trail) => JSON.stringify(trail)))

/** Of a UNION all places have to agree: two columns may be one in one of its queries, and two in another. */
const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size > 0 && other.size > 0 && (isIn(one, other) || isIn(other, one))

const isIn = (some: ReadonlySet<string>, all: ReadonlySet<string>) =>
  [...some].every((text) => all.has(text))

/** Rows that are looked at together: those with the same values of these expressions. */
interface Part extends Noted {
  readonly of: readonly SyntaxNode[]
}

function partsOf(node: SyntaxNode): readonly Part[] {
  const windows = windowsIn([node['select_list'], node['qualify'], node['modifiers']])
  const found: Part[] = windows.map((window) => {
    const of = window['partitions'] as readonly SyntaxNode[]
    const text =
      of.length === 0
        ? 'a window without PARTITION BY'
        : 'a window whose PARTITION BY is no column of the result'
    return { of, text, node: window }
  })
  for (const modifier of modifiersOf(node)) {
    const of = targetsOf(modifier)
    if (of.length > 0)
      found.push({ of, text: 'DISTINCT ON columns that are not in the result', node: of[0]! })
  }
  return found
}

/** Those of the query itself: one in a subquery looks at the rows of that. */
const windowsIn = (parts: readonly unknown[]): readonly SyntaxNode[] =>
  nodesIn(parts, isSubquery).filter((node) => node['class'] === 'WINDOW')

const targetsOf = (modifier: SyntaxNode) =>
  (modifier['distinct_on_targets'] ?? []) as readonly SyntaxNode[]

const modifiersOf = (node: SyntaxNode) => (node['modifiers'] ?? []) as readonly SyntaxNode[]

/** What takes some of the rows, or makes rows of several groups of the same rows. */
function cutOf(node: SyntaxNode): Noted | null {
  const limit = limitOf(node)
  if (limit !== null) return limit
  if (node['sample'] != null || holdsSample(node['from_table'])) return { text: 'a sample', node }
  if (((node['group_sets'] ?? []) as readonly unknown[]).length > 1)
    return { text: 'GROUPING SETS, ROLLUP or CUBE', node: firstOf(node['group_expressions'], node) }
  const asked = ['select_list', 'where_clause', 'qualify', 'having'].map((name) => node[name])
  const rowid = nodesIn(asked, isColumn).find(isRowid)
  return rowid === undefined ? null : { text: 'rowid', node: rowid }
}

const firstOf = (list: unknown, other: SyntaxNode): SyntaxNode =>
  ((list ?? []) as readonly SyntaxNode[])[0] ?? other

function limitOf(node: SyntaxNode): Noted | null {
  const modifiers = modifiersOf(node)
  const limit = modifiers.find(({ type }) => String(type).startsWith('LIMIT'))
  if (limit === undefined) return null
  const isOrdered = modifiers.some(({ type }) => type === 'ORDER_MODIFIER')
  const at = (limit['limit'] ?? limit['offset']) as SyntaxNode
  return { text: isOrdered ? 'ORDER BY with LIMIT' : 'LIMIT', node: at }
}

/** Why no part of the result can be made apart. */
export function wholeOf(node: SyntaxNode, uses: ExactUses): Noted | null {
  const limit = limitOf(node)
  if (limit !== null) return limit
  // An order that says which of several rows stays is no order of the result.
  const isOn = modifiersOf(node).some((one) => targetsOf(one).length > 0)
  const order = isOn ? undefined : modifiersOf(node).find(({ type }) => type === 'ORDER_MODIFIER')
  const [first] = (order?.['orders'] ?? []) as readonly { readonly expression: SyntaxNode }[]
  if (first !== undefined)
    return { text: 'ORDER BY, which a table does not keep', node: first.expression }
  return hiddenIn(node, uses)
}

function hiddenIn(tree: SyntaxNode, uses: ExactUses): Noted | null {
  for (const node of nodesIn(tree)) {
    const { type } = node
    if (type === 'RECURSIVE_CTE_NODE') return { text: 'a recursive query', node: firstIn(node) }
    if (type === 'PIVOT') return { text: 'PIVOT or UNPIVOT', node }
    if (type === 'BASE_TABLE' && !uses.knows(node))
      return { text: 'a table whose place in the query is not understood', node }
    if (type !== 'TABLE_FUNCTION') continue
    const name = foldCase(String((node['function'] as SyntaxNode)['function_name']))
    if (!ofRows.has(name)) return { text: `the table function ${name}`, node }
  }
  return null
}

/** Functions that read nothing but their arguments. */
const ofRows: ReadonlySet<string> = new Set(['unnest', 'generate_series', 'range'])

/** The first expression, which has a place; a recursion as a whole has none. */
function firstIn(node: SyntaxNode): SyntaxNode {
  const left = node['left'] as SyntaxNode | undefined
  return firstOf(left?.['select_list'], left ?? node)
}

function holdsSample(table: unknown): boolean {
  if (typeof table !== 'object' || table === null) return false
  const { sample, left, right } = table as SyntaxNode
  return sample != null || holdsSample(left) || holdsSample(right)
}

const isRowid = (node: SyntaxNode) => foldCase(columnNames(node)?.at(-1) ?? '') === 'rowid'
