// One piece of decoded text by one rule of the URL grammar, within limits, with errors that say where.

import { limits } from '../../core/limits.ts'
import { RequestError } from '../../http/request-error.ts'
import { odataError } from '../protocol/errors.ts'
import { tooDeep } from './precedence.ts'
import { readSyntax, type StartRules } from './read-syntax.ts'
import { syntaxError } from './syntax-error.ts'
import { urlGrammar } from './url.grammar.ts'

/**
 * `target` is what messages call the text, such as `$filter`. Throws RequestError 400: syntax-error,
 * expression-too-deep, expression-too-long.
 */
export function parseText<Rule extends keyof StartRules>(
  rule: Rule,
  text: string,
  target: string,
): StartRules[Rule] {
  const key = `${rule} ${text}`
  const known = parsed.get(key)
  if (known !== undefined) {
    // Last in the map is last to be forgotten.
    parsed.delete(key)
    parsed.set(key, known)
    return known as StartRules[Rule]
  }
  const syntax = parse(rule, text, target)
  if (text.length <= limits.cachedOptionLength) parsed.set(key, syntax)
  if (parsed.size > limits.cachedOptions) parsed.delete(parsed.keys().next().value!)
  return syntax
}

/** Clients send the same few texts again and again, and parsing is most of the work for a small request. */
const parsed = new Map<string, StartRules[keyof StartRules]>()

function parse<Rule extends keyof StartRules>(
  rule: Rule,
  text: string,
  target: string,
): StartRules[Rule] {
  const longest = limits.optionLengths[rule]
  if (text.length > longest)
    throw odataError('expression-too-long', `${target} is longer than ${longest} characters`, {
      target,
    })
  // The grammar's parser recurses, so depth is measured before it starts.
  if (nesting(text, rule === 'search' ? '"' : `"'`) > limits.expressionDepth) throw tooDeep(target)
  const calculations = rule === 'search' ? 0 : (text.match(CALCULATION)?.length ?? 0)
  if (calculations > limits.calculations) throw tooDeep(target)
  if (rule !== 'search' && callsIn(text) > limits.calls)
    throw odataError(
      'expression-too-long',
      `${target} has more than ${limits.calls} function calls`,
      { target },
    )
  try {
    const match = urlGrammar.match(text, rule)
    if (match.failed()) throw syntaxError(match, rule, text, target)
    return withTarget(target, () => readSyntax<Rule>(match))
  } catch (error) {
    // A $search within $expand may hold one quote, after which the depth is not seen.
    if (error instanceof RangeError) throw tooDeep(target)
    throw error
  }
}

/** A long sum, or a long row of `not`, is a deep tree; that is known only when all of it has been parsed. */
const CALCULATION = /\b(?:add|sub|mul|div|divby|mod|not)\b/gi

/** How many names outside of quotes, except `not`, are followed by parentheses. */
function callsIn(text: string): number {
  return text.match(TEXT_OR_CALL)?.filter((found) => found === '(').length ?? 0
}

const TEXT_OR_CALL = /'(?:[^']|'')*'|(?<=[\w\u{80}-\u{10ffff}])(?<!\bnot)\(/giu

/** The deepest nesting of brackets and minus signs outside of quotes. */
function nesting(text: string, quotes: string): number {
  let depth = 0
  let deepest = 0
  let minuses = 0
  let quote: string | null = null
  for (const character of text) {
    if (character !== ' ') minuses = character === '-' ? minuses + 1 : 0
    if (quote !== null) {
      if (character === quote) quote = null
    } else if (quotes.includes(character)) quote = character
    else if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth)
    else if (')]}'.includes(character)) depth--
    else deepest = Math.max(deepest, depth + minuses)
  }
  return deepest
}

/** Names the option in errors thrown while it is worked on. */
export function withTarget<T>(target: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RequestError) || error.target !== undefined) throw error
    const { status, code, message } = error
    throw new RequestError(status, code, `${target}: ${message}`, { target })
  }
}
