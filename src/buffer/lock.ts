// Who works on a buffer. A daemon stays, so the next process fails at once; others are soon done, so it waits for them.

import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../core/failures.ts'
import type { Logger } from '../core/logger.ts'
import {
  describeHolder,
  homeOf,
  isCopiedLock,
  isHere,
  type LockHolder,
  LockHeldError,
  type ProcessLock,
  takeProcessLock,
} from '../files/process-lock.ts'

export interface LockOptions {
  readonly lockFile: string
  /** What this process is, for the others. */
  readonly role?: 'daemon' | 'run' | 'status'
  /** Time to wait for a holder that is not a daemon; 0 by default. */
  readonly waitMs?: number
  /** Ends the waiting, with an AbortError. */
  readonly signal?: AbortSignal
}

const RETRY_MS = 100

/** Throws EnvironmentError `buffer-locked`, or `buffer-copied`. */
export async function takeBufferLock(
  { lockFile, role = 'run', waitMs = 0, signal }: LockOptions,
  logger: Logger,
): Promise<ProcessLock> {
  const deadline = performance.now() + waitMs
  for (let waits = 0; ; waits++) {
    try {
      return await takeProcessLock(lockFile, { role })
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error
      const { holder } = error
      if (!isSoonDone(holder) || performance.now() >= deadline)
        throw (await isCopiedLock(lockFile)) ? copied(error) : refusal(error)
      if (waits === 0) logger.info('waiting-for-buffer', { role: holder.role, pid: holder.pid })
    }
    await sleep(RETRY_MS, undefined, signal === undefined ? {} : { signal })
  }
}

// Without a role, or on another machine, nobody knows.
const isSoonDone = (holder: LockHolder) =>
  isHere(holder) && holder.role !== null && holder.role !== 'daemon'

const copied = ({ holder, path }: LockHeldError) =>
  new EnvironmentError(
    'buffer-copied',
    `this is a copy of a project whose event buffer is in use elsewhere, by ${describeHolder(holder)}`,
    { hint: `to work on the copy, delete ${path}` },
  )

function refusal({ holder, path }: LockHeldError): EnvironmentError {
  const message = `the event buffer is in use by ${describeHolder(holder)}`
  const hint = isHere(holder)
    ? 'stop that process, or let it do the work'
    : `if ${homeOf(holder)} no longer runs, delete ${path}`
  return new EnvironmentError('buffer-locked', message, { hint })
}
