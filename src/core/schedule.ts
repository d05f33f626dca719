// When runs are due, and who is told of them: `schedule` and `notify` of eider.yml, for `eider up`.

import type { SourceFile, Span } from './source.ts'

export interface Schedule {
  readonly runs: readonly ScheduledRun[]
  /** eider.yml, for mistakes that only a compile finds. */
  readonly source: SourceFile
}

export interface ScheduledRun {
  /** Unique; `when` where the file gives none. */
  readonly name: string
  /** As it is written: `every 5 minutes`, or the cron line. */
  readonly when: string
  readonly select: readonly WrittenSelector[]
  readonly exclude: readonly WrittenSelector[]
  /** The first time after `timeMs` at which it is due, both in milliseconds since 1970. */
  readonly dueAfter: (timeMs: number) => number
}

export interface WrittenSelector {
  readonly text: string
  readonly span: Span
}

export const occasions = ['failed', 'recovered', 'late'] as const
export type Occasion = (typeof occasions)[number]

export interface Notify {
  readonly on: readonly Occasion[]
  /** A run is late when this has passed since it was due; null: never. */
  readonly lateAfterMs: number | null
  /** With `${NAME}` as it is written: values are secrets, which only `eider up` needs. */
  readonly webhook: WrittenUrl | null
  /** A command line for the shell. */
  readonly command: string | null
}

export interface WrittenUrl {
  readonly text: string
  readonly source: SourceFile
  /** Empty: the line is not shown, for the URL may be a secret. */
  readonly span: Span
}
