// What DuckDB says in an error, taken apart.

import type { Token } from '../sql/tokens.ts'
import { limits } from '../../core/limits.ts'
import type { DatabaseErrorDetails } from '../../duckdb/errors.ts'

export interface Explanation {
  readonly problem: string
  readonly hint?: string | undefined
}

/** Where an error lies in the text of a query. */
export interface PlacedError extends DatabaseErrorDetails {
  /** The text without comments. */
  readonly tokens: readonly Token[]
  /** The token that the error is about; past the end where something is missing. */
  readonly at: number
  readonly text: string
}

/** The message without candidates and advice, in one line. */
export function problemOf({ message }: DatabaseErrorDetails): string {
  const [problem = ''] = message.split(/\s*\n+\s*(?:Candidate|Did you mean|LINE \d|Please try)/)
  // What its parser says of LIMIT 5, 10.
  if (problem === 'errhint NOT IMPLEMENTED') return 'DuckDB does not have this form of the clause'
  const line = problem
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/!$/, '')
  return line.length > limits.problemLength ? `${line.slice(0, limits.problemLength)}…` : line
}

export const quotedNames = (text: string): readonly string[] =>
  [...text.matchAll(/"((?:[^"]|"")+)"/g)].map(([, name]) => name!)

export interface RefusedCall {
  readonly name: string
  /** Types of the arguments, with those of literals as the type that they have alone. */
  readonly types: readonly string[]
  /** Types of the arguments of each form that there is. */
  readonly forms: readonly string[]
}

const REFUSED =
  /^(?:No function matches the given name and argument types '|Could not choose a best candidate function for the function call ")(.+?)\((.*)\)['"]\. /

/** null: the error is about something else. */
export function refusedCall({ message }: DatabaseErrorDetails): RefusedCall | null {
  const [, name, types = ''] = REFUSED.exec(message) ?? []
  if (name === undefined) return null
  const forms = [...message.matchAll(/^\t.+?\((.*?)\)(?: -> .*)?$/gm)].map(([, form]) => form!)
  const named = types
    .replaceAll('STRING_LITERAL', 'VARCHAR')
    .replaceAll('INTEGER_LITERAL', 'INTEGER')
  return { name, types: named === '' ? [] : splitTypes(named), forms: [...new Set(forms)] }
}

/** DECIMAL(10,2) contains a comma. */
const splitTypes = (text: string) => text.split(/, (?![^(]*\))/)
