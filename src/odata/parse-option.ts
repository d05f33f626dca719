// One piece of decoded text by one rule of the URL grammar, within limits, with errors that say where.

import { limits } from '../core/limits.ts'
import { RequestError } from '../http/request-error.ts'
import { odataError } from './errors.ts'
import { tooDeep } from './precedence.ts'
import { readSyntax, type StartRules } from './read-syntax.ts'
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
  if (text.length > limits.expressionLength)
    throw odataError(
      'expression-too-long',
      `${target} is longer than ${limits.expressionLength} characters`,
      { target },
    )
  // The grammar's parser recurses, so depth is measured before it starts.
  if (nesting(text, rule === 'search' ? '"' : `"'`) > limits.expressionDepth) throw tooDeep(target)
  try {
    const match = urlGrammar.match(text, rule)
    if (match.failed()) throw syntaxError(match, text, target)
    return withTarget(target, () => readSyntax<Rule>(match))
  } catch (error) {
    // A $search within $expand may hold one quote, behind which the depth is not seen.
    if (error instanceof RangeError) throw tooDeep(target)
    throw error
  }
}

/** The deepest nesting of brackets outside of quotes. */
function nesting(text: string, quotes: string): number {
  let depth = 0
  let deepest = 0
  let quote: string | null = null
  for (const character of text) {
    if (quote !== null) {
      if (character === quote) quote = null
    } else if (quotes.includes(character)) quote = character
    else if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth)
    else if (')]}'.includes(character)) depth--
  }
  return deepest
}

function syntaxError(match: ReturnType<typeof urlGrammar.match>, text: string, target: string) {
  // The types of ohm-js leave these two out.
  const failed = match as typeof match & {
    getRightmostFailurePosition(): number
    getRightmostFailures(): readonly { toString(): string; isFluffy(): boolean }[]
  }
  const position = failed.getRightmostFailurePosition()
  const expected = new Set(
    failed
      .getRightmostFailures()
      .filter((failure) => !failure.isFluffy())
      .map(String),
  )
  const where = position >= text.length ? 'at the end' : `at character ${position + 1}`
  return odataError('syntax-error', `${target} ${where}: expected ${[...expected].join(', ')}`, {
    target,
  })
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
