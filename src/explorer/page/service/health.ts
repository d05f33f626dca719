// Whether the data that the page shows are the newest ones, and whether the server is there at all.

import { state } from '../parts/state.ts'

export interface ServiceHealth {
  readonly status: 'ok' | 'stale' | 'failed' | 'gone'
  /** Null before a run has published, and while nobody answers. */
  readonly snapshot: string | null
  readonly published_at: string | null
  /** All that had arrived by then is in each set; null where that is not known. */
  readonly fresh_at: string | null
  readonly run_id: string | null
}

const EVERY_MS = 30_000
const EVERY_MS_WHILE_GONE = 5_000

/** Asks now, and then again and again for as long as the page is open. */
export class HealthWatch {
  readonly health = state<ServiceHealth | null>(null)
  readonly returns = state(0)
  readonly #url: string
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(url: string) {
    this.#url = url
  }

  /** Also called after a request without an answer, so that the banner does not wait for the next look. */
  async look(): Promise<ServiceHealth> {
    clearTimeout(this.#timer)
    const health = await this.#ask()
    const wasGone = this.health.value?.status === 'gone'
    this.health.value = health
    if (wasGone && health.status !== 'gone') this.returns.value++
    const waitMs = health.status === 'gone' ? EVERY_MS_WHILE_GONE : EVERY_MS
    this.#timer = setTimeout(() => void this.look(), waitMs)
    return health
  }

  async #ask(): Promise<ServiceHealth> {
    try {
      // A service without a good snapshot answers 503 with the same object.
      const response = await fetch(this.#url, { cache: 'no-store' })
      const body = (await response.json()) as Partial<ServiceHealth>
      return { ...NOTHING, ...body }
    } catch {
      return { ...NOTHING, status: 'gone' }
    }
  }
}

const NOTHING: ServiceHealth = {
  status: 'ok',
  snapshot: null,
  published_at: null,
  fresh_at: null,
  run_id: null,
}
