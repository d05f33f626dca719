// Tokens of a service that have names: what eider.yml says of each. A token itself is written nowhere; its hash is.

import type { SourceFile, Span } from './source.ts'

/** Names of tokens and webhooks. Without flags: the JSON Schema of eider.yml has it too. */
export const NAME_IN_LOG = /^[A-Za-z0-9_-]{1,60}$/

export interface NamedToken {
  readonly name: string
  /** SHA-256 of the token, in hexadecimal digits. */
  readonly hash: string
  /** The moment from which it is no longer accepted; null: never. */
  readonly expiresAt: Date | null
  /** Of targets or sets; null: all. */
  readonly scope: readonly ScopeName[] | null
}

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

export interface ReaderToken extends NamedToken {
  readonly rows: readonly WrittenFilter[]
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
