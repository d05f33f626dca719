// A daemon in the process of the test, on a real buffer in a temporary directory.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventBuffer } from '../../src/buffer/buffer.ts'
import { CollectDaemon, type CollectDaemonOptions } from '../../src/collect/daemon.ts'
import { limits } from '../../src/core/limits.ts'
import type { EventsModel } from '../../src/core/model.ts'
import { Resources } from '../../src/core/resources.ts'
import { silentLogger } from './silent-logger.ts'
import { eventsModel } from './handmade-models.ts'
import { openBuffer } from './open-buffer.ts'

export const PAGE_VIEWS = eventsModel(
  'raw.page_views',
  'event_name VARCHAR NOT NULL',
  'user_id VARCHAR',
  'count BIGINT',
  'received_at TIMESTAMP WITH TIME ZONE',
)

export interface OpenDaemon extends AsyncDisposable {
  readonly daemon: CollectDaemon
  readonly buffer: EventBuffer
  readonly bufferDir: string
}

export interface DaemonOptions extends Partial<CollectDaemonOptions> {
  readonly maxBufferBytes?: number
}

/** In a directory that goes when the daemon is closed. */
export async function openDaemon(options: DaemonOptions = {}): Promise<OpenDaemon> {
  await using resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-collect-'))
  resources.defer(() => rm(dir, { recursive: true }))
  const { maxBufferBytes = limits.bufferBytes, ...rest } = options
  const buffer = resources.use(await openBuffer(dir, { maxBufferBytes }))
  const daemon = resources.use(await openDaemonOn(buffer, dir, rest))
  const owned = resources.move()
  return {
    daemon,
    buffer,
    bufferDir: join(dir, 'buffer'),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}

/** Takes the buffer that was opened in `dir`, on free ports, with one target: page views. */
export const openDaemonOn = (
  buffer: EventBuffer,
  dir: string,
  options: Partial<CollectDaemonOptions> = {},
): Promise<CollectDaemon> =>
  CollectDaemon.open({
    buffer,
    bufferDir: join(dir, 'buffer'),
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
  })

export function targetsOf(...models: readonly EventsModel[]) {
  return new Map(models.map((model) => [model.name, model]))
}

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
