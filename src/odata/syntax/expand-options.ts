// The options in the parentheses of $expand whose values are plain: numbers and flags, as at the top of a query.

import { odataError } from '../protocol/errors.ts'
import type { ExpressionSyntax, OptionSyntax } from './syntax.ts'
import { isPlainOption, optionName, parsePlainOption } from './option-names.ts'

/** `$levels` exists in $expand only. */
type ExpandOption = OptionSyntax & {
  readonly levels?: number
  readonly aliases?: ReadonlyMap<string, ExpressionSyntax>
}

export function parseExpandOption(name: string, text: string): ExpandOption {
  const value = text.trim()
  if (name.toLowerCase() === 'levels') return { levels: levels(value) }
  const option = optionName(`$${name}`, value)
  if (isPlainOption(option)) return parsePlainOption(option, value)
  throw odataError('option-not-allowed', `$${option ?? name} is not allowed within $expand`)
}

function levels(text: string): number {
  if (/^max$/i.test(text)) return Infinity
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw odataError('invalid-option-value', '$levels must be max or a positive integer')
}

export function joinExpandOptions(parts: readonly ExpandOption[]) {
  const joined: Record<string, unknown> = {}
  const aliases = new Map<string, ExpressionSyntax>()
  for (const [name, value] of parts.flatMap(({ aliases: more, ...part }) => {
    for (const [alias, syntax] of more ?? []) {
      if (aliases.has(alias))
        throw odataError('duplicate-option', `@${alias} is given more than once within $expand`)
      aliases.set(alias, syntax)
    }
    return Object.entries(part)
  })) {
    if (Object.hasOwn(joined, name))
      throw odataError('duplicate-option', `$${name} is given more than once within $expand`)
    joined[name] = value
  }
  const { levels: depth = 1, ...options } = joined as ExpandOption
  return { levels: depth, options, aliases }
}
