// Reads text by the rules of a grammar, as ohm would, in a fraction of its time: each parsing expression becomes a
// function once. What is read here is a text without mistakes; what is wrong with another text, ohm says.
//
// Ohm notes for each rule and position what was expected there, and makes a node, a wrapper and an interval of it. Here
// a match has nodes alone, choices are made by the next character, and results are remembered only of rules that can
// hold themselves, without which nested text would be read again and again.

import { type Grammar, pexprs } from 'ohm-js'
import { characterClass, CLASSES, firstCharacters } from './first-characters.ts'
import { is, type Part, ruleOf } from './grammar-parts.ts'
import { MatchNode } from './match-nodes.ts'

/** A text that is being read. */
interface Reading {
  readonly text: string
  /** By position and rule; null where the rule does not match. */
  readonly known: Map<number, MatchNode | null>
}

/** Where the part ends that begins at `at`, with its nodes added to `nodes`; NONE, with any nodes, if it doesn't match. */
type Read = (reading: Reading, at: number, nodes: MatchNode[]) => number

const NONE = -1

/** The match of the whole text by a rule of the grammar, or null. */
export type RuleReader = (rule: string, text: string) => MatchNode | null

/**
 * `meant` are the rules of which actions exist. A rule without one that has one child has no meaning itself, and no node.
 */
export function ruleReader(grammar: Grammar, meant: ReadonlySet<string>): RuleReader {
  const compiler = new Compiler(grammar, meant)
  return (rule, text) => {
    const nodes: MatchNode[] = []
    const end = compiler.rule(rule)({ text, known: new Map() }, 0, nodes)
    return end === text.length ? nodes[0]! : null
  }
}

class Compiler {
  readonly #grammar: Grammar
  readonly #meant: ReadonlySet<string>
  readonly #rules = new Map<string, Read>()

  constructor(grammar: Grammar, meant: ReadonlySet<string>) {
    this.#grammar = grammar
    this.#meant = meant
  }

  /** Its parts are made functions when it is first read. */
  rule(name: string): Read {
    const known = this.#rules.get(name)
    if (known !== undefined) return known
    const number = this.#rules.size
    const { body } = ruleOf(this.#grammar, name)
    let readBody: Read = (reading, at, nodes) => (readBody = this.#part(body))(reading, at, nodes)
    const isPlain = !this.#meant.has(name) && arityOf(body) === 1
    const read: Read = isPlain
      ? (reading, at, nodes) => readBody(reading, at, nodes)
      : (reading, at, nodes) => {
          const children: MatchNode[] = []
          const end = readBody(reading, at, children)
          if (end !== NONE) nodes.push(new MatchNode(name, reading.text, at, end, children))
          return end
        }
    const made = !isPlain && this.#isRecursive(name) ? remembered(read, number) : read
    this.#rules.set(name, made)
    return made
  }

  #part(part: Part): Read {
    const first = firstCharacters(part, this.#grammar)
    const { Alt, Seq, Iter, Not, Lookahead, Range, Terminal, UnicodeChar } = pexprs
    if (part.token !== undefined) return token(part.token.pattern, first)
    if (part === (pexprs.any as unknown)) return character(() => true)
    if (part === (pexprs.end as unknown))
      return (reading, at, nodes) =>
        terminal(reading, at, at === reading.text.length ? at : NONE, nodes)
    if (is(part, Terminal)) return word(part.obj)
    if (is(part, Range)) {
      const [from, to] = [part.from.codePointAt(0)!, part.to.codePointAt(0)!]
      return character((code) => from <= code && code <= to)
    }
    if (is(part, UnicodeChar))
      return character((code) => part.pattern.test(String.fromCodePoint(code)))
    if (is(part, Alt)) return this.#choice(part.terms)
    if (is(part, Seq)) return sequence(part.factors.map((factor) => this.#part(factor)))
    if (is(part, Iter)) return this.#repetition(part, first)
    if (is(part, Not)) {
      const read = this.#part(part.expr!)
      return (reading, at) => (read(reading, at, []) === NONE ? at : NONE)
    }
    if (is(part, Lookahead)) {
      const read = this.#part(part.expr!)
      return (reading, at, nodes) => (read(reading, at, nodes) === NONE ? NONE : at)
    }
    return this.rule(part.ruleName)
  }

  /** The first that matches, of those that can begin with the next character. */
  #choice(terms: readonly Part[]): Read {
    const reads = terms.map((term) => this.#part(term))
    const firsts = terms.map((term) => firstCharacters(term, this.#grammar))
    const byClass = Array.from({ length: CLASSES }, (_, one) =>
      reads.filter((_read, i) => firsts[i]![one]),
    )
    return (reading, at, nodes) => {
      const { length } = nodes
      for (const read of byClass[characterClass(reading.text, at)]!) {
        const end = read(reading, at, nodes)
        if (end !== NONE) return end
        if (nodes.length > length) nodes.length = length
      }
      return NONE
    }
  }

  /** Has a node for each node of a repetition, whose children are these of all repetitions. */
  #repetition(part: Part, first: readonly boolean[]): Read {
    const { minNumMatches: least, maxNumMatches: most } = part
    const arity = arityOf(part)
    const read = this.#part(part.expr!)
    const begins = least > 0 ? first : firstCharacters(part.expr!, this.#grammar)
    return (reading, at, nodes) => {
      const rows: MatchNode[] = []
      let end = at
      let times = 0
      while (times < most && begins[characterClass(reading.text, end)]) {
        const to = read(reading, end, rows)
        if (to === NONE) {
          rows.length = times * arity
          break
        }
        end = to
        times++
      }
      if (times < least) return NONE
      for (let column = 0; column < arity; column++) {
        const children = arity === 1 ? rows : rows.filter((_, i) => i % arity === column)
        nodes.push(new MatchNode('_iter', reading.text, at, end, children))
      }
      return end
    }
  }

  /** Whether a match of the rule can hold another one of it. */
  #isRecursive(name: string): boolean {
    const seen = new Set<string>()
    const holds = (part: Part): boolean => {
      if (part.token !== undefined) return false
      if (is(part, pexprs.Alt)) return part.terms.some(holds)
      if (is(part, pexprs.Seq)) return part.factors.some(holds)
      if (part.expr !== undefined) return holds(part.expr)
      if (!is(part, pexprs.Apply)) return false
      if (part.ruleName === name) return true
      if (seen.has(part.ruleName)) return false
      seen.add(part.ruleName)
      return holds(ruleOf(this.#grammar, part.ruleName).body)
    }
    return holds(ruleOf(this.#grammar, name).body)
  }
}

/** Of each position a rule is read once. */
function remembered(read: Read, number: number): Read {
  return (reading, at, nodes) => {
    const key = at * MOST_RULES + number
    const known = reading.known.get(key)
    if (known !== undefined) {
      if (known === null) return NONE
      nodes.push(known)
      return known.endIdx
    }
    const end = read(reading, at, nodes)
    reading.known.set(key, end === NONE ? null : nodes.at(-1)!)
    return end
  }
}

/** More than a grammar has. */
const MOST_RULES = 1024

function sequence(reads: readonly Read[]): Read {
  return (reading, at, nodes) => {
    let end = at
    for (const read of reads) {
      end = read(reading, end, nodes)
      if (end === NONE) return NONE
    }
    return end
  }
}

function token(pattern: RegExp, first: readonly boolean[]): Read {
  return (reading, at, nodes) => {
    if (!first[characterClass(reading.text, at)]) return NONE
    pattern.lastIndex = at
    return terminal(reading, at, pattern.test(reading.text) ? pattern.lastIndex : NONE, nodes)
  }
}

function word(text: string): Read {
  const { length } = text
  return (reading, at, nodes) =>
    terminal(reading, at, reading.text.startsWith(text, at) ? at + length : NONE, nodes)
}

function character(fits: (code: number) => boolean): Read {
  return (reading, at, nodes) => {
    const code = reading.text.codePointAt(at)
    if (code === undefined || !fits(code)) return NONE
    return terminal(reading, at, at + (code > LAST_OF_ONE_UNIT ? 2 : 1), nodes)
  }
}

const LAST_OF_ONE_UNIT = 0xffff

function terminal({ text }: Reading, at: number, end: number, nodes: MatchNode[]): number {
  if (end !== NONE) nodes.push(new MatchNode('_terminal', text, at, end, NO_NODES))
  return end
}

const NO_NODES: readonly MatchNode[] = []

const arityOf = (part: Part) => (part as unknown as { getArity(): number }).getArity()
