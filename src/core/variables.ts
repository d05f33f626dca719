// Variables of a project: values that models take by `${name}`. A value becomes a literal and nothing else; where a
// model wants a name, a text becomes a quoted identifier.

import { columnType } from './relation.ts'
import { type Sql, sql } from './sql.ts'

export type Scalar =
  | { readonly is: 'text' | 'date'; readonly value: string }
  /** A text: a decimal with more digits than a number of JavaScript holds. */
  | { readonly is: 'number'; readonly value: number | bigint | string }
  | { readonly is: 'boolean'; readonly value: boolean }

export type Variable = Scalar | { readonly is: 'list'; readonly values: readonly Scalar[] }

/** By name, as declared. */
export type Variables = ReadonlyMap<string, Variable>

export function literalOf(variable: Variable): Sql {
  if (variable.is === 'list') return sql`[${sql.join(variable.values.map(literalOf))}]`
  if (variable.is === 'date') return sql.value(variable.value, columnType('DATE'))
  if (variable.is === 'number' && typeof variable.value === 'string') {
    const [whole = '', fraction = ''] = variable.value.replace(/^[-+]/, '').split('.')
    const type = `DECIMAL(${whole.length + fraction.length}, ${fraction.length})`
    return sql.value(variable.value, columnType(type))
  }
  // `-1` after a minus would begin a comment.
  if (variable.is === 'number') return sql`(${sql.value(variable.value)})`
  return sql.value(variable.value)
}

/** null: only a text that is not empty is a name. */
export function identifierOf(variable: Variable): Sql | null {
  if (variable.is !== 'text' || variable.value === '' || variable.value.includes('\0')) return null
  return sql.ident(variable.value)
}
