// A command that works again and again until it is told to stop, which is its proper end.

import { setTimeout as sleep } from 'node:timers/promises'
import { hasToExit } from '../core/until-exit.ts'

interface Repeating {
  readonly everyMs: number
  readonly signal: AbortSignal
  /** What it throws ends the command. Of the others each is told once for as long as it lasts. */
  readonly isFailure: (error: unknown) => boolean
  readonly tell: (error: unknown) => void
}

export async function repeat(
  work: () => Promise<void>,
  { everyMs, signal, isFailure, tell }: Repeating,
): Promise<void> {
  let said = ''
  while (!signal.aborted) {
    const startedMs = performance.now()
    try {
      await work()
      said = ''
    } catch (error) {
      if (isFailure(error)) {
        if (String(error) !== said) tell(error)
        said = String(error)
      }
    }
    if (hasToExit() && !signal.aborted) {
      process.exitCode = 3
      return
    }
    const restMs = Math.max(0, startedMs + everyMs - performance.now())
    await sleep(restMs, undefined, { signal }).catch(() => {})
  }
}
