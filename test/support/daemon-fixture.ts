// A real daemon on a real buffer in a directory of its own.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventBuffer } from '../../src/buffer/buffer.ts'
import { CollectDaemon, type CollectDaemonOptions } from '../../src/collect/daemon.ts'
import { limits } from '../../src/core/limits.ts'
import type { EventsModel } from '../../src/core/model.ts'
import { Resources } from '../../src/core/resources.ts'
import { silentLogger } from './silent-logger.ts'
import { eventsModel } from './events-model.ts'

export const PAGE_VIEWS = eventsModel(
  'raw.page_views',
  'event_name VARCHAR NOT NULL',
  'user_id VARCHAR',
  'count BIGINT',
  'received_at TIMESTAMP WITH TIME ZONE',
)

export interface DaemonFixture extends AsyncDisposable {
  readonly daemon: CollectDaemon
  readonly buffer: EventBuffer
  readonly bufferDir: string
}

export interface FixtureOptions extends Partial<CollectDaemonOptions> {
  readonly maxBufferBytes?: number
}

export async function openFixture(options: FixtureOptions = {}): Promise<DaemonFixture> {
  await using resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-collect-'))
  resources.defer(() => rm(dir, { recursive: true }))
  const bufferDir = join(dir, 'buffer')
  const buffer = resources.use(await openBuffer(dir, options.maxBufferBytes))
  const daemon = resources.use(
    await CollectDaemon.open({
      buffer,
      bufferDir,
      targets: targetsOf(PAGE_VIEWS),
      host: '127.0.0.1',
      port: 0,
      adminPort: 0,
      token: null,
      allowAnonymous: false,
      maxEventBytes: limits.eventBytes,
      maxBatchBytes: limits.batchBytes,
      logger: silentLogger,
      ...options,
    }),
  )
  const owned = resources.move()
  return {
    daemon,
    buffer,
    bufferDir,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}

export function openBuffer(
  dir: string,
  maxBufferBytes: number = limits.bufferBytes,
): Promise<EventBuffer> {
  return EventBuffer.open({
    dir: join(dir, 'buffer'),
    lockFile: join(dir, 'collect.lock'),
    maxBufferBytes,
    logger: silentLogger,
  })
}

export function targetsOf(...models: readonly EventsModel[]) {
  return new Map(models.map((model) => [model.name, model]))
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  readonly error: { code: string; message: string; target?: string; details?: unknown[] }
}

export async function send(
  method: string,
  url: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  const json = (text === '' ? {} : JSON.parse(text)) as Reply['body']
  const error = (json['error'] ?? {}) as Reply['error']
  return { status: response.status, headers: response.headers, body: json, error }
}

export const post = (
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
) => send('POST', url, body, headers)

/** The events of a claim, in order, as the admin port shows them. */
export async function eventsOf(adminUrl: string, claimId: string): Promise<readonly unknown[]> {
  const [schema, table] = claimId.split('/')[0]!.split('.')
  const path = `/flush/${schema}/${table}/claims/${encodeURIComponent(claimId)}`
  const text = await (await fetch(adminUrl + path)).text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { e: unknown }).e)
}
