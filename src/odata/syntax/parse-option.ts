// One piece of decoded text by one rule of the URL grammar, within limits, with errors that say where.

import { limits } from '../../core/limits.ts'
import { RequestError } from '../../http/request-error.ts'
import { odataError } from '../protocol/errors.ts'
import { tooDeep } from './precedence.ts'
import { readSyntax, type StartRules } from './read-syntax.ts'
import { syntaxError } from './syntax-error.ts'
import { urlGrammar } from './grammar.ts'

/**
 * `target` is what messages call the text, such as `$filter`. Throws RequestError 400: syntax-error,
 * expression-too-deep, expression-too-long.
 */
export function parseText<Rule extends keyof StartRules>(
  rule: Rule,
  text: string,
  target: string,
): StartRules[Rule] {
  if (text.length > limits.cachedOptionLength) return parse(rule, text, target)
  const key = `${rule} ${text}`
  const known = (recent.get(key) ?? earlier.get(key)) as StartRules[Rule] | undefined
  const syntax = known ?? parse(rule, text, target)
  recent.set(key, syntax)
  if (recent.size > limits.cachedOptions / 2) [earlier, recent] = [recent, new Map()]
  return syntax
}

/**
 * Clients send the same few texts again and again, and parsing is most of the work for a small request. What was not asked
 * since the last two times that the map was full is forgotten: to take single entries out of a map costs more.
 */
let recent = new Map<string, StartRules[keyof StartRules]>()
let earlier: typeof recent = new Map()

function parse<Rule extends keyof StartRules>(rule: Rule, text: string, target: string) {
  const longest = limits.optionLengths[rule]
  if (text.length > longest)
    throw odataError(
      'expression-too-long',
      `${target} is longer than ${longest} characters`,
      target,
    )
  // The grammar's parser recurses, so depth is measured before it starts.
  // A text that is shorter than a limit can't exceed it.
  const { expressionDepth, calculations, calls } = limits
  const { length } = text
  if (length > expressionDepth && nesting(text, rule === 'search' ? '"' : `"'`) > expressionDepth)
    throw tooDeep(target)
  if (rule !== 'search') {
    if (length > calculations && calculationsIn(text) > calculations) throw tooDeep(target)
    if (length > calls && callsIn(text) > calls)
      throw odataError(
        'expression-too-long',
        `${target} has more than ${calls} function calls`,
        target,
      )
  }
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
const calculationsIn = (text: string): number => text.match(CALCULATION)?.length ?? 0

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
