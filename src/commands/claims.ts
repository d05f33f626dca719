// Where the events of a project are: in the buffer on disk, or with the daemon that owns it (row E083).

import type { EventBuffer } from '../buffer/buffer.ts'
import type { ClaimSource } from '../buffer/claim-source.ts'
import { AdminClient } from '../collect/admin-client.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { Logger } from '../core/logger.ts'
import type { Project } from '../project/project.ts'
import { openEventBuffer } from './event-buffer.ts'

export const openClaims = (project: Project, logger: Logger): Promise<ClaimSource> =>
  openBufferOrDaemon(project, 'run', logger)

/** Throws EnvironmentError when another process holds the buffer and does not answer. */
export async function openBufferOrDaemon(
  project: Project,
  role: 'run' | 'status',
  logger: Logger,
): Promise<EventBuffer | AdminClient> {
  const { paths, settings } = project
  try {
    return await openEventBuffer(project, { role, logger })
  } catch (error) {
    if (!(error instanceof EnvironmentError && error.code === 'buffer-locked')) throw error
    const port = settings['collect.admin_port']
    const daemon = await AdminClient.connect({
      port,
      bufferDir: paths.buffer,
      timeoutMs: settings['collect.admin_timeout_ms'],
      logger,
    })
    if (daemon !== null) return daemon
    throw new EnvironmentError(
      'daemon-unreachable',
      `${error.message}, and no daemon answers on admin port ${port}`,
      {
        hint: 'start the daemon and the run with the same COLLECT_PORT and COLLECT_ADMIN_PORT, or stop the process that holds the buffer',
        cause: error,
      },
    )
  }
}
