// How a statement is interrupted: by the user, or because it holds up others.

import { limits } from '../core/limits.ts'
import type { Connection } from '../duckdb/database.ts'

/**
 * An interrupt that meets no running statement has no effect, so it is sent until the work has stopped. `connections`
 * may grow.
 */
export function interruptOnAbort(
  connections: readonly Connection[],
  signal: AbortSignal,
): Disposable {
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => {
    for (const connection of connections) connection.interrupt()
    timer ??= setInterval(interrupt, limits.interruptAgainMs)
  }
  if (signal.aborted) interrupt()
  signal.addEventListener('abort', interrupt, { once: true })
  return {
    [Symbol.dispose]() {
      signal.removeEventListener('abort', interrupt)
      clearInterval(timer)
    },
  }
}
