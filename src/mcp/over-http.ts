// Streamable HTTP without sessions: each POST has one message and gets its answer as JSON, so nothing is kept of a client
// and any process can answer.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../core/limits.ts'
import { readBody } from '../http/body.ts'
import { RequestError } from '../http/request-error.ts'
import { sendText } from '../http/respond.ts'
import type { AskedService, SideDoor } from '../http/side-door.ts'
import { answerMessage, protocolVersions } from './answer-message.ts'
import type { AssistantOptions } from './conversation.ts'

const ASSISTANT_PATH = '/mcp'

interface DoorOptions extends AssistantOptions {
  /** The origins of web pages that may ask, as for the service. `*` stands for any. */
  readonly origins: readonly string[]
}

export function openDoor(options: DoorOptions): SideDoor {
  return {
    path: ASSISTANT_PATH,
    async handle(request, response, service) {
      requireOrigin(request, options.origins)
      requireHead(request)
      const text = (await readBody(response, limits.assistantMessageBytes)).toString('utf8')
      const answer = await answerMessage({ ...options, service, gone: service.gone }, text)
      send(response, service, answer)
    },
  }
}

function send(response: ServerResponse, { gone }: AskedService, answer: string | null): void {
  if (gone.aborted) response.destroy()
  else if (answer === null) response.writeHead(202, { 'Content-Length': 0 }).end()
  else sendText(response, 200, 'application/json', answer, { 'Cache-Control': 'no-store' })
}

/**
 * Programs send no Origin. A page of another site must not ask with the rights of its visitor, also under a name of its
 * own that resolves to this machine (DNS rebinding).
 */
function requireOrigin({ headers }: IncomingMessage, origins: readonly string[]): void {
  const { origin } = headers
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return
  throw new RequestError(
    403,
    'origin-not-allowed',
    `the origin ${origin.slice(0, 60)} is not in odata.cors_origins of eider.yml`,
    { target: 'Origin' },
  )
}

/** Throws 405 also for a GET, which would ask for a stream of messages: this server never speaks first. */
function requireHead({ method = '', headers }: IncomingMessage): void {
  if (method !== 'POST')
    throw new RequestError(405, 'method-not-allowed', `${method} is not allowed here: send POST`, {
      headers: { Allow: 'POST' },
    })
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/json')
    throw new RequestError(415, 'unsupported-media-type', 'a message is sent as application/json', {
      target: 'Content-Type',
    })
  const { accept = '*/*' } = headers
  if (!/\*\/\*|application\/(?:json|\*)/i.test(accept))
    throw new RequestError(406, 'not-acceptable', 'answers are sent as application/json', {
      target: 'Accept',
    })
  const version = headers['mcp-protocol-version']
  if (version !== undefined && !protocolVersions.some((known) => known === version))
    throw new RequestError(
      400,
      'invalid-header',
      `the versions of the protocol are ${protocolVersions.join(', ')}`,
      { target: 'MCP-Protocol-Version' },
    )
}
