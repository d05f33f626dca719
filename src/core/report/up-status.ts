// What `eider status` says. Members are named as in JSON.

import type { NotifyState, ScheduledState, ServiceState } from './up.ts'

export interface UpStatus {
  /** Nothing is wrong. */
  readonly healthy: boolean
  readonly problems: readonly UpProblem[]
  readonly project: string
  readonly target: string | null
  /** null: no supervisor is at work. */
  readonly up: { readonly pid: number; readonly since: string } | null
  /** The services of that supervisor. */
  readonly services: readonly ServiceStatus[]
  /** The runs of that supervisor, or of the one that was last at work. */
  readonly runs: readonly RunStatus[]
  readonly events: {
    /** null: nobody has counted them. */
    readonly waiting: number | null
    readonly bytes: number
  }
  readonly publication: { readonly id: string; readonly published_at: string } | null
  readonly notify: NotifyState
}

export interface UpProblem {
  readonly message: string
  readonly next: string
}

export type ServiceStatus = Omit<ServiceState, 'process'> & {
  /** What its /health says. null: it does not answer, or has none. */
  readonly health: string | null
}

export type RunStatus = Omit<ScheduledState, 'working'> & { readonly working_since: string | null }
