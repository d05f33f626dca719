// The right to change a lake. It holds the engine that the run then works with.

import { randomUUID } from 'node:crypto'
import { Resources } from '../../core/resources.ts'
import { fileLease } from '../files/lease.ts'
import type { LeaseOptions, RunLease } from '../run-lease.ts'
import { LakeLock, lockHolder } from './lock.ts'
import type { LakeSession } from './session.ts'

export const lakeLease = (session: LakeSession): RunLease => ({
  isOne: false,
  take: (options) => take(session, options),
  async holder() {
    const engine = await session.openEngine('doctor')
    await using _database = engine.database
    return await lockHolder(engine)
  },
})

async function take(session: LakeSession, options: LeaseOptions): Promise<AsyncDisposable> {
  const { name = `change-${randomUUID().slice(0, 6)}` } = options
  const engine = await session.openEngine(name)
  try {
    session.lock = await LakeLock.take(engine, { ...options, name })
  } catch (error) {
    await engine.database[Symbol.asyncDispose]()
    throw error
  }
  session.share(engine)
  return {
    async [Symbol.asyncDispose]() {
      session.lock = null
      session.share(null)
      await engine.database[Symbol.asyncDispose]()
    },
  }
}

/** The right to flush the buffer of this machine, without a lock on the lake: the fence of each target is enough. */
export const lakeFlushLease = (session: LakeSession): RunLease => ({
  isOne: true,
  async take(options) {
    await using resources = new Resources()
    resources.use(await fileLease(session.paths.runLock).take(options))
    const engine = await session.openEngine(`flush-${randomUUID().slice(0, 6)}`)
    session.share(engine)
    resources.use(engine.database)
    resources.defer(() => session.share(null))
    return resources.move()
  },
  holder: () => fileLease(session.paths.runLock).holder(),
})
