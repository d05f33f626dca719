// A set that is further behind than it promises, in the words of `eider up`, of notifications and of `eider status`.

import type { SetBehind } from './up.ts'

export function behindText({ name, fresh_at: at, fresh_within: seconds }: SetBehind): string {
  const since = at === null ? 'no run has left it complete' : `it was last complete at ${at}`
  return `${name} is behind: ${since}, and @fresh allows ${seconds} s`
}
