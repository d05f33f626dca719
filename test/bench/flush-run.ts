// One run that flushes what is buffered. As a process of its own (argument: the project) it tells its parent what it took.

import { join } from 'node:path'
import { EventBuffer } from '../../src/buffer/buffer.ts'
import { compile } from '../../src/compiler/compile.ts'
import { limits } from '../../src/core/limits.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import { loadProject } from '../../src/project/load.ts'
import { openStore } from '../../src/store/open.ts'
import { silentLogger } from '../support/silent-logger.ts'

export interface Flushed {
  readonly flushed: number
  /** Claim to last ack record, without what else a run does. */
  readonly ms: number
  /** Of the process, resident. */
  readonly peakBytes: number
}

export async function flushAll(
  dir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Flushed> {
  const project = await loadProject(dir, { env, flags: {} })
  let ms = 0
  const summary = await runPipeline({
    paths: project.paths,
    store: openStore(project.paths),
    project: await compile(project.files, { dir }),
    openClaims: () => openBuffer(dir, limits.segmentBytes),
    threads: null,
    memoryLimit: null,
    lockWaitMs: 0,
    signal: new AbortController().signal,
    progress: (event) => {
      if (event.event === 'flush-finished') ms += event.ms
    },
    logger: silentLogger,
  })
  const flushed = summary.flushed.reduce((total, { events }) => total + events, 0)
  return { flushed, ms, peakBytes: process.resourceUsage().maxRSS * 1024 }
}

export const openBuffer = (dir: string, segmentBytes: number) =>
  EventBuffer.open({
    dir: join(dir, '.eider', 'buffer'),
    lockFile: join(dir, '.eider', 'collect.lock'),
    maxBufferBytes: 2 ** 40,
    logger: silentLogger,
    segmentBytes,
  })

if (process.send !== undefined) {
  process.send(await flushAll(process.argv[2]!))
  process.disconnect()
}
