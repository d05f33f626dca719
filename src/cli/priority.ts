// Lowers the priority of a process for others on the same machine.

import { readdirSync } from 'node:fs'
import { lowerPriority } from '../files/priority.ts'

/**
 * Of every thread of this process, and of those that they start. Linux keeps a priority for each thread, and most
 * of the work is not done by the one that runs JavaScript: the thread pool of Node works already when a command begins,
 * and DuckDB's threads are started by it. Elsewhere the priority is that of the process.
 */
export function giveWay(): void {
  lowerPriority(0)
  for (const thread of threads()) lowerPriority(thread)
}

function threads(): readonly number[] {
  if (process.platform !== 'linux') return []
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [] // a container may hide it
  }
}
