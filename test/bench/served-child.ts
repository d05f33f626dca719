// A service in a process of its own, which says what it cost: memory, and the longest time that its event loop stood
// still. Started by served.ts with the project's directory and the rows of a page.

import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openExplorer } from '../../src/explorer/open-explorer.ts'
import { packageDir } from '../../src/files/package.ts'
import { ODataService } from '../../src/odata/service.ts'
import { fileReader } from '../../src/store/files/reader.ts'
import { silentLogger } from '../support/silent-logger.ts'

export interface Cost {
  /** Of the process, resident, at its highest since it started, and now. */
  readonly peakBytes: number
  readonly bytes: number
  /** Since the last report. */
  readonly longestBlockMs: number
  /** Processor time since the process started. */
  readonly processorMs: number
}

const LOOK_EVERY_MS = 1

const processorMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

if (process.send !== undefined) {
  const [dir = '', pageSize = '', cacheBytes = ''] = process.argv.slice(2)
  const published = fileReader(join(dir, '.eider', 'snapshots'))
  const pages = await openExplorer({
    project: 'bench',
    shows: 'project',
    find: (id) => published.catalog(id),
    pageDir: join(packageDir, 'dist', 'explorer'),
  })
  const delay = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS })
  const service = await ODataService.open({
    published,
    pages,
    host: '127.0.0.1',
    port: 0,
    token: null,
    allowAnonymous: false,
    pageSize: Number(pageSize),
    requestTimeoutMs: 60_000,
    maxBatchRequests: 100,
    cacheBytes: Number(cacheBytes),
    accessLog: false,
    tempDir: join(dir, '.eider', 'tmp'),
    logger: silentLogger,
  })
  delay.enable()
  process.on('message', () => {
    const cost: Cost = {
      peakBytes: process.resourceUsage().maxRSS * 1024,
      bytes: process.memoryUsage.rss(),
      longestBlockMs: Math.max(0, delay.max / 1e6 - LOOK_EVERY_MS),
      processorMs: processorMs(),
    }
    delay.reset()
    process.send?.(cost)
  })
  process.once('disconnect', () => void service[Symbol.asyncDispose]())
  process.send(service.url)
}
