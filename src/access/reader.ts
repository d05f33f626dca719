// Who asks, as far as it decides what is there for them: which sets, and which of their rows.

import { hashOf } from '../core/hash.ts'
import type { RowFilter } from '../core/row-filter.ts'
import type { FilePlace } from '../core/source-text.ts'
import { wildcard } from '../core/wildcard.ts'

export interface Reader {
  /** The name of the token, for the log; null without one that has a name. */
  readonly name: string | null
  /** Equal for those who see the same; empty for all there is. Part of what answers, links and files are known by. */
  readonly key: string
  sees(set: string): boolean
  /** All of them must let a row through. */
  filtersOf(set: string): readonly RowFilter[]
  /** Filters of sets that are not among these. */
  filtersBeside(sets: readonly string[]): readonly SetFilter[]
}

/** A filter with the name of a set, not a pattern. */
interface SetFilter {
  readonly set: string
  readonly filter: RowFilter
}

export const WHOLE: Reader = {
  name: null,
  key: '',
  sees: () => true,
  filtersOf: () => [],
  filtersBeside: () => [],
}

interface ReaderRights {
  readonly name: string
  /** null stands for all sets. */
  readonly sets: readonly Pick<ScopeName, 'text'>[] | null
  /** By names of sets or models; null for all in scope. */
  readonly rows: readonly { readonly set: string | null; readonly filter: RowFilter }[]
}

export function readerOf({ name, sets, rows }: ReaderRights): Reader {
  const texts = rows.map(({ set, filter }) => [set, filter.text])
  const isAll = sets === null && rows.length === 0
  return {
    name,
    key: isAll ? '' : hashOf(16, [sets?.map(({ text }) => text) ?? null, texts]),
    sees: (set) => opens({ scope: sets, rows }, set),
    filtersOf: (set) =>
      rows.flatMap((one) => (one.set === null || matches(one.set, set) ? [one.filter] : [])),
    filtersBeside: (known) =>
      rows.flatMap(({ set, filter }) => {
        if (set === null || set.includes('*')) return []
        return known.some((name) => matches(set, name)) ? [] : [{ set, filter }]
      }),
  }
}

// What somebody may see or do: names of targets or sets, and conditions on the rows of sets.

/** A name, or a pattern for names, with its place in eider.yml. */
export interface ScopeName extends FilePlace {
  readonly text: string
}

/** A condition in SQL on the rows of a set. */
export interface WrittenFilter extends FilePlace {
  /** A name of a set or a model; null: all that are in scope. */
  readonly set: string | null
  readonly text: string
}

/** The part of the rights of a token that says which sets are there for its holder. */
interface OpenedSets {
  readonly scope: ReaderRights['sets']
  readonly rows: readonly { readonly set: string | null }[]
}

/**
 * Whether a set is there for the holder of a token. Where its rows are filtered, a pattern opens no set that none of the
 * filters is for: one that is published later would be open to its last row.
 */
export function opens({ scope, rows }: OpenedSets, set: string): boolean {
  if (!isInScope(scope, set)) return false
  const isFiltered = rows.some((one) => one.set === null || matches(one.set, set))
  return rows.length === 0 || isFiltered || scope === null || isInScope(scope.filter(isName), set)
}

const isName = ({ text }: Pick<ScopeName, 'text'>) => !text.includes('*')

/** Whether a name is in scope. Sets are known by the names of their models too. */
export const isInScope = (scope: readonly Pick<ScopeName, 'text'>[] | null, name: string) =>
  scope === null || scope.some(({ text }) => matches(text, name))

/** `*` stands for any text; letter case does not count. */
export function matches(pattern: string, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace('.', '_')
  return wildcard(plain(pattern)).test(plain(name))
}
