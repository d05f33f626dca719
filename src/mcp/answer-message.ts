// What a server of the Model Context Protocol answers, whatever carries the messages. It keeps nothing between two of
// them, so each can come over another connection.

import type { Conversation } from './conversation.ts'
import {
  errorMessage,
  idIn,
  type Message,
  parseMessage,
  ProtocolError,
  resultText,
} from './messages.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, listTemplates, readResource } from './resources.ts'
import { callTool, listTools } from './tools.ts'

/** Newest first; the newest is what a client gets that asks for another one. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** The answer to one message as a line of JSON; null where there is none. `text` may be anything. */
export async function answerMessage(
  conversation: Conversation,
  text: string,
): Promise<string | null> {
  let message: Message | null
  try {
    message = parseMessage(text)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return errorMessage(idIn(text), error)
  }
  if (message === null || message.id === null) return null
  const { id } = message
  try {
    return resultText(id, await resultOf(conversation, message))
  } catch (error) {
    if (conversation.gone.aborted) return null
    if (error instanceof ProtocolError) return errorMessage(id, error)
    conversation.onFailure(error)
    const shown = new ProtocolError(
      'internal-error',
      'the request failed; the log of the server says why',
    )
    return errorMessage(id, shown)
  }
}

type Answer = (conversation: Conversation, params: Message['params']) => object | Promise<object>

const methods = new Map<string, Answer>([
  ['initialize', (conversation, params) => initialized(conversation, params['protocolVersion'])],
  ['ping', () => ({})],
  ['tools/list', listTools],
  ['tools/call', (conversation, { name, arguments: given }) => callTool(conversation, name, given)],
  ['resources/list', (conversation, { cursor }) => listResources(conversation, cursor)],
  ['resources/templates/list', listTemplates],
  ['resources/read', (conversation, { uri }) => readResource(conversation, uri)],
  ['prompts/list', listPrompts],
  ['prompts/get', (_, { name, arguments: given }) => getPrompt(name, given)],
])

async function resultOf(conversation: Conversation, { method, params }: Message): Promise<object> {
  const answer = methods.get(method)
  if (answer !== undefined) return await answer(conversation, params)
  throw new ProtocolError('unknown-method', `there is no method "${method.slice(0, 60)}" here`)
}

function initialized({ version }: Conversation, asked: unknown): object {
  if (typeof asked !== 'string')
    throw new ProtocolError('invalid-params', '"protocolVersion" must be a string')
  return {
    protocolVersion: protocolVersions.find((one) => one === asked) ?? protocolVersions[0],
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'eider', title: 'eider', version },
    instructions: INSTRUCTIONS,
  }
}

const INSTRUCTIONS = `Published tables ("sets"), read-only, by OData 4.01. Call list_sets, then describe_set, then query. Let the service count and add up, with apply: groupby((country),aggregate(amount with sum as total,$count as n)), filter(year(ordered_at) eq 2026)/aggregate(amount with average as mean). A measure that describe_set lists is asked by its name: groupby((country),aggregate(revenue)). orderby, top and filter then see the result of apply. Text in single quotes ('O''Neil'), times as 2026-01-31T00:00:00Z. Each answer is of one snapshot and has a "request" URL: give it with every number, as its proof. "cut" says that rows are missing: never add up what is cut.`
