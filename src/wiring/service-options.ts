// The options of the service that `eider serve` and `eider odata preview` share.

import { join } from 'node:path'
import { memoryBytes } from '../core/machine.ts'
import type { Logger } from '../core/logger.ts'
import type { ODataServiceOptions } from '../odata/service.ts'
import type { Project } from '../project/project.ts'

/** The rest is for runs, and for the memory of the service outside DuckDB. */
function halfOfMemory(): string {
  return `${Math.floor(memoryBytes() / 2 / 2 ** 20)}MiB`
}

export function serviceOptions(
  { paths, settings, files }: Project,
  logger: Logger,
): Omit<ODataServiceOptions, 'published'> {
  return {
    host: settings['odata.host'],
    port: settings['odata.port'],
    token: settings['odata.token'],
    allowAnonymous: false,
    pageSize: settings['odata.page_size'],
    requestTimeoutMs: settings['odata.request_timeout_ms'],
    maxBatchRequests: settings['odata.max_batch_requests'],
    conventions: { keyAsSegment: settings['odata.key_as_segment'] },
    extensions: files.extensions,
    corsOrigins: settings['odata.cors_origins'],
    trustProxy: settings['odata.trust_proxy'],
    memoryLimit: settings['odata.memory_limit'] ?? halfOfMemory(),
    cacheBytes: settings['odata.cache_bytes'],
    accessLog: settings['odata.access_log'],
    tempDir: join(paths.state, 'tmp'),
    logger,
  }
}
