// The admin port: the flush protocol for runs on this machine. See admin-protocol.ts for the bodies.

import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { locationOf } from '../../buffer/claim-source.ts'
import type { EventBuffer } from '../../buffer/buffer.ts'
import { errorCode } from '../../buffer/errors.ts'
import type { SegmentClaim } from '../../buffer/queue.ts'
import { limits } from '../../core/limits.ts'
import { type ModelName, parseModelName } from '../../core/names.ts'
import { isLoopback } from '../../http/auth.ts'
import { readBody } from '../../http/body.ts'
import { METRICS_TYPE } from '../../http/prometheus.ts'
import { sendJson, sendText } from '../../http/respond.ts'
import type { Handler } from '../../http/server.ts'
import { type ClaimBody, SERVICE } from './admin-protocol.ts'
import { bufferRefusal } from '../buffer-refusal.ts'
import { refusal } from '../errors.ts'
import { backlogOf, type Vitals } from '../backlog.ts'
import { healthOf } from '../health.ts'
import { writeMetrics } from '../metrics.ts'
import { notFound, requireMethod, splitPath } from '../path.ts'
import { unknownTarget } from '../targets.ts'

export function createAdmin(vitals: Vitals): Handler {
  return async (request, response) => {
    requireLocalProgram(request)
    try {
      await route(vitals, request, response)
    } catch (error) {
      throw bufferRefusal(error)
    }
  }
}

/** Web pages reach 127.0.0.1 too: by a form, or by a host name that resolves to it. They show in Origin and Host. */
function requireLocalProgram(request: IncomingMessage): void {
  const { host = '', origin } = request.headers
  const address = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '')
  if (isLoopback(address) && isLoopback(host.replace(/:\d*$/, '')) && origin === undefined) return
  throw refusal('not-local', 'the admin port is for programs on this machine')
}

async function route(
  vitals: Vitals,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { buffer, bufferDir } = vitals
  const segments = splitPath(request.url!)
  const [room, schema, table, action = '', id] = segments
  if (room === 'health' && segments.length === 1) {
    requireMethod(request.method, ['GET', 'HEAD'])
    const health = await healthOf(vitals)
    const status = health.status === 'ok' ? 200 : 503
    return sendJson(response, status, { service: SERVICE, buffer: bufferDir, ...health })
  }
  if (room === 'metrics' && segments.length === 1) {
    requireMethod(request.method, ['GET', 'HEAD'])
    const text = await writeMetrics(buffer, await healthOf(vitals), vitals.traffic)
    return sendText(response, 200, METRICS_TYPE, text)
  }
  if (room !== 'flush') throw notFound(request.url!)
  if (segments.length === 1) {
    requireMethod(request.method, ['GET', 'HEAD'])
    return sendJson(response, 200, { targets: backlogOf(vitals) })
  }
  const isClaimPath = segments.length === 5 && action === 'claims'
  if (!isClaimPath && (segments.length !== 4 || !Object.hasOwn(ACTIONS, action)))
    throw notFound(request.url!)
  requireMethod(request.method, isClaimPath || action === 'inflight' ? ['GET', 'HEAD'] : ['POST'])
  const target = knownTarget(vitals, schema!, table!)
  if (isClaimPath) return sendClaim(vitals, response, target, id!)
  const body = await ACTIONS[action as keyof typeof ACTIONS](buffer, target, response)
  sendJson(response, 200, body)
}

/** A model may be gone while its events still wait; they stay within reach. */
function knownTarget({ buffer, served }: Vitals, schema: string, table: string): ModelName {
  const known = new Set([...served.validators.keys(), ...buffer.stats().targets.keys()])
  const target = parseModelName(`${schema}.${table}`)
  if (target === null || !known.has(target)) throw unknownTarget(schema, table, known)
  return target
}

const ACTIONS = {
  async claim(buffer: EventBuffer, target: ModelName) {
    const claim = await buffer.claim(target)
    return claim === null ? { claim_id: null } : claimBody(claim)
  },
  async ack(buffer: EventBuffer, target: ModelName, response: ServerResponse) {
    const id = await readClaimId(response)
    return { claim_id: id, removed: await buffer.ack({ id, target }) }
  },
  async nack(buffer: EventBuffer, target: ModelName, response: ServerResponse) {
    const id = await readClaimId(response)
    return { claim_id: id, returned: await buffer.nack({ id, target }) }
  },
  async repair(buffer: EventBuffer, target: ModelName, response: ServerResponse) {
    const claim = await buffer.repair({ id: await readClaimId(response), target })
    return claim === null ? { claim_id: null } : claimBody(claim)
  },
  async inflight(buffer: EventBuffer, target: ModelName) {
    const claims = await buffer.inflight(target)
    return {
      claims: claims.map((claim) => ({ ...claimBody(claim), claimed_at: claim.claimedAt })),
    }
  },
}

function claimBody(claim: SegmentClaim): ClaimBody {
  const { id, target, events, bytes, firstSeq, lastSeq, oldest, newest } = claim
  const seqs = { first_seq: firstSeq, last_seq: lastSeq }
  const path = locationOf(claim)
  const body = { claim_id: id, target, events, bytes, path, ...seqs, oldest, newest }
  const { oldestSegment: oldest_segment, opening, collector } = claim
  return { ...body, oldest_segment, opening, collector }
}

async function readClaimId(response: ServerResponse): Promise<string> {
  const text = (await readBody(response, limits.adminBodyBytes)).toString()
  try {
    const { claim_id: id } = JSON.parse(text) as { claim_id?: unknown }
    if (typeof id === 'string') return id
  } catch {
    // answered below, like a body of another shape
  }
  throw refusal('bad-claim-request', 'the body must be {"claim_id": "…"}', { target: 'claim_id' })
}

const MARKER = '{"$commit":'

/** The events of an open claim as NDJSON, one `{"s": number, "t": time, "e": event}` a line, for people and tools. */
async function sendClaim(
  { buffer }: Vitals,
  response: ServerResponse,
  target: ModelName,
  id: string,
): Promise<void> {
  const found = buffer.findClaim({ id, target })
  // Of a group that has changed on disk nothing is shown, as no run takes it.
  const claim = found === null ? null : await buffer.verify(found)
  if (claim === null) throw refusal('unknown-claim', `the claim "${id}" is no longer open`)
  const file = await open(locationOf(claim))
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
  try {
    await pipeline(file.createReadStream(), withoutMarkers, response)
  } catch (error) {
    // Otherwise the client has left.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

async function* withoutMarkers(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    const events = lines.filter((line) => !line.startsWith(MARKER))
    if (events.length > 0) yield `${events.join('\n')}\n`
  }
}
