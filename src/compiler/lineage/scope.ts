// What a name means inside a query, as far as its columns are known. `null` is "unknown" throughout: lineage may say that
// it does not know, and may never say what is not so.

import type { Trail } from '../../core/addresses.ts'
import type { ColumnOrigin } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { SyntaxNode } from '../../duckdb/syntax.ts'
import { isVolatileWord } from '../sql/engine-functions.ts'

/** By `originKey`; the columns that a value is computed from. */
export type Origins = ReadonlyMap<string, ColumnOrigin> | null

/** What a name turns out to be. */
export interface ScopeValue {
  readonly origins: Origins
  /** Type of a column of a model or a source; null for what is computed. */
  readonly type: string | null
  /** The column of a model or a source that this is, under its own name: another name there would be another one here. */
  readonly is?: ColumnOrigin | undefined
  /** The column of a model or a source whose values these are as they stand there, under whatever name. */
  readonly same?: ColumnOrigin | undefined
  /** What gives it its values (trails.ts); absent where nobody asks. */
  readonly trails?: readonly Trail[] | undefined
  /** The expressions that give it its values (given.ts); absent where nobody asks, and for what a model or a source gives. */
  readonly by?: readonly SyntaxNode[] | undefined
  /** How a name was resolved: which of its parts is the column, and the table that those before it name. */
  readonly part?: number
  readonly table?: ScopeRelation
}

export interface ScopeColumn extends ScopeValue {
  /** Empty: DuckDB gives it a name that nobody refers to here. */
  readonly name: string
  /** The name in lower case. */
  readonly key: string
}

export const scopeColumn = (
  name: string,
  origins: Origins,
  type: string | null = null,
  is?: ColumnOrigin,
  same: ColumnOrigin | undefined = is,
  trails?: readonly Trail[],
): ScopeColumn => ({ name, key: foldCase(name), origins, type, is, same, trails })

/** One whose values an expression gives. */
export const computed = (
  name: string,
  origins: Origins,
  trails: readonly Trail[] | undefined,
): ScopeColumn => scopeColumn(name, origins, null, undefined, undefined, trails)

/** In order; null: unknown. */
export type Columns = readonly ScopeColumn[] | null

export function ownColumns(model: string, columns: readonly Column[]): Columns {
  return columns.map(({ name, type }) => {
    const origin = { model, column: name }
    return scopeColumn(name, new Map([[originKey(origin), origin]]), type, origin)
  })
}

export interface ScopeRelation {
  /** In lower case; empty for one that cannot be named. */
  readonly alias: string
  /** The model itself, where it is not renamed. */
  readonly schema: string | null
  readonly columns: Columns
}

export interface Scope {
  readonly relations: readonly ScopeRelation[]
  /** Columns that USING has made one of two, by name in lower case. */
  readonly merged: ReadonlyMap<string, ScopeColumn>
  /** Names that the SELECT list has given so far. */
  readonly aliases: readonly ScopeColumn[]
  /** What gives expressions their values that a join compares with a column (trails.ts), by their texts. */
  readonly compared?: ReadonlyMap<string, readonly Trail[]>
  readonly outer: Scope | null
}

export const emptyScope = (outer: Scope | null): Scope => ({
  relations: [],
  merged: new Map(),
  aliases: [],
  outer,
})

export const none: Origins = new Map()

const originKey = ({ model, column }: ColumnOrigin): string => `${model}\0${column}`

export function union(all: Iterable<Origins>): Origins {
  const found = new Map<string, ColumnOrigin>()
  for (const origins of all) {
    if (origins === null) return null
    for (const [key, origin] of origins) found.set(key, origin)
  }
  return found
}

const unknown: ScopeValue = { origins: null, type: null }

/** A reference such as `column`, `table.column`, `schema.table.column`, perhaps followed by fields of a STRUCT. */
export function resolveName(names: readonly string[], scope: Scope): ScopeValue {
  const keys = names.map(foldCase)
  for (let level: Scope | null = scope; level !== null; level = level.outer) {
    const found = resolveIn(keys, level)
    if (found !== null) return found
  }
  const isCall = keys.length === 1 && isVolatileWord(keys[0]!)
  return isCall ? { origins: none, type: null } : unknown
}

/** null: nothing here has the name. */
export function resolveIn(keys: readonly string[], level: Scope): ScopeValue | null {
  const [first = '', second, third] = keys
  if (third !== undefined) {
    const table = level.relations.find(
      ({ alias, schema }) => schema !== null && foldCase(schema) === first && alias === second,
    )
    const found = table === undefined ? null : columnOf(table, third)
    if (found !== null)
      return {
        ...found,
        part: 2,
        table: table!,
        same: keys.length === 3 ? found.same : undefined,
        by: keys.length === 3 ? found.by : undefined,
      }
  }
  if (second !== undefined) {
    const tables = level.relations.filter(({ alias }) => alias === first)
    if (tables.length > 1) return unknown
    const found = tables[0] === undefined ? null : columnOf(tables[0], second)
    if (found !== null)
      return {
        ...found,
        part: 1,
        table: tables[0]!,
        same: third === undefined ? found.same : undefined,
        by: third === undefined ? found.by : undefined,
      }
  }
  const column = resolveColumn(first, level)
  if (column !== null) {
    // A field of a STRUCT, or the column itself.
    const { origins, type, is, same, trails, by } = column
    if (second !== undefined) return { origins, type: null, is, part: 0 }
    return { origins, type, is, same, trails, by, part: 0 }
  }
  const table = level.relations.find(({ alias }) => alias === first)
  if (table === undefined) return null
  // The name of a table is its row; after a dot it has columns that no list shows, such as rowid.
  if (second !== undefined || table.columns === null) return unknown
  return { origins: union(table.columns.map(({ origins }) => origins)), type: null }
}

function resolveColumn(key: string, level: Scope): ScopeValue | null {
  const merged = level.merged.get(key)
  if (merged !== undefined) return merged
  let [found, count, isUnsure]: [ScopeValue | null, number, boolean] = [null, 0, false]
  for (const relation of level.relations) {
    const value = columnOf(relation, key)
    if (relation.columns === null) isUnsure = true
    else if (value !== null) {
      found = value
      count++
    }
  }
  if (count > 0) return count === 1 ? found : unknown
  if (isUnsure) return unknown
  return level.aliases.findLast((column) => column.key === key) ?? null
}

function columnOf({ columns }: ScopeRelation, key: string): ScopeValue | null {
  if (columns === null) return unknown
  const found = columns.find((column) => column.key === key)
  if (found === undefined) return null
  return columns.findLast((column) => column.key === key) === found ? found : unknown
}

export function renamed(columns: Columns, names: readonly string[] | undefined): Columns {
  if (columns === null || names === undefined) return columns
  return columns.map((column, i) => {
    const { origins, type, same, trails, by } = column
    if (names[i] === undefined) return column
    return { ...scopeColumn(names[i], origins, type, undefined, same, trails), by }
  })
}

const bothTrails = (
  one: Pick<ScopeValue, 'trails'>,
  other: Pick<ScopeValue, 'trails'>,
): readonly Trail[] => [...(one.trails ?? []), ...(other.trails ?? [])]

const byEither = (one: Pick<ScopeValue, 'by'>, other: Pick<ScopeValue, 'by'>) => ({
  by: one.by || other.by ? [...(one.by ?? []), ...(other.by ?? [])] : undefined,
})

/** Columns of two queries that give one set of rows, by their places. */
export function inPairs(left: Columns, right: Columns): Columns {
  if (left === null || right === null || left.length !== right.length) return null
  return left.map((one, i) => {
    const other = right[i]!
    const origins = union([one.origins, other.origins])
    return { ...computed(one.name, origins, bothTrails(one, other)), ...byEither(one, other) }
  })
}

/** The same, by their names. */
export function byName(left: Columns, right: Columns): Columns {
  if (left === null || right === null) return null
  const others = new Map(right.map((column) => [column.key, column]))
  if (others.has('') || others.size < right.length) return null
  const both = left.map((one) => {
    const { name, key, origins } = one
    const other = others.get(key)
    others.delete(key)
    const trails = bothTrails(one, other ?? {})
    const either = union([origins, other?.origins ?? none])
    return { ...computed(name, either, trails), ...byEither(one, other ?? {}) }
  })
  return [...both, ...others.values()]
}

/** A member of the tree that may be missing. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const nodeOf = (statement: SyntaxNode) => statement['node'] as SyntaxNode
