// Other processes that answer on the same port from the same published states, as a service needs them.

import type { Family } from '../../http/prometheus.ts'

export interface Fellows {
  /** Others may ask for these from now on. */
  join(member: Fellow): void
  /** What a request has to wait for before it is looked at; null for nothing. */
  readonly pause: Promise<void> | null
  /**
   * Calls `turn` when all have that state open and none of them begins an answer from an earlier one. false without a call:
   * others have opened another state, or `signal` is aborted.
   */
  turnTo(mark: string, turn: () => void, signal: AbortSignal): Promise<boolean>
  /** With those of all others. */
  addUp(own: readonly Family[]): Promise<readonly Family[]>
}

interface Fellow {
  readonly metrics: () => Promise<readonly Family[]>
  /** Another state may be published. */
  readonly look: () => void
}

/** Without others. */
export const alone: Fellows = {
  join() {},
  pause: null,
  turnTo: (_mark, turn) => {
    turn()
    return Promise.resolve(true)
  },
  addUp: (own) => Promise.resolve(own),
}
