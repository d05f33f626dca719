// Where the events of a project are: in the buffer on disk, or with the daemon that owns it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { EventBuffer } from '../buffer/buffer.ts'
import type { ClaimSource } from '../buffer/claim-source.ts'
import { AdminClient } from '../collect/admin/admin-client.ts'
import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import type { Project } from '../project/project.ts'
import { openEventBuffer } from './event-buffer.ts'

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
  const deadline = Date.now() + limits.daemonWaitMs
  for (;;) {
    try {
      return await openEventBuffer(project, { role, logger })
    } catch (error) {
      if (!(error instanceof EnvironmentError && error.code === 'buffer-locked')) throw error
      const daemon = await AdminClient.connect({
        port,
        bufferDir: paths.buffer,
        timeoutMs: settings['collect.admin_timeout_ms'],
        logger,
      })
      if (daemon !== null) return daemon
      if (Date.now() >= deadline) throw unreachable(error, port)
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
