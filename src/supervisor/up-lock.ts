// One supervisor for each target of a project.

import { join } from 'node:path'
import { EnvironmentError } from '../core/failures.ts'
import {
  copiedLock,
  describeHolder,
  LockHeldError,
  takeProcessLock,
} from '../files/process-lock.ts'

export const upLock = (stateDir: string): string => join(stateDir, 'up.lock')

export async function takeUpLock(stateDir: string): Promise<AsyncDisposable> {
  try {
    return await takeProcessLock(upLock(stateDir), { role: 'up' })
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error
    const copied = await copiedLock(error)
    if (copied !== null) throw copied
    throw new EnvironmentError(
      'up-running',
      `eider up is already running here: ${describeHolder(error.holder)}`,
      {
        hint: 'eider status says what it does; kill it by its process id to stop it',
        cause: error,
      },
    )
  }
}
