// A daemon in a process of its own, for tests that kill it. Argument: the directory of the buffer.

import { CollectDaemon } from '../../src/collect/daemon.ts'
import { limits } from '../../src/core/limits.ts'
import { silentLogger } from './silent-logger.ts'
import { openBuffer, PAGE_VIEWS, targetsOf } from './daemon-fixture.ts'
import { join } from 'node:path'

const dir = process.argv[2]!
const daemon = await CollectDaemon.open({
  buffer: await openBuffer(dir),
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
})
process.send!({ url: daemon.url })
