// What a name means inside a query, as far as its columns are known. `null` is "unknown" throughout: lineage may say that
// it does not know, and may never say what is not so.

import type { ColumnOrigin } from '../core/model.ts'
import { foldCase, sameName } from '../core/names.ts'
import { isInconstant } from './functions.ts'

/** By `originKey`; the columns of models that a value is made of. */
export type Origins = ReadonlyMap<string, ColumnOrigin> | null

export interface ScopeColumn {
  /** Empty: the engine gives it a name that nobody refers to here. */
  readonly name: string
  readonly origins: Origins
  /** Type of a model's own column; null for what is computed. */
  readonly type: string | null
}

/** In order; null: not known. */
export type Columns = readonly ScopeColumn[] | null

export interface ScopeRelation {
  /** Empty for one that cannot be named. */
  readonly alias: string
  /** Of a model that is not renamed. */
  readonly schema: string | null
  readonly columns: Columns
}

export interface Scope {
  readonly relations: readonly ScopeRelation[]
  /** Columns that USING has made one of two, by name in lower case. */
  readonly merged: ReadonlyMap<string, ScopeColumn>
  /** Names that the SELECT list has given so far. */
  readonly aliases: readonly ScopeColumn[]
  /** The query around this one. */
  readonly outer: Scope | null
}

export const emptyScope = (outer: Scope | null): Scope => ({
  relations: [],
  merged: new Map(),
  aliases: [],
  outer,
})

export const none: Origins = new Map()

export const originKey = ({ model, column }: ColumnOrigin): string => `${model}\0${column}`

export function union(all: Iterable<Origins>): Origins {
  const found = new Map<string, ColumnOrigin>()
  for (const origins of all) {
    if (origins === null) return null
    for (const [key, origin] of origins) found.set(key, origin)
  }
  return found
}

/** A reference such as `column`, `table.column`, `schema.table.column`, each perhaps with fields of a STRUCT behind it. */
export function resolveName(names: readonly string[], scope: Scope): Origins {
  for (let level: Scope | null = scope; level !== null; level = level.outer) {
    const found = resolveIn(names, level)
    if (found !== 'absent') return found
  }
  return names.length === 1 && isInconstant(foldCase(names[0]!), 0) ? none : null
}

/** The type of a plain reference to a column of a model; null for all else. */
export function typeOfName(names: readonly string[], { relations }: Scope): string | null {
  const [name = '', ...more] = names.toReversed()
  const found = relations
    .filter(({ alias }) => more.length === 0 || sameName(alias, more[0]!))
    .flatMap(({ columns }) => columns ?? [])
    .filter((column) => sameName(column.name, name))
  return found.length === 1 ? found[0]!.type : null
}

function resolveIn(names: readonly string[], level: Scope): Origins | 'absent' {
  const [first = '', second, third] = names
  if (third !== undefined) {
    const table = level.relations.find(
      ({ alias, schema }) => schema !== null && sameName(schema, first) && sameName(alias, second!),
    )
    const found = table === undefined ? 'absent' : columnOf(table, third)
    if (found !== 'absent') return found
  }
  if (second !== undefined) {
    const tables = level.relations.filter(({ alias }) => sameName(alias, first))
    if (tables.length > 1) return null
    const found = tables[0] === undefined ? 'absent' : columnOf(tables[0], second)
    if (found !== 'absent') return found
  }
  const column = resolveColumn(first, level)
  if (column !== 'absent') return column
  const table = level.relations.find(({ alias }) => sameName(alias, first))
  if (table === undefined) return 'absent'
  // The name of a table is its row; behind a dot it has columns that no list shows, such as rowid.
  if (second !== undefined || table.columns === null) return null
  return union(table.columns.map(({ origins }) => origins))
}

function resolveColumn(name: string, level: Scope): Origins | 'absent' {
  const merged = level.merged.get(foldCase(name))
  if (merged !== undefined) return merged.origins
  const found = level.relations.map((relation) => columnOf(relation, name))
  const known = found.filter((origins) => origins !== 'absent' && origins !== null)
  if (known.length > 0) return known.length === 1 ? known[0]! : null
  if (found.includes(null)) return null
  const alias = level.aliases.findLast((column) => sameName(column.name, name))
  return alias === undefined ? 'absent' : alias.origins
}

function columnOf({ columns }: ScopeRelation, name: string): Origins | 'absent' {
  if (columns === null) return null
  const found = columns.filter((column) => sameName(column.name, name))
  if (found.length > 1) return null
  return found[0] === undefined ? 'absent' : found[0].origins
}

export function renamed(columns: Columns, names: readonly string[] | undefined): Columns {
  if (columns === null || names === undefined) return columns
  return columns.map((column, i) => ({ ...column, name: names[i] ?? column.name }))
}

/** A member of the tree that may be missing. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
