// What a run of the pipeline needs in addition to its models, for processes that load nothing else: pipeline-project.ts
// needs twice as long to load, and most of what a killed process does is loading.

import { join } from 'node:path'
import type { ClaimSource } from '../../src/buffer/claim-source.ts'
import type { ProjectPaths } from '../../src/core/project.ts'
import type { RunRequest } from '../../src/pipeline/run-request.ts'
import { openStore } from '../../src/store/open.ts'
import { silentLogger } from './silent-logger.ts'

export function pathsOf(dir: string): ProjectPaths {
  const state = join(dir, '.eider')
  return {
    dir,
    state,
    database: join(state, 'warehouse.duckdb'),
    buffer: join(state, 'buffer'),
    snapshots: join(state, 'snapshots'),
    runLock: join(state, 'run.lock'),
    collectLock: join(state, 'collect.lock'),
    target: join(dir, 'target'),
  }
}

export function runDefaults(paths: ProjectPaths): Omit<RunRequest, 'project'> {
  return {
    paths,
    store: openStore(paths),
    openClaims: null as (() => Promise<ClaimSource>) | null,
    // Tables of tests are one task each, and DuckDB's other threads ask for more of them without a pause: a fifth of a run.
    threads: 1,
    memoryLimit: null,
    lockWaitMs: 0,
    signal: new AbortController().signal,
    progress: () => {},
    logger: silentLogger,
  }
}
