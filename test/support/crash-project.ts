// The project and the buffer that crash tests share with the processes that they kill.

import { EventBuffer } from '../../src/buffer/buffer.ts'
import type { ProjectPaths } from '../../src/core/project.ts'
import { silentLogger } from './silent-logger.ts'
import { events, query } from './pipeline-fixture.ts'

export const collected = [
  events('raw.e', { id: 'INTEGER!', note: 'VARCHAR' }),
  query('mart.n', 'select id, count(*)::int as n from raw.e group by id', {
    reads: ['raw.e'],
    expose: ['id'],
  }),
]

export const openBuffer = (paths: ProjectPaths): Promise<EventBuffer> =>
  EventBuffer.open({
    dir: paths.buffer,
    lockFile: paths.collectLock,
    maxBufferBytes: 2 ** 30,
    logger: silentLogger,
  })
