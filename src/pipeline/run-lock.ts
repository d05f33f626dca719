// One run at a time: `.eider/run.lock`.

import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../core/failures.ts'
import {
  describeHolder,
  homeOf,
  isHere,
  LockHeldError,
  takeProcessLock,
} from '../files/process-lock.ts'

const POLL_MS = 100

/** Waits up to `waitMs` for a living holder; then EnvironmentError `run-locked`. A dead holder is taken over at once. */
export async function takeRunLock(
  path: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  const deadline = Date.now() + waitMs
  for (;;) {
    signal.throwIfAborted()
    try {
      return await takeProcessLock(path)
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error
      if (Date.now() >= deadline) throw lockedBy(error)
      await sleep(POLL_MS, undefined, { signal })
    }
  }
}

function lockedBy({ holder, path }: LockHeldError): EnvironmentError {
  const hint = isHere(holder)
    ? 'wait longer with --wait SECONDS'
    : `wait with --wait SECONDS; if ${homeOf(holder)} no longer runs, delete ${path}`
  return new EnvironmentError('run-locked', `another run is at work: ${describeHolder(holder)}`, {
    hint,
  })
}
