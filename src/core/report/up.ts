// What `eider up` announces while it works, and what it leaves in a file for `eider status`. Members are named as in JSON.

import type { NotificationWay, Occasion } from '../notifications.ts'

export type ServiceName = 'collect' | 'serve' | 'pull'

export type UpEvent =
  | {
      readonly event: 'up-ready'
      readonly project: string
      readonly target: string | null
      readonly pid: number
      /** null where it is not supervised here. */
      readonly collect_url: string | null
      readonly admin_url: string | null
      readonly odata_url: string | null
      readonly runs: readonly Upcoming[]
    }
  | {
      readonly event: 'service-started'
      readonly service: ServiceName
      readonly pid: number
      readonly url: string | null
      readonly restarts: number
    }
  | {
      readonly event: 'service-ended'
      readonly service: ServiceName
      readonly because: string
      /** null: it is not started again. */
      readonly again_in_ms: number | null
    }
  | { readonly event: 'scheduled-run-started'; readonly name: string; readonly due: string }
  /** It was due while it waited already for the run at work. */
  | {
      readonly event: 'scheduled-run-skipped'
      readonly name: string
      readonly due: string
      readonly skipped: number
    }
  /** It was due while nobody could start it: one run makes up for all of these. */
  | { readonly event: 'scheduled-runs-missed'; readonly name: string; readonly missed: number }
  | ({ readonly event: 'scheduled-run-finished' } & RunRecord)
  | { readonly event: 'run-late'; readonly name: string; readonly due: string }
  | ({ readonly event: 'set-behind' } & SetBehind)
  | { readonly event: 'set-fresh'; readonly name: string }
  | ({ readonly event: 'notified' } & Notified)
  | { readonly event: 'up-stopping'; readonly because: string }

/** An entity set that is further behind what has arrived than its `@fresh` allows. */
export interface SetBehind {
  readonly name: string
  /** All that had arrived by then is in it; null: no run has left it so. */
  readonly fresh_at: string | null
  /** Seconds that it may be behind. */
  readonly fresh_within: number
}

export interface Upcoming {
  readonly name: string
  readonly when: string
  /** null: never again. */
  readonly next: string | null
}

/** How a scheduled run went. */
export interface RunRecord {
  readonly name: string
  /** null: it ended before it had one. */
  readonly run_id: string | null
  /** `busy`: another process had the warehouse. `stopped`: with `eider up`. */
  readonly status: 'ok' | 'failed' | 'busy' | 'stopped'
  readonly started_at: string
  readonly ms: number
  readonly events: number
  readonly rejected: number
  readonly built: number
  readonly unchanged: number
  readonly failed: number
  readonly skipped: number
  /** Models that failed, the first ones. */
  readonly failing: readonly { readonly model: string; readonly because: string }[]
  /** Why it is not ok; one line. */
  readonly reason: string | null
}

export interface Notified {
  readonly on: Occasion
  readonly name: string
  readonly by: NotificationWay
  readonly ok: boolean
  readonly tries: number
  /** A status of HTTP, an exit code, or why there is none. */
  readonly answer: string
}

export interface Notification {
  /** One line for people; services of chats show it. */
  readonly text: string
  readonly event: Occasion
  readonly project: string
  readonly target: string | null
  readonly host: string
  readonly at: string
  /** null: it is of a set. */
  readonly schedule: { readonly name: string; readonly when: string } | null
  /** Only of a set that is behind, or no longer is. */
  readonly set?: SetBehind
  /** Runs that failed one after the other before this. */
  readonly failures: number
  /** The last one that ended; null: none has. */
  readonly run: RunRecord | null
}

/** What is in the file. */
export interface UpState {
  readonly version: 1
  readonly project: string
  readonly target: string | null
  readonly pid: number
  readonly started_at: string
  readonly services: readonly ServiceState[]
  readonly runs: readonly ScheduledState[]
  /** Missing: none. */
  readonly behind?: readonly SetBehind[]
  readonly notify: NotifyState
}

export interface ServiceState {
  readonly service: ServiceName
  readonly state: 'starting' | 'running' | 'restarting' | 'stopped'
  readonly pid: number | null
  /** Tells the process from a later one with the same pid; null where the system cannot. */
  readonly process: string | null
  /** When the state began. */
  readonly since: string
  readonly url: string | null
  readonly admin_url: string | null
  readonly restarts: number
  readonly last_end: string | null
}

export interface ScheduledState {
  readonly name: string
  readonly when: string
  readonly next: string | null
  readonly working: {
    readonly pid: number
    readonly process: string | null
    readonly since: string
  } | null
  readonly last: RunRecord | null
  readonly last_ok_at: string | null
  /** Runs that failed one after the other. */
  readonly failures: number
  readonly skipped: number
  readonly missed: number
  /** Since when a run is due and none has ended well; null: not. */
  readonly waiting_since: string | null
  readonly late: boolean
}

export interface NotifyState {
  readonly sent: number
  readonly failed: number
  readonly last_failure: { readonly at: string; readonly answer: string } | null
}
