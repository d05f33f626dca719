// The buffer of a project on disk, by its settings.

import { EventBuffer, type EventBufferOptions } from '../buffer/buffer.ts'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import type { Project } from '../project/project.ts'

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
