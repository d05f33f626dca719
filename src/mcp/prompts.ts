// Beginnings of conversations that a person can choose from.

import { isObject } from '../core/object.ts'
import { ProtocolError } from './messages.ts'

interface Prompt {
  readonly title: string
  readonly description: string
  readonly argument: { readonly name: string; readonly description: string }
  readonly text: (value: string) => string
}

const prompts: Readonly<Record<string, Prompt>> = {
  answer_question: {
    title: 'Answer a question',
    description: 'A number or a table from the published data, with its proof',
    argument: { name: 'question', description: 'What you want to know' },
    text: (question) => `Answer this question from the data: ${question}

1. Call list_sets and choose the sets that are about it.
2. Call describe_set for each of them. Mind descriptions, checks that warned or failed, and how fresh it is.
3. Call query. Aggregate with apply, and don't add up rows yourself.
4. Give the answer with the "request" URL and the snapshot as its proof, and say what was cut, if anything.

If the sets cannot answer it, say so and what is missing.`,
  },
  explain_set: {
    title: 'Explain a set',
    description: 'What a set has in it, where it comes from and how good it is',
    argument: { name: 'set', description: 'The name of the set, such as mart_sales' },
    text: (set) => `Explain the set ${set} to somebody who has not seen it.

Call describe_set, then query with top 5. Say what a row is, what the columns mean, which other sets it leads to, where its values come from, how fresh it is and what its checks say.`,
  },
}

export const listPrompts = () => ({
  prompts: Object.entries(prompts).map(([name, { title, description, argument }]) => ({
    name,
    title,
    description,
    arguments: [{ ...argument, required: true }],
  })),
})

/** Throws ProtocolError. */
export function getPrompt(name: unknown, given: unknown) {
  const prompt =
    typeof name === 'string' && Object.hasOwn(prompts, name) ? prompts[name] : undefined
  if (prompt === undefined)
    throw new ProtocolError(
      'invalid-params',
      `there is no such prompt; there are ${Object.keys(prompts).join(', ')}`,
    )
  const value = isObject(given) ? given[prompt.argument.name] : undefined
  if (typeof value !== 'string')
    throw new ProtocolError('invalid-params', `"${prompt.argument.name}" must be a string`)
  const content = { type: 'text', text: prompt.text(value) }
  return { description: prompt.description, messages: [{ role: 'user', content }] }
}
