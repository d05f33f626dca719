// What is known of one scheduled run from all its times: whether it fails, whether it is late, and what of that is news.

import type { RunRecord, ScheduledState } from '../core/report/up.ts'
import type { Occasion } from '../core/notifications.ts'

type RunHistory = Pick<
  ScheduledState,
  'last' | 'last_ok_at' | 'failures' | 'skipped' | 'missed' | 'waiting_since' | 'late'
>

export interface News {
  readonly occasion: Occasion
  /** Runs that had failed one after the other. */
  readonly failures: number
}

export class Punctuality {
  #known: RunHistory

  /** `before`: what was known when the supervisor was last at work. */
  constructor(before: RunHistory | undefined) {
    const { last = null, last_ok_at = null, failures = 0, late = false } = before ?? {}
    // Time in which nobody was there to start a run does not make it late.
    this.#known = { last, last_ok_at, failures, late, skipped: 0, missed: 0, waiting_since: null }
  }

  get known(): RunHistory {
    return this.#known
  }

  due(nowMs: number): void {
    this.#set({ waiting_since: this.#known.waiting_since ?? timeOf(nowMs) })
  }

  skipped(): number {
    this.#set({ skipped: this.#known.skipped + 1 })
    return this.#known.skipped
  }

  missed(count: number): void {
    this.#set({ missed: this.#known.missed + count })
  }

  /** News only with the first failure, and with the first success after failures or lateness. */
  ended(record: RunRecord, nowMs: number): News | null {
    this.#set({ last: record })
    const { failures, late } = this.#known
    if (record.status === 'failed') {
      this.#set({ failures: failures + 1 })
      return failures === 0 ? { occasion: 'failed', failures: 1 } : null
    }
    if (record.status !== 'ok') return null
    this.#set({ failures: 0, late: false, last_ok_at: timeOf(nowMs), waiting_since: null })
    return failures > 0 || late ? { occasion: 'recovered', failures } : null
  }

  /** News once, until a run has ended well. */
  look(nowMs: number, lateAfterMs: number): News | null {
    const { waiting_since: since, late, failures } = this.#known
    if (late || since === null || nowMs < Date.parse(since) + lateAfterMs) return null
    this.#set({ late: true })
    return { occasion: 'late', failures }
  }

  #set(changed: Partial<RunHistory>): void {
    this.#known = { ...this.#known, ...changed }
  }
}

const timeOf = (ms: number) => new Date(ms).toISOString()
