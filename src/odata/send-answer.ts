// Puts an answer on the wire: as fast as the client takes it, and never a short body that looks whole.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { limits } from '../core/limits.ts'
import type { Answer } from './answer.ts'
import { ClientGone } from './query.ts'

/**
 * Throws what the body throws, with the response begun but not ended: the caller destroys it. Throws ClientGone when
 * the client closes the connection before it has everything; `gone` is aborted then.
 */
export async function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  gone: AbortSignal,
): Promise<void> {
  const isHead = response.req.method === 'HEAD'
  if (body === null || Buffer.isBuffer(body)) {
    const length = body === null ? {} : { 'Content-Length': body.length }
    response.writeHead(status, { ...headers, ...length })
    response.end(isHead ? null : body)
    return
  }
  response.writeHead(status, headers)
  if (!isHead)
    for await (const bytes of body) {
      if (gone.aborted) throw new ClientGone()
      response.write(bytes)
      if (response.writableLength > limits.sendAheadBytes) await drained(response, gone)
    }
  response.end()
}

async function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  try {
    await once(response, 'drain', { signal: gone })
  } catch (error) {
    throw gone.aborted ? new ClientGone() : error
  }
}
