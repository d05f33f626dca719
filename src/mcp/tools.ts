// The tools of an assistant. None takes SQL or a file name: what they tell is what the service tells a client.

import { RequestError } from '../http/request-error.ts'
import { type Parameters, schemaOf, checkedArguments, ToolMistake } from './arguments.ts'
import type { Conversation } from './conversation.ts'
import { describeText, listText } from './descriptions.ts'
import { ProtocolError } from './messages.ts'
import { answerTool, queryParameters } from './query.ts'

interface Tool<P extends Parameters> {
  readonly title: string
  readonly description: string
  readonly parameters: P
}

const listSets = {
  title: 'List the sets',
  description:
    'The entity sets that can be asked, with their rows, descriptions and measures. Begin here.',
  parameters: {
    search: {
      type: 'string',
      description: 'Only sets with this text in their name, description, columns or measures',
    },
  },
} as const satisfies Tool<Parameters>

const describeSet = {
  title: 'Describe a set',
  description:
    'Columns with types and descriptions, key, navigation, checks with their results, freshness and lineage of one set. Ask this before a query.',
  parameters: {
    set: { type: 'string', required: true, description: 'The name of the set, such as mart_sales' },
  },
} as const satisfies Tool<Parameters>

const query = {
  title: 'Ask by OData',
  description:
    'Rows or aggregates of a set, by an OData 4.01 request. Aggregate with apply instead of reading many rows. The answer has the request as a URL that anybody can repeat, the snapshot it is of, and what was cut.',
  parameters: queryParameters,
} as const satisfies Tool<Parameters>

const tools = { list_sets: listSets, describe_set: describeSet, query } as const

export const listTools = () => ({
  tools: Object.entries(tools).map(([name, { title, description, parameters }]) => ({
    name,
    title,
    description,
    inputSchema: schemaOf(parameters),
    annotations: { title, readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  })),
})

/** Throws ProtocolError for a tool that is not there. Whatever is wrong with the call is a result. */
export async function callTool(conversation: Conversation, name: unknown, given: unknown) {
  if (typeof name !== 'string' || !Object.hasOwn(tools, name))
    throw new ProtocolError(
      'invalid-params',
      `there is no tool "${String(name).slice(0, 60)}"; there are ${Object.keys(tools).join(', ')}`,
    )
  try {
    return textResult(await toolText(conversation, name as keyof typeof tools, given))
  } catch (error) {
    if (error instanceof ToolMistake) return { ...textResult(error.message), isError: true }
    if (!(error instanceof RequestError)) throw error
    const { code, message, target } = error
    const at = target === undefined ? '' : `, at ${target}`
    return { ...textResult(`${message} (${code}${at})`), isError: true }
  }
}

const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

async function toolText(
  conversation: Conversation,
  name: keyof typeof tools,
  given: unknown,
): Promise<string> {
  const { service, gone } = conversation
  switch (name) {
    case 'list_sets': {
      const { search = '' } = checkedArguments(listSets.parameters, given)
      return await setsText(conversation, search)
    }
    case 'describe_set': {
      const { set } = checkedArguments(describeSet.parameters, given)
      return await setText(conversation, set)
    }
    case 'query':
      return await answerTool(service, checkedArguments(query.parameters, given), gone)
    default:
      throw new Error(`nothing answers the tool ${String(name satisfies never)}`)
  }
}

/** Throws ToolMistake before anything is published. */
export async function setsText({ service }: Conversation, search: string): Promise<string> {
  return listText((await service.seen()) ?? nothingYet(), search)
}

/** Throws ToolMistake, also for a set that is not there for who asks. */
export async function setText({ service, catalogOf }: Conversation, set: string): Promise<string> {
  const state = (await service.seen()) ?? nothingYet()
  return describeText(state, await catalogOf(state.snapshot, state.part), set)
}

function nothingYet(): never {
  throw new ToolMistake('nothing is published yet; "eider run" publishes')
}
