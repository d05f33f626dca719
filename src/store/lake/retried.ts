// Small transactions of the tool's own that others may get in the way of: nothing of them is done then, and they are
// tried again.

import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../core/limits.ts'
import { isConflict } from '../../duckdb/errors.ts'

/** `isInTheWay`: whether an error says that somebody else was faster. */
export async function retried<T>(
  work: () => Promise<T>,
  isInTheWay: (error: unknown) => boolean = isConflict,
): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (!isInTheWay(error) || tries >= limits.lakeTries) throw error
      await sleep(Math.random() * limits.lakeRetryMs * tries)
    }
}
