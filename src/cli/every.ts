// --every: a command that goes on.

import * as Flags from '@oclif/core/flags'
import { parseDuration } from '../core/durations.ts'
import { UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'

/** In milliseconds. */
export const everyFlag = (summary: string) =>
  Flags.custom<number>({
    summary: `${summary}, such as 10s or 5m, until SIGTERM`,
    helpValue: 'DURATION',
    parse: (text) => {
      const ms = parseDuration(text)
      if (ms !== null && ms >= limits.shortestEveryMs && ms <= limits.longestEveryMs)
        return Promise.resolve(ms)
      throw new UsageError(`--every takes a time from 100ms to 1d, not "${text}"`, {
        hint: 'such as 500ms, 10s, 5m or 1h',
      })
    },
  })()
