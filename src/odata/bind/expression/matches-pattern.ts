// matchesPattern(text, pattern). OData takes the regular expressions of ECMAScript; DuckDB has RE2, whose time is
// linear in the text for every pattern. What RE2 writes otherwise is rewritten, what it lacks is answered 501.

import { type Expression, typeOf, call, nullOf } from '../bound.ts'
import { unsupported, typeMismatch, invalidValue, wrongArguments } from '../../protocol/errors.ts'
import { edm } from '../../edm/types.ts'

/** RE2 refuses to repeat anything more often than this, repeats inside of repeats multiplied. */
const MAX_REPEATS = 1_000
const MAX_PATTERN = 1_000

export function bindPattern(operands: readonly Expression[]): Expression {
  const [text, pattern] = operands
  if (text === undefined || pattern === undefined || operands.length !== 2)
    throw wrongArguments(`matchesPattern takes 2 arguments, not ${operands.length}`)
  for (const operand of [text, pattern]) {
    const type = typeOf(operand)
    if (type !== null && type.name !== 'Edm.String')
      throw typeMismatch(`matchesPattern does not take ${type.name}`)
  }
  if (text.kind === 'null' || pattern.kind === 'null') return nullOf(edm.Boolean)
  if (pattern.kind !== 'constant') throw unsupported('a pattern that is not a literal')
  const translated = { ...pattern, value: toRe2(pattern.value) }
  return call('matchespattern', edm.Boolean, text, translated)
}

function toRe2(pattern: string): string {
  if (pattern.length > MAX_PATTERN)
    throw invalidValue(`a pattern has at most ${MAX_PATTERN} characters`)
  if (!isPattern(pattern, 'u') && !isPattern(pattern, ''))
    throw invalidValue('the pattern is not a valid regular expression')
  // A backspace in ECMAScript, an error in RE2.
  if (/\[[^\]]*\\b/.test(pattern)) throw unsupported('"\\b" in a character class')
  let repeats = 1
  return pattern.replace(TOKENS, (token) => {
    if (/^\{\d/.test(token)) repeats *= Math.max(1, ...token.match(/\d+/g)!.map(Number))
    const rewritten = repeats > MAX_REPEATS ? null : rewrite(token)
    if (rewritten === null) throw unsupported(`"${token}" in a pattern`)
    return rewritten
  })
}

function isPattern(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp
  } catch {
    return false
  }
}

/** Escapes, groups, counts and classes: all that the two dialects write differently. */
const TOKENS =
  /\\u\{[^}]*\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\k<[^>]*>|\\p\{[^}]*\}|\\.|\(\?<?[=!]|\(\?<[^>]*>|\[\^\]|\[\]|\[:|\{\d+(?:,\d*)?\}/gisu

/** The token in RE2's words; null when it has none. */
function rewrite(token: string): string | null {
  const hex = /^\\[ux]\{?([0-9a-f]+)\}?$/i.exec(token)?.[1]
  if (hex !== undefined) return `\\x{${hex}}`
  if (token.startsWith('\\')) return rewriteEscape(token)
  if (/^\(\?<?[=!]/.test(token) || token === '[:') return null
  if (token.startsWith('(?<')) return `(?P${token.slice(2)}`
  if (token === '[^]') return '[\\s\\S]'
  return token === '[]' ? '[^\\s\\S]' : token
}

function rewriteEscape(token: string): string | null {
  if (/^\\p\{/i.test(token)) return /^\\[pP]\{\w{1,2}\}$/.test(token) ? token : null
  if (token === '\\0') return '\\x{0}'
  if (/^\\(?:[1-9c]|k<)/.test(token)) return null
  // Escaping an ordinary letter changes nothing in ECMAScript, and is an error in RE2.
  return /^\\[a-z_]$/i.test(token) && !/^\\[dwsbnrtfv]$/i.test(token) ? token.slice(1) : token
}
