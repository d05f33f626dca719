// Opening a buffer in a test, and reading it as a run does.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../src/core/logger.ts'
import type { ModelName } from '../../src/core/names.ts'
import { EventBuffer } from '../../src/buffer/buffer.ts'
import { type Claim, locationOf } from '../../src/buffer/claim-source.ts'
import type { KeyLimits } from '../../src/buffer/key-memory.ts'
import { silentLogger } from './silent-logger.ts'
import { modelName } from './model-name.ts'
import type { FakeFiles } from './fake-files.ts'

export const TIME = '2026-03-01T10:00:00.000Z'
export const target = modelName('raw.events')

interface OpenOptions {
  readonly keyLimits?: KeyLimits
  readonly files?: FakeFiles
  readonly segmentBytes?: number
  readonly maxBufferBytes?: number
  readonly logger?: Logger
}

let opened = 0

/**
 * On `files` the buffer is at /buffer, else in the directory. Each buffer on fake files gets a lock of its own, because
 * a process that "died" in a simulated power cut is still this one.
 */
export function openBuffer(directory: string, options: OpenOptions = {}): Promise<EventBuffer> {
  opened += 1
  const { files, ...rest } = options
  return EventBuffer.open({
    dir: files === undefined ? join(directory, 'buffer') : '/buffer',
    lockFile: join(directory, files === undefined ? 'collect.lock' : `${opened}.lock`),
    maxBufferBytes: 1e9,
    logger: silentLogger,
    ...(files === undefined ? {} : { files }),
    ...rest,
  })
}

export interface ReadEvent {
  readonly seq: number
  readonly time: string
  readonly event: unknown
}

/** The lines of a segment as the engine sees them: markers have no `s`. Throws for what is not JSON. */
export function readEvents(bytes: Buffer): ReadEvent[] {
  const text = bytes.toString()
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { s?: number; t: string; e: unknown })
    .filter(({ s }) => s !== undefined)
    .map(({ s, t, e }) => ({ seq: s as number, time: t, event: e }))
}

/** The events of a claim, after comparing it with its bytes. */
export async function readClaim(claim: Claim, files?: FakeFiles): Promise<ReadEvent[]> {
  const bytes = files?.content(locationOf(claim)) ?? (await readFile(new URL(claim.url)))
  const events = readEvents(bytes)
  const seqs = events.map(({ seq }) => seq)
  const found = [bytes.length, events.length, seqs[0], seqs.at(-1)].join()
  const claimed = [claim.bytes, claim.events, claim.firstSeq, claim.lastSeq].join()
  if (found !== claimed) throw new Error(`the claim says ${claimed}, its file ${found}`)
  if (seqs.some((seq, i) => i > 0 && seq <= (seqs[i - 1] as number)))
    throw new Error('sequence numbers do not ascend')
  return events
}

/** Takes and acks everything, inflight claims first, as a run does; in order. */
export async function drain(
  buffer: EventBuffer,
  from: ModelName = target,
  files?: FakeFiles,
): Promise<{ readonly claims: readonly Claim[]; readonly events: readonly ReadEvent[] }> {
  const claims: Claim[] = []
  const events: ReadEvent[] = []
  const take = async (claim: Claim) => {
    for (const event of await readClaim(claim, files)) events.push(event)
    claims.push(claim)
    await buffer.ack(claim)
  }
  for (const claim of await buffer.inflight(from)) await take(claim)
  for (let claim = await buffer.claim(from); claim !== null; claim = await buffer.claim(from))
    await take(claim)
  return { claims, events }
}

export function eventBytes(event: unknown): Buffer {
  return Buffer.from(JSON.stringify(event))
}
