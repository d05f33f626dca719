// The system query options: which there are, how each is parsed, and which are known but not served.

import { didYouMean } from '../../core/suggest.ts'
import { odataError } from '../protocol/errors.ts'
import { parseText } from './parse-option.ts'
import type { OptionName, OptionSyntax } from './syntax.ts'

type Parse<Name extends OptionName> = (
  text: string,
  target: string,
) => Exclude<OptionSyntax[Name], undefined>

const parserOf: { readonly [Name in OptionName]: Parse<Name> } = {
  apply: (text, target) => parseText('apply', text, target),
  compute: (text, target) => parseText('compute', text, target),
  select: (text, target) => parseText('select', text, target),
  expand: (text, target) => parseText('expand', text, target),
  filter: (text, target) => parseText('wholeExpression', text, target),
  search: (text, target) => parseText('search', text, target),
  orderby: (text, target) => parseText('orderby', text, target),
  top: rowCount,
  skip: rowCount,
  count: flag,
  format: (text) => text,
  id: (text) => text,
  skiptoken: (text) => text,
  deltatoken: (text) => text,
}

/** Options of OData that this service knows and does not serve, and what their values look like. */
const UNSERVED: Readonly<Record<string, RegExp>> = {
  index: /^-?\d+$/,
  schemaversion: /^(\*|[\w.~-]+)$/,
}

/**
 * The name of the option that `name` is in any letter case and with or without `$`; null for a custom option. A `value`
 * that an option never has is a mistake, also of one that is not served.
 */
export function optionName(name: string, value?: string): OptionName | null {
  const hasDollar = name.startsWith('$')
  const plain = name.slice(hasDollar ? 1 : 0).toLowerCase()
  if (Object.hasOwn(parserOf, plain)) return plain as OptionName
  const target = `$${plain}`
  if (Object.hasOwn(UNSERVED, plain)) {
    if (value !== undefined && !UNSERVED[plain]!.test(value))
      throw odataError('invalid-option-value', `this is no value of ${target}`, { target })
    throw odataError('not-supported', `${target} is not supported`, { target })
  }
  if (!hasDollar) return null
  const hint = didYouMean(plain, Object.keys(parserOf))
  const problem = `there is no query option "${name}"`
  throw odataError('unknown-option', hint === undefined ? problem : `${problem}: ${hint}`, {
    target: name,
  })
}

/** The option with its value parsed, as a member for OptionSyntax. */
export function parseOption(name: OptionName, text: string): OptionSyntax {
  const target = `$${name}`
  if (text.trim() === '')
    throw odataError('invalid-option-value', `${target} has no value`, { target })
  return { [name]: parserOf[name](text, target) }
}

/** Numbers of rows beyond any table mean all of them, and stay exact in a double. */
function rowCount(text: string, target: string): number {
  if (!/^\d+$/.test(text))
    throw odataError('invalid-option-value', `${target} must be a whole number, 0 or more`, {
      target,
    })
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

function flag(text: string, target: string): boolean {
  if (!/^(true|false)$/i.test(text))
    throw odataError('invalid-option-value', `${target} must be true or false`, { target })
  return text.toLowerCase() === 'true'
}
