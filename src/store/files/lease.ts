// One run at a time, by a lock file: `.eider/run.lock`.

import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../../core/failures.ts'
import { limits } from '../../core/limits.ts'
import {
  copiedLock,
  describeHolder,
  describeLock,
  homeOf,
  isHere,
  LockHeldError,
  takeProcessLock,
} from '../../files/process-lock.ts'
import type { LeaseOptions, RunLease } from '../run-lease.ts'

/** A dead holder is taken over at once. */
export const fileLease = (path: string): RunLease => ({
  isOne: true,
  take: (options) => take(path, options),
  holder: () => describeLock(path),
})

async function take(path: string, { waitMs, signal }: LeaseOptions): Promise<AsyncDisposable> {
  const deadline = performance.now() + waitMs
  for (;;) {
    signal.throwIfAborted()
    try {
      return await takeProcessLock(path)
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error
      const copied = await copiedLock(error)
      if (copied !== null) throw copied
      if (performance.now() >= deadline) throw lockedBy(error)
      await sleep(limits.runLockPollMs, undefined, { signal })
    }
  }
}

function lockedBy({ holder, path }: LockHeldError): EnvironmentError {
  const hint = isHere(holder)
    ? 'wait longer with --wait SECONDS'
    : `wait with --wait SECONDS; if ${homeOf(holder)} no longer runs, delete ${path}`
  return new EnvironmentError(
    'run-locked',
    `another run is in progress: ${describeHolder(holder)}`,
    {
      hint,
    },
  )
}
