// Makes the rules of a grammar that are tokens fast. Ohm reads a rule character by character, with several objects for
// each; a name of ten letters costs as much as an operator with its two operands. What a token is stays in the grammar
// alone: its regular expression is made here from the body of its rule.
//
// This is the one file that changes what ohm does: it replaces bodies of rules by parts whose evaluation is its own.
// `npm run bench -- --only odata-language` shows what a request costs.
//
// A parsing expression never takes back what it has matched, while a regular expression does. So each repetition and
// each choice that is followed by something stands in an atomic group, which JavaScript writes
// (?=(?<group>…))\k<group>.

import { type Grammar, pexprs } from 'ohm-js'
import { is, type Part, ruleOf, type Token } from './grammar-parts.ts'

/**
 * Changes `grammar`: each of the rules `names` is read in one step and has one child, the whole of its text. Throws when
 * a rule is not regular. What was expected where is still said by the body of the rule; one that has a description is
 * expected as a whole.
 */
export function readInOneStep(grammar: Grammar, names: readonly string[]): void {
  const patterns = names.map((name) => patternOf(ruleOf(grammar, name).body, grammar))
  for (const [i, name] of names.entries()) {
    const rule = ruleOf(grammar, name)
    const { body, description } = rule
    const token = { pattern: patterns[i]!, written: body }
    const refused = leaping(body, grammar)
    const read = reading(token, (state) => description === undefined && refused.eval(state))
    rule.body = evaluated(token, (state) => {
      const isRead = read(state)
      state.doNotMemoize = true
      return isRead
    })
    const refuse = refusing(new Apply(name))
    const plain = description === undefined ? read : reading(token, refuse)
    plainTokens.set(rule.body, evaluated(token, plain))
  }
}

/** By the body of a rule that is read in one step, what is read where no rule is entered. */
const plainTokens = new WeakMap<Part, Part>()

/**
 * Changes `grammar`: where one of the rules `names` is used, its body stands instead. Such a rule must have one child and
 * no meaning itself, as a choice has none, or be read in one step: of its text the action is that of any text.
 * Case-insensitive words are read in one step.
 */
export function readInPlace(grammar: Grammar, names: readonly string[]): void {
  const bodies = new Map(names.map((name) => [name, ruleOf(grammar, name).body]))
  const inPlace = (part: Part): Part => {
    if (is(part, pexprs.Apply)) {
      if (part.ruleName === 'caseInsensitive') return anyCase(part, grammar)
      const body = bodies.get(part.ruleName)
      if (body === undefined) return part
      return plainTokens.get(body) ?? inPlace(body)
    }
    if (is(part, pexprs.Alt)) part.terms = part.terms.map(inPlace)
    else if (is(part, pexprs.Seq)) part.factors = part.factors.map(inPlace)
    else if (part.expr !== undefined) part.expr = inPlace(part.expr)
    return part
  }
  for (const name of Object.keys(grammar.rules)) {
    const rule = ruleOf(grammar, name)
    rule.body = inPlace(rule.body)
  }
}

/**
 * The body of a token that does not match, to say what was expected: a repetition goes to its end in one step, and only
 * there it is read as it is written, since what was expected before is of no interest.
 */
function leaping(part: Part, grammar: Grammar): Part {
  if (is(part, pexprs.Seq)) {
    const factors = part.factors.map((factor) => leaping(factor, grammar))
    return new Seq(factors)
  }
  if (!is(part, pexprs.Iter) || part.maxNumMatches === 1) return part
  const token = { pattern: patternOf(part, grammar), written: part }
  return evaluated(token, (state) => {
    const { inputStream } = state
    const from = inputStream.pos
    token.pattern.lastIndex = from
    if (token.pattern.test(state.input)) inputStream.pos = token.pattern.lastIndex
    state.eval(part.expr!)
    return inputStream.pos > from || part.minNumMatches === 0
  })
}

function anyCase(application: Part, grammar: Grammar): Part {
  const expected = ruleOf(grammar, 'caseInsensitive').body.substituteParams(application.args)
  const token = { pattern: patternOf(application, grammar), written: application }
  return evaluated(token, reading(token, refusing(expected)))
}

const refusing =
  (expected: Part): Evaluate =>
  (state) => {
    state.processFailure(state.inputStream.pos, expected)
    return false
  }

type Evaluate = Part['eval']

const Terminal = pexprs.Terminal as unknown as new (text: string) => Part
const Apply = pexprs.Apply as unknown as new (rule: string) => Part
const Seq = pexprs.Seq as unknown as new (factors: readonly Part[]) => Part

function evaluated(token: Token, evaluate: Evaluate): Part {
  return Object.assign(new Terminal(''), { token, eval: evaluate })
}

function reading({ pattern }: Token, refuse: Evaluate): Evaluate {
  const text = new Terminal('')
  return (state) => {
    const { pos } = state.inputStream
    pattern.lastIndex = pos
    if (!pattern.test(state.input)) return refuse(state)
    text.obj = state.input.slice(pos, pattern.lastIndex)
    return text.eval(state)
  }
}

const patternOf = (part: Part, grammar: Grammar) =>
  new RegExp(enclosed(translate(part, { grammar, groups: { count: 0 } })), 'uy')

/** A set is written without its brackets: `a-z`. */
interface Pattern {
  readonly text: string
  readonly kind: 'set' | 'choice' | 'plain'
}

/** As a pattern in which sets and choices are not yet enclosed. */
function translate(part: Part, { grammar, groups }: Context): Pattern {
  const inner = (other: Part) => translate(other, { grammar, groups })
  const { Range, UnicodeChar, Alt, Seq, Iter, Not, Lookahead, Apply } = pexprs
  if (part === (pexprs.any as unknown)) return plain('[^]')
  if (part === (pexprs.end as unknown)) return plain('$')
  if (is(part, pexprs.Terminal)) {
    const characters = Array.from(part.obj, escaped)
    return characters.length === 1
      ? { text: characters[0]!, kind: 'set' }
      : plain(characters.join(''))
  }
  if (is(part, Range)) return { text: `${escaped(part.from)}-${escaped(part.to)}`, kind: 'set' }
  if (is(part, UnicodeChar)) return { text: part.pattern.source.replaceAll('|', ''), kind: 'set' }
  if (is(part, Alt)) {
    const terms = part.terms.map(inner)
    if (terms.every(({ kind }) => kind === 'set'))
      return { text: terms.map(({ text }) => text).join(''), kind: 'set' }
    return { text: terms.map(enclosed).join('|'), kind: 'choice' }
  }
  if (is(part, Seq))
    return plain(part.factors.map((factor) => atomic(inner(factor), groups)).join(''))
  if (is(part, Iter)) {
    const { minNumMatches: least, maxNumMatches: most } = part
    const times = most === 1 ? '?' : least === 0 ? '*' : '+'
    return { text: `${enclosed(inner(part.expr!))}${times}`, kind: 'choice' }
  }
  if (is(part, Not)) return plain(`(?!${enclosed(inner(part.expr!))})`)
  if (is(part, Lookahead)) return plain(`(?=${enclosed(inner(part.expr!))})`)
  if (is(part, Apply) && part.args.length === 0) return inner(ruleOf(grammar, part.ruleName).body)
  if (is(part, Apply) && part.ruleName === 'caseInsensitive')
    return plain(Array.from(part.args[0]!.obj, inAnyCase).join(''))
  throw new Error('a rule that is read in one step is not regular')
}

interface Context {
  readonly grammar: Grammar
  /** How many groups have been numbered. */
  readonly groups: { count: number }
}

const plain = (text: string): Pattern => ({ text, kind: 'plain' })

const enclosed = ({ text, kind }: Pattern) => (kind === 'set' ? `[${text}]` : `(?:${text})`)

function atomic(pattern: Pattern, groups: Context['groups']): string {
  if (pattern.kind !== 'choice') return enclosed(pattern)
  const group = `g${++groups.count}`
  return `(?=(?<${group}>${pattern.text}))\\k<${group}>`
}

const inAnyCase = (letter: string) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`

const escaped = (character: string) => `\\u{${character.codePointAt(0)!.toString(16)}}`
