// The same descriptions as the tools give, for clients that let a person choose what an assistant reads.

import { limits } from '../core/limits.ts'
import { entitySetName } from '../core/names.ts'
import { ToolMistake } from './arguments.ts'
import type { Conversation } from './conversation.ts'
import { ProtocolError } from './messages.ts'
import { setsText, setText } from './tools.ts'

const CATALOG = 'eider://catalog'
const OF_A_SET = 'eider://sets/'
const TEXT = 'text/plain'

/** A page of them. The cursor is the name of the last set before it. */
export async function listResources({ service }: Conversation, cursor: unknown) {
  if (cursor !== undefined && typeof cursor !== 'string')
    throw new ProtocolError('invalid-params', '"cursor" must be a string')
  const relations = (await service.seen())?.snapshot.relations ?? []
  const sets = relations
    .map(({ model, description }) => ({ name: entitySetName(model), description }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const left = cursor === undefined ? sets : sets.filter(({ name }) => name > cursor)
  const shown = left.slice(0, limits.assistantResources)
  const catalog = { uri: CATALOG, name: 'catalog', title: 'All sets', mimeType: TEXT }
  const more = left.length > shown.length ? { nextCursor: shown.at(-1)!.name } : {}
  return {
    resources: [
      ...(cursor === undefined ? [catalog] : []),
      ...shown.map(({ name, description }) => ({
        uri: OF_A_SET + name,
        name,
        mimeType: TEXT,
        ...(description === null ? {} : { description: description.slice(0, 200) }),
      })),
    ],
    ...more,
  }
}

export const listTemplates = () => ({
  resourceTemplates: [
    {
      uriTemplate: `${OF_A_SET}{set}`,
      name: 'set',
      title: 'A set with its columns, checks, freshness and lineage',
      mimeType: TEXT,
    },
  ],
})

/** Throws ProtocolError for what is not there for who asks. */
export async function readResource(conversation: Conversation, uri: unknown) {
  try {
    const text = await resourceText(conversation, uri)
    return { contents: [{ uri, mimeType: TEXT, text }] }
  } catch (error) {
    if (!(error instanceof ToolMistake)) throw error
    throw new ProtocolError('unknown-resource', error.message)
  }
}

async function resourceText(conversation: Conversation, uri: unknown): Promise<string> {
  if (typeof uri !== 'string') throw new ProtocolError('invalid-params', '"uri" must be a string')
  if (uri === CATALOG) return await setsText(conversation, '')
  if (uri.startsWith(OF_A_SET)) return await setText(conversation, uri.slice(OF_A_SET.length))
  throw new ToolMistake(`there is no resource "${uri.slice(0, 60)}"; resources/list lists them`)
}
