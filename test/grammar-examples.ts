// Runs the examples that stand above the rules of a grammar: `//+ "text"` must be accepted by the rule as a whole,
// `//- "text"` must be refused. The text is a JSON string, or several with commas between them. A rule without
// examples is a fault.

import type { Grammar } from 'ohm-js'

interface Rule {
  readonly name: string
  readonly examples: readonly { readonly text: string; readonly accepted: boolean }[]
}

/** What is wrong, one line each; empty when every rule has examples and all of them hold. */
export function faultsOfExamples(source: string, grammar: Grammar): readonly string[] {
  return rulesOf(source).flatMap(({ name, examples }) => {
    if (!examples.some(({ accepted }) => accepted)) return [`${name}: no example that is accepted`]
    return examples.flatMap(({ text, accepted }) => {
      const match = grammar.match(text, name)
      if (match.failed() && accepted)
        return [`${name}: refuses ${JSON.stringify(text)}: ${match.shortMessage}`]
      return match.succeeded() && !accepted ? [`${name}: accepts ${JSON.stringify(text)}`] : []
    })
  })
}

/** The rules of a grammar's text with the examples directly above them. */
export function rulesOf(source: string): readonly Rule[] {
  const rules: Rule[] = []
  let examples: { text: string; accepted: boolean }[] = []
  for (const line of source.split('\n').map((text) => text.trim())) {
    const example = /^\/\/([+-])\s*(".*")$/.exec(line)
    if (example) {
      for (const text of JSON.parse(`[${example[2]!}]`) as readonly string[])
        examples.push({ text, accepted: example[1] === '+' })
      continue
    }
    if (/^\/\/[+-]/.test(line)) throw new Error(`no JSON string in an example: ${line}`)
    // A rule with parameters is no start of a match; the rules that apply it show what it does.
    const name = /^(\w+)\s*(?:\([^)]*\)\s*)?(?:=|\+=|:=)(?!=)/.exec(line)?.[1]
    if (name !== undefined) rules.push({ name, examples })
    if (!line.startsWith('//') && line !== '') examples = []
  }
  return rules
}
