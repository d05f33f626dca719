// The buffer of a project on disk, by its settings.

import { EventBuffer } from '../buffer/buffer.ts'
import type { Logger } from '../core/logger.ts'
import type { Project } from '../project/project.ts'

/** Throws EnvironmentError `buffer-locked` when another process holds it. */
export function openEventBuffer({ paths, settings }: Project, logger: Logger) {
  return EventBuffer.open({
    dir: paths.buffer,
    lockFile: paths.collectLock,
    maxBufferBytes: settings['collect.max_buffer_bytes'],
    keyLimits: {
      retentionMs: settings['collect.idempotency_hours'] * 3_600_000,
      maxKeys: settings['collect.idempotency_keys'],
    },
    logger,
  })
}
