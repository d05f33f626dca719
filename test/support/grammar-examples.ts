// Runs the examples that stand above the rules of a grammar: `//+ "text"` must be accepted by the rule as a whole,
// `//- "text"` must be refused. The text is a JSON string, or several with commas between them. A rule without
// examples is a fault.

import type { Grammar } from 'ohm-js'

interface Example {
  readonly text: string
  readonly accepted: boolean
}

/** What is wrong, one line each; empty when every rule has examples and all of them hold. */
export function faultsOfExamples(source: string, grammar: Grammar): readonly string[] {
  const examples = examplesOf(source)
  return rulesOf(grammar).flatMap((name) => {
    const own = examples.get(name) ?? []
    if (!own.some(({ accepted }) => accepted)) return [`${name}: no example that is accepted`]
    return own.flatMap(({ text, accepted }) => {
      const match = grammar.match(text, name)
      if (match.failed() && accepted)
        return [`${name}: refuses ${JSON.stringify(text)}: ${match.shortMessage}`]
      return match.succeeded() && !accepted ? [`${name}: accepts ${JSON.stringify(text)}`] : []
    })
  })
}

/**
 * The grammar's own rules. Left out are rules with parameters, which no match can begin with, and the cases of a rule,
 * which ohm names `rule_case`.
 */
function rulesOf({ rules }: Grammar): readonly string[] {
  const names = Object.keys(rules)
  const isCase = (name: string) => names.some((rule) => name.startsWith(`${rule}_`))
  return names.filter((name) => rules[name]!.formals.length === 0 && !isCase(name))
}

/** The examples above each rule. */
export function examplesOf(source: string): ReadonlyMap<string, readonly Example[]> {
  const byRule = new Map<string, readonly Example[]>()
  let open: Example[] = []
  for (const line of source.split('\n').map((text) => text.trim())) {
    if (/^\/\/[+-]/.test(line)) {
      const texts = JSON.parse(`[${line.slice(3)}]`) as readonly string[]
      open.push(...texts.map((text) => ({ text, accepted: line[2] === '+' })))
    } else if (line !== '' && !line.startsWith('//')) {
      const name = /^\w+/.exec(line)?.[0]
      if (name !== undefined && open.length > 0) byRule.set(name, open)
      open = []
    }
  }
  return byRule
}
