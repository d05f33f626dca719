// Priorities, for others on the same machine. Linux has one for each thread; elsewhere it is that of the process.

import os from 'node:os'

/** Lowers the priority of the process or, on Linux, the thread with that id; 0: the one that calls. */
export function lowerPriority(id: number): void {
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
