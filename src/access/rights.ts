// What somebody may see or do: names of targets or sets, and conditions on the rows of sets.

import type { SourceFile, Span } from '../core/source.ts'

/** A name, or a pattern for names, with its place in eider.yml. */
export interface ScopeName {
  readonly text: string
  readonly source: SourceFile
  readonly span: Span
}

/** A condition in SQL on the rows of a set. */
export interface WrittenFilter {
  /** A name of a set or a model; null: all that are in scope. */
  readonly set: string | null
  readonly text: string
  readonly source: SourceFile
  readonly span: Span
}

/** Whether a name is in scope. Sets are known by the names of their models too. */
export const isInScope = (scope: readonly Pick<ScopeName, 'text'>[] | null, name: string) =>
  scope === null || scope.some(({ text }) => matches(text, name))

/** `*` stands for any text; letter case does not count. */
export function matches(pattern: string, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace('.', '_')
  const parts = plain(pattern).split('*')
  const escaped = parts.map((part) => part.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(plain(name))
}
