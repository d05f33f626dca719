// Priorities, for others on the same machine. Linux has one for each thread; elsewhere it is that of the process.

import { readdirSync } from 'node:fs'
import os from 'node:os'

/**
 * Lowers the priority of every thread of this process, and of those that they start: most of the work is not done by the
 * one that runs JavaScript. The thread pool of Node works already when a command begins, and starts DuckDB's threads.
 */
export function giveWay(): void {
  lowerPriority(0)
  if (process.platform !== 'linux') return
  try {
    for (const thread of readdirSync('/proc/self/task')) lowerPriority(Number(thread))
  } catch (error) {
    // A container may hide it.
    if ((error as NodeJS.ErrnoException).syscall !== 'scandir') throw error
  }
}

/** Lowers the priority of the process or, on Linux, the thread with that id; 0: the one that calls. */
function lowerPriority(id: number): void {
  const low = os.constants.priority.PRIORITY_BELOW_NORMAL
  try {
    // Only root may raise a priority that is lower still.
    if (os.getPriority(id) < low) os.setPriority(id, low)
  } catch (error) {
    // A thread may have ended meanwhile.
    if ((error as { code?: string }).code !== 'ERR_SYSTEM_ERROR') throw error
  }
}

/** Lowers the priority of the calling thread in favour of the others of this process, where that can be. */
export function lowerThisThread(): void {
  if (process.platform === 'linux') lowerPriority(0)
}
