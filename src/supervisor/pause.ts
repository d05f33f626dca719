// Waiting that a stop cuts short.

import { setTimeout as sleep } from 'node:timers/promises'

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {})
