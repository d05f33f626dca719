// Makes the rules of a grammar that are tokens fast. Ohm reads a rule character by character, with several objects for
// each: without this file a list of 1,000 numbers after `in` takes 13.5 ms instead of 1.7, a small filter 75 us instead
// of 20, and queries with $filter and $apply cost up to 1.1 of what they do. What a token is stays in the grammar alone:
// its regular expression is made here from the body of its rule.
//
// This is the one file that changes what ohm does: it replaces tokens in bodies of rules by parts whose evaluation is
// its own. `npm run bench -- --only odata-language` shows what a request costs.
//
// A parsing expression never takes back what it has matched, while a regular expression does. So each repetition and
// each choice that is followed by something stands in an atomic group, which JavaScript writes
// (?=(?<group>…))\k<group>.

import { type Grammar, type PExpr, pexprs } from 'ohm-js'

/** What the types of ohm-js leave out: the parts of a parsing expression, and how it is evaluated. */
interface Part {
  obj: string
  readonly from: string
  readonly to: string
  factors: readonly Part[]
  terms: readonly Part[]
  expr?: Part
  readonly minNumMatches: number
  readonly maxNumMatches: number
  readonly ruleName: string
  readonly args: readonly Part[]
  eval(state: State): boolean
  substituteParams(args: readonly Part[]): Part
}

interface State {
  readonly input: string
  readonly inputStream: { readonly pos: number }
  eval(part: Part): boolean
  processFailure(position: number, expected: Part): void
}

interface Rule {
  body: Part
  readonly description?: string
}

const ruleOf = (grammar: Grammar, name: string) => grammar.rules[name] as unknown as Rule

const is = (part: Part, kind: new (...any: never) => PExpr) => (part as unknown) instanceof kind

const Terminal = pexprs.Terminal as unknown as new (text: string) => Part
const Apply = pexprs.Apply as unknown as new (rule: string) => Part

/**
 * Changes `grammar`: the rules `names` and case-insensitive words are read in one step, and where they are used they are
 * a terminal, the whole of their text. Throws when a rule is not regular. What was expected where one does not match is
 * said by its description, else by its body.
 */
export function readInOneStep(grammar: Grammar, names: readonly string[]): void {
  const tokens = new Map(names.map((name) => [name, tokenOf(grammar, name)]))
  const inPlace = (part: Part): Part => {
    if (is(part, pexprs.Apply))
      return part.ruleName === 'caseInsensitive'
        ? anyCase(grammar, part)
        : (tokens.get(part.ruleName) ?? part)
    if (is(part, pexprs.Alt)) part.terms = part.terms.map(inPlace)
    else if (is(part, pexprs.Seq)) part.factors = part.factors.map(inPlace)
    else if (part.expr !== undefined) part.expr = inPlace(part.expr)
    return part
  }
  for (const name of Object.keys(grammar.rules)) {
    const rule = ruleOf(grammar, name)
    rule.body = inPlace(rule.body)
  }
  for (const [name, token] of tokens) ruleOf(grammar, name).body = token
}

function tokenOf(grammar: Grammar, name: string): Part {
  const { body, description } = ruleOf(grammar, name)
  const pattern = patternOf(body, grammar)
  return description === undefined
    ? token(pattern, (state) => state.eval(body))
    : token(pattern, refusing(new Apply(name)))
}

function anyCase(grammar: Grammar, application: Part): Part {
  const expected = ruleOf(grammar, 'caseInsensitive').body.substituteParams(application.args)
  return token(patternOf(application, grammar), refusing(expected))
}

type Evaluate = Part['eval']

const refusing =
  (expected: Part): Evaluate =>
  (state) => {
    state.processFailure(state.inputStream.pos, expected)
    return false
  }

function token(pattern: RegExp, refuse: Evaluate): Part {
  const text = new Terminal('')
  return Object.assign(new Terminal(''), {
    eval(state: State): boolean {
      const { pos } = state.inputStream
      pattern.lastIndex = pos
      if (!pattern.test(state.input)) return refuse(state)
      text.obj = state.input.slice(pos, pattern.lastIndex)
      return text.eval(state)
    },
  })
}

const patternOf = (body: Part, grammar: Grammar) =>
  new RegExp(enclosed(translate(body, grammar)), 'uy')

/** A set is written without its brackets: `a-z`. */
interface Pattern {
  readonly text: string
  readonly kind: 'set' | 'choice' | 'plain'
}

/** A pattern in which sets and choices are not yet enclosed. */
function translate(part: Part, grammar: Grammar): Pattern {
  const inner = (other: Part) => translate(other, grammar)
  const { Range, Alt, Seq, Iter, Not, Lookahead } = pexprs
  if (part === (pexprs.any as unknown)) return plain('[^]')
  if (part === (pexprs.end as unknown)) return plain('$')
  if (is(part, pexprs.Terminal)) {
    const characters = Array.from(part.obj, escaped)
    return characters.length === 1
      ? { text: characters[0]!, kind: 'set' }
      : plain(characters.join(''))
  }
  if (is(part, Range)) return { text: `${escaped(part.from)}-${escaped(part.to)}`, kind: 'set' }
  if (is(part, Alt)) {
    const terms = part.terms.map(inner)
    if (terms.every(({ kind }) => kind === 'set'))
      return { text: terms.map(({ text }) => text).join(''), kind: 'set' }
    return { text: terms.map(enclosed).join('|'), kind: 'choice' }
  }
  if (is(part, Seq)) return plain(part.factors.map((factor) => atomic(inner(factor))).join(''))
  if (is(part, Iter)) {
    const { minNumMatches: least, maxNumMatches: most } = part
    const times = most === 1 ? '?' : least === 0 ? '*' : '+'
    return { text: `${enclosed(inner(part.expr!))}${times}`, kind: 'choice' }
  }
  if (is(part, Not)) return plain(`(?!${enclosed(inner(part.expr!))})`)
  if (is(part, Lookahead)) return plain(`(?=${enclosed(inner(part.expr!))})`)
  if (is(part, pexprs.Apply) && part.ruleName === 'caseInsensitive')
    return plain(Array.from(part.args[0]!.obj, inAnyCase).join(''))
  if (is(part, pexprs.Apply)) return inner(ruleOf(grammar, part.ruleName).body)
  throw new Error('a rule that is read in one step is not regular')
}

const plain = (text: string): Pattern => ({ text, kind: 'plain' })

const enclosed = ({ text, kind }: Pattern) => (kind === 'set' ? `[${text}]` : `(?:${text})`)

/** Each has a name of its own. */
let groups = 0

function atomic(pattern: Pattern): string {
  if (pattern.kind !== 'choice') return enclosed(pattern)
  const group = `g${++groups}`
  return `(?=(?<${group}>${pattern.text}))\\k<${group}>`
}

const inAnyCase = (letter: string) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`

const escaped = (character: string) => `\\u{${character.codePointAt(0)!.toString(16)}}`
