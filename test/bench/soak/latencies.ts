// Times to an answer, minute by minute.

export interface Latency {
  readonly answers: number
  readonly medianMs: number
  readonly p99Ms: number
}

const MINUTE_MS = 60_000

export class LatencyMinutes {
  readonly #startedAt = performance.now()
  readonly #minutes: number[][] = []

  add(ms: number): void {
    const minute = Math.floor((performance.now() - this.#startedAt) / MINUTE_MS)
    ;(this.#minutes[minute] ??= []).push(ms)
  }

  /** The last one counts if more than half of it is over. */
  minutes(): readonly Latency[] {
    const over = Math.round((performance.now() - this.#startedAt) / MINUTE_MS)
    return Array.from({ length: Math.max(over, 1) }, (_, i) => {
      const sorted = (this.#minutes[i] ?? []).toSorted((a, b) => a - b)
      const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? NaN
      return { answers: sorted.length, medianMs: at(0.5), p99Ms: at(0.99) }
    })
  }
}
