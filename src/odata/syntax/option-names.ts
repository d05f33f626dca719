// The names of the system query options, and the plain values that some of them have: numbers and flags.

import { odataError, invalidOption } from '../protocol/errors.ts'
import { foreignOption } from './foreign-words.ts'
import type { OptionName, OptionSyntax } from './syntax.ts'

const served: { readonly [Name in OptionName]: true } = {
  apply: true,
  compute: true,
  select: true,
  expand: true,
  filter: true,
  search: true,
  orderby: true,
  top: true,
  skip: true,
  count: true,
  format: true,
  id: true,
  skiptoken: true,
  deltatoken: true,
}

/** Options of OData that this service knows and does not serve, and what their values look like. */
const UNSERVED = new Map([
  ['index', { value: /^-?\d+$/, words: 'an integer' }],
  ['schemaversion', { value: /^(\*|[\w.~-]+)$/, words: '* or a version' }],
])

/**
 * The name of the option that `name` means, in any case and with or without `$`; null for a custom option. A `value`
 * that an option never has is a mistake, also of one that is not served.
 */
export function optionName(name: string, value?: string): OptionName | null {
  const hasDollar = name.startsWith('$')
  const plain = name.slice(hasDollar ? 1 : 0).toLowerCase()
  if (Object.hasOwn(served, plain)) return plain as OptionName
  const target = `$${plain}`
  const unserved = UNSERVED.get(plain)
  if (unserved !== undefined) {
    if (value !== undefined && !unserved.value.test(value))
      throw invalidOption(`${target} must be ${unserved.words}`, target)
    throw odataError('not-supported', `${target} is not supported`, target)
  }
  if (!hasDollar) return null
  const hint = foreignOption(plain, OPTIONS)
  const problem = `there is no query option "${name}"`
  throw odataError('unknown-option', hint === null ? problem : `${problem}; ${hint}`, name)
}

const OPTIONS = Object.keys(served).map((name) => `$${name}`)

/** For an option that counts for nothing, as each does that has no `$`: what may have been meant; else null. */
export const meantOption = (name: string): string | null =>
  /^[@$]/.test(name) || Object.hasOwn(served, name.toLowerCase())
    ? null
    : foreignOption(name, OPTIONS)

const rowCount = {
  form: /^\d+$/,
  words: 'a non-negative integer',
  /** Numbers of rows beyond any table mean all of them, and stay exact in a double. */
  valueOf: (text: string) => Math.min(Number(text), Number.MAX_SAFE_INTEGER),
}
const flag = {
  form: /^(true|false)$/i,
  words: 'true or false',
  valueOf: (text: string) => text.toLowerCase() === 'true',
}

const plainValues = { top: rowCount, skip: rowCount, count: flag }

type PlainOption = keyof typeof plainValues

export const isPlainOption = (name: OptionName | null): name is PlainOption =>
  name !== null && Object.hasOwn(plainValues, name)

/** The option with its value, as a member for OptionSyntax. `separator`: what stands between options there. */
export function parsePlainOption(
  name: PlainOption,
  text: string,
  separator: '&' | ';' = '&',
): OptionSyntax {
  requireValue(name, text)
  const { form, words, valueOf } = plainValues[name]
  if (form.test(text)) return { [name]: valueOf(text) }
  const found = /([;,])\s*\$?\w+\s*=/.exec(text)?.[1]
  const where = separator === ';' ? ' in parentheses' : ''
  const hint =
    found === undefined ? '' : `; options${where} are separated by "${separator}", not "${found}"`
  throw invalidOption(`$${name} must be ${words}${hint}`, `$${name}`)
}

export function requireValue(name: OptionName, text: string): void {
  const target = `$${name}`
  if (text.trim() === '')
    throw invalidOption(
      `${target} has no value${name === 'count' ? '; write $count=true' : ''}`,
      target,
    )
}
