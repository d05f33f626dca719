// Children of a supervisor that was killed. They stop when they find their channel closed, within seconds; until then
// they hold ports and locks that the next supervisor needs.

import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../core/limits.ts'
import type { UpState } from '../core/report/up.ts'
import { processIdentity } from '../files/process-lock.ts'

/** Waits for them to end; what is still there after that is killed. Where the system does not tell processes apart, none is. */
export async function endLeftovers(state: UpState, onWait: (pids: number[]) => void) {
  const known: readonly { pid: number | null; process: string | null }[] = [
    ...state.services,
    ...state.runs.flatMap(({ working }) => (working === null ? [] : [working])),
  ]
  const all = known.flatMap(({ pid, process }) =>
    pid === null || process === null ? [] : [{ pid, process }],
  )
  const living = () => all.filter(({ pid, process }) => processIdentity(pid) === process)
  if (living().length === 0) return
  onWait(living().map(({ pid }) => pid))
  const deadline = performance.now() + limits.childEndMs
  while (living().length > 0) {
    if (performance.now() > deadline) for (const { pid } of living()) kill(pid)
    await sleep(limits.leftoverPollMs)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
