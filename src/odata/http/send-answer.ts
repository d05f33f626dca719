// Puts an answer on the wire: as fast as the client takes it, and never a short body that looks whole.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { limits } from '../../core/limits.ts'
import { isCompressed } from '../protocol/formats.ts'
import { type AcceptedCodings, compressParts } from '../../http/content-coding.ts'
import type { Answers } from './answers.ts'
import type { Answer } from '../answer/context.ts'
import { ClientGone } from '../engine/query.ts'

interface Receiver {
  readonly gone: AbortSignal
  readonly codings: AcceptedCodings
  readonly answers: Pick<Answers, 'compress'>
  readonly stalledClientMs: number
  /** Called with the bytes of the body that are handed to the socket. */
  readonly onBytes: (bytes: number) => void
}

/**
 * Throws what the body throws, with the response begun but not ended: the caller destroys it. Throws ClientGone when
 * the client closes the connection before it has everything.
 */
export async function sendAnswer(
  response: ServerResponse,
  { status, headers, body, file }: Answer,
  { gone, codings, answers, stalledClientMs, onBytes }: Receiver,
): Promise<void> {
  const isHead = response.req.method === 'HEAD'
  const coding = file === undefined ? codingOf({ headers, body }, codings) : 'identity'
  const coded = coding === 'identity' ? headers : { ...headers, 'Content-Encoding': coding }
  if (body === null || Buffer.isBuffer(body)) {
    const isPlain = body === null || coding === 'identity'
    const bytes = isPlain ? body : await answers.compress(body, coding)
    const length = bytes === null ? {} : { 'Content-Length': bytes.length }
    response.writeHead(status, { ...coded, ...length })
    response.end(isHead ? null : bytes)
    if (!isHead) onBytes(bytes?.length ?? 0)
    return
  }
  response.writeHead(status, coded)
  if (!isHead)
    for await (const bytes of coding === 'identity' ? body : compressParts(body, coding)) {
      if (gone.aborted) throw new ClientGone()
      response.write(bytes)
      onBytes(bytes.length)
      if (response.writableLength > limits.sendAheadBytes)
        await drained(response, gone, stalledClientMs)
    }
  response.end()
}

/** What fits into a packet gains nothing. */
function codingOf(
  { headers, body }: Pick<Answer, 'headers' | 'body'>,
  { best, identity }: AcceptedCodings,
) {
  if (body === null) return 'identity'
  if (!identity) return best
  const isSmall = Buffer.isBuffer(body) && body.length < limits.compressedBytes
  return isSmall || isCompressed(headers['Content-Type']) ? 'identity' : best
}

/** The server closes the connection of a client that takes nothing meanwhile. */
async function drained(response: ServerResponse, gone: AbortSignal, stalledMs: number) {
  const { socket } = response
  socket?.setTimeout(stalledMs)
  try {
    await once(response, 'drain', { signal: gone })
  } catch (error) {
    throw gone.aborted ? new ClientGone() : error
  } finally {
    socket?.setTimeout(limits.socketIdleMs)
  }
}
