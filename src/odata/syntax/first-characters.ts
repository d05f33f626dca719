// Which characters a parsing expression can begin with: most alternatives of a choice are refused by that alone.

import { type Grammar, pexprs } from 'ohm-js'
import { is, type Part, ruleOf } from './grammar-parts.ts'

/** One for each ASCII character, one for all beyond, one for the end of the text. */
export const CLASSES = 130

const BEYOND_ASCII = 128
const END = 129

export function characterClass(text: string, at: number): number {
  if (at >= text.length) return END
  const code = text.charCodeAt(at)
  return code < BEYOND_ASCII ? code : BEYOND_ASCII
}

/** By its class, whether `part` may match where that character is. A match of nothing may be anywhere. */
export function firstCharacters(part: Part, grammar: Grammar): readonly boolean[] {
  const first: boolean[] = Array.from({ length: CLASSES }, () => false)
  const add = (from: number, to: number) => {
    for (let code = Math.min(from, BEYOND_ASCII); code <= Math.min(to, BEYOND_ASCII); code++)
      first[code] = true
  }
  /** Whether the part can match nothing. */
  const collect = (one: Part): boolean => {
    if (one.token !== undefined) return collect(one.token.written)
    if (one === (pexprs.end as unknown)) {
      first[END] = true
      return false
    }
    if (one === (pexprs.any as unknown) || is(one, pexprs.UnicodeChar)) {
      add(0, BEYOND_ASCII)
      return false
    }
    if (is(one, pexprs.Terminal)) {
      add(one.obj.charCodeAt(0), one.obj.charCodeAt(0))
      return false
    }
    if (is(one, pexprs.Range)) {
      add(one.from.codePointAt(0)!, one.to.codePointAt(0)!)
      return false
    }
    if (is(one, pexprs.Alt)) return one.terms.map(collect).includes(true)
    if (is(one, pexprs.Seq)) return one.factors.every(collect)
    if (is(one, pexprs.Iter)) return collect(one.expr!) || one.minNumMatches === 0
    if (is(one, pexprs.Not)) return true
    if (is(one, pexprs.Lookahead)) return collect(one.expr!)
    if (one.ruleName !== 'caseInsensitive') return collect(ruleOf(grammar, one.ruleName).body)
    for (const letter of [one.args[0]!.obj[0]!.toLowerCase(), one.args[0]!.obj[0]!.toUpperCase()])
      add(letter.charCodeAt(0), letter.charCodeAt(0))
    return false
  }
  return collect(part) ? first.map(() => true) : first
}
