// When runs are due: `schedule` of eider.yml, for `eider up`.

import type { SourceFile, Span } from './source-text.ts'

export interface Schedule {
  readonly runs: readonly ScheduledRun[]
  /** eider.yml, for mistakes that only a compile finds. */
  readonly source: SourceFile
}

export interface ScheduledRun {
  /** Unique; `when` where the file gives none. */
  readonly name: string
  /** What is written: `every 5 minutes`, or the cron line. */
  readonly when: string
  readonly select: readonly WrittenSelector[]
  readonly exclude: readonly WrittenSelector[]
  /** The first time after `timeMs` at which it is due, both in milliseconds since 1970. */
  readonly dueAfter: (timeMs: number) => number
}

interface WrittenSelector {
  readonly text: string
  readonly span: Span
}
