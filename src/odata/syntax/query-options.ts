// The system query options: which there are, how each is parsed, and which are known but not served.

import { parseText } from './parse-option.ts'
import type { OptionName, OptionSyntax } from './syntax.ts'
import { isPlainOption, parsePlainOption, type PlainOption, requireValue } from './option-names.ts'

type Parse<Name extends OptionName> = (
  text: string,
  target: string,
) => Exclude<OptionSyntax[Name], undefined>

const parserOf: { readonly [Name in Exclude<OptionName, PlainOption>]: Parse<Name> } = {
  apply: (text, target) => parseText('apply', text, target),
  compute: (text, target) => parseText('compute', text, target),
  select: (text, target) => parseText('select', text, target),
  expand: (text, target) => parseText('expand', text, target),
  filter: (text, target) => parseText('wholeExpression', text, target),
  search: (text, target) => parseText('search', text, target),
  orderby: (text, target) => parseText('orderby', text, target),
  format: (text) => text,
  id: (text) => text,
  skiptoken: (text) => text,
  deltatoken: (text) => text,
}

/** The option with its value parsed, as a member for OptionSyntax. */
export function parseOption(name: OptionName, text: string): OptionSyntax {
  if (isPlainOption(name)) return parsePlainOption(name, text)
  requireValue(name, text)
  return { [name]: parserOf[name](text, `$${name}`) }
}
