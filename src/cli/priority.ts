// Lowers the priority of a process for others on the same machine.

import { readdirSync } from 'node:fs'
import os from 'node:os'

/**
 * Of every thread of this process, and of those that they start. Linux keeps a priority for each thread, and most
 * of the work is not done by the one that runs JavaScript: the thread pool of Node works already when a command begins,
 * and DuckDB's threads are started by it. Elsewhere the priority is that of the process.
 */
export function giveWay(): void {
  const low = os.constants.priority.PRIORITY_BELOW_NORMAL
  lower(0, low)
  for (const thread of threads()) lower(thread, low)
}

function threads(): readonly number[] {
  if (process.platform !== 'linux') return []
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [] // a container may hide it
  }
}

/** Only root may raise a priority that is lower still. A thread may have ended meanwhile. */
function lower(id: number, priority: number): void {
  try {
    if (os.getPriority(id) < priority) os.setPriority(id, priority)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_SYSTEM_ERROR') throw error
  }
}
