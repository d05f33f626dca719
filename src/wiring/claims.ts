// Where the events of a project are: in the buffer on disk, or with the daemon that owns it.

import { setTimeout as sleep } from 'node:timers/promises'
import { EventBuffer, type EventBufferOptions } from '../buffer/buffer.ts'
import type { ClaimSource } from '../buffer/claim-source.ts'
import { AdminClient } from '../collect/admin/admin-client.ts'
import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import type { Project } from '../project/project.ts'

export const openClaims = (project: Project, logger: Logger): Promise<ClaimSource> =>
  openBufferOrDaemon(project, 'run', logger)

const RETRY_MS = 100

/**
 * A daemon that recovers its buffer, or stops, holds the lock and does not listen: it is waited for. Throws EnvironmentError
 * when another process holds the buffer and does not answer.
 */
export async function openBufferOrDaemon(
  project: Project,
  role: 'run' | 'status',
  logger: Logger,
): Promise<EventBuffer | AdminClient> {
  const { paths, settings } = project
  const port = settings['collect.admin_port']
  const deadline = performance.now() + limits.daemonWaitMs
  for (;;) {
    try {
      return await openEventBuffer(project, { role, logger })
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error
      const isCopy = error.code === 'buffer-copied'
      if (!isCopy && error.code !== 'buffer-locked') throw error
      const daemon = await AdminClient.connect({
        port,
        bufferDir: paths.buffer,
        timeoutMs: settings['collect.admin_timeout_ms'],
        logger,
      }).catch((other: unknown) => {
        throw isCopy ? error : other
      })
      if (daemon !== null) return daemon
      if (isCopy) throw error
      if (performance.now() >= deadline) throw unreachable(error, port)
    }
    await sleep(RETRY_MS)
  }
}

function unreachable(cause: EnvironmentError, port: number): EnvironmentError {
  return new EnvironmentError(
    'daemon-unreachable',
    `${cause.message}, and no daemon answers on admin port ${port}`,
    {
      hint: 'start the daemon and the run with the same COLLECT_PORT and COLLECT_ADMIN_PORT, or stop the process that holds the buffer',
      cause,
    },
  )
}

interface Opening extends Required<Pick<EventBufferOptions, 'role'>> {
  readonly logger: Logger
  readonly signal?: AbortSignal
}

/** Throws EnvironmentError `buffer-locked` when another process holds it: a daemon, or a run for too long. */
export function openEventBuffer({ paths, settings }: Project, opening: Opening) {
  return EventBuffer.open({
    dir: paths.buffer,
    lockFile: paths.collectLock,
    maxBufferBytes: settings['collect.max_buffer_bytes'],
    keyLimits: {
      retentionMs: settings['collect.idempotency_hours'] * 3_600_000,
      maxKeys: settings['collect.idempotency_keys'],
    },
    waitMs: limits.bufferLockWaitMs,
    ...opening,
  })
}
