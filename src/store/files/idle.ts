// What runs with nothing to do need of a warehouse that is a file, without its engine.

import { existsSync } from 'node:fs'
import type { ProjectPaths } from '../../core/project.ts'
import { stampOf } from '../../files/stamps.ts'
import type { Retention } from '../snapshots.ts'
import type { IdleTarget, TargetStamp } from '../traits.ts'
import { fileLease } from './lease.ts'
import { addWaitingRun, copyRun, lastStateFile, readWaitingRuns } from './run-results.ts'
import { stampSnapshots } from './snapshot-directory.ts'
import { fileSnapshots } from './snapshots.ts'

export const fileIdle = (paths: ProjectPaths): IdleTarget => ({
  lease: fileLease(paths.runLock),
  snapshots: fileSnapshots(paths.snapshots),
  stamp: (retention) => stampTarget(paths, retention),
  waitingRuns: () => readWaitingRuns(paths.state),
  async addWaitingRun(runId, results) {
    await addWaitingRun(paths.state, results)
    // The next run makes up for what this one cannot write.
    await copyRun(paths.state, runId, results).catch(() => undefined)
  },
})

async function stampTarget(
  { database, snapshots, state }: ProjectPaths,
  retention: Retention,
): Promise<TargetStamp | null> {
  const log = `${database}.wal`
  const files = [database, lastStateFile(state), ...(existsSync(log) ? [log] : [])]
  const stamps = files.map(stampOf)
  const published = await stampSnapshots(snapshots, retention).catch(() => null)
  if (published === null || !stamps.every((stamp) => stamp !== null)) return null
  return {
    text: [...stamps.map(({ text }) => text), published.text].join('\n'),
    publishedMs: published.changedMs,
  }
}
