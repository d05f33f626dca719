// Lengths of time as people write them: 500ms, 10s, 5m, 1h, 1d on the command line, 5 minutes in eider.yml.

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds; null for anything else. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  return unit === undefined ? null : Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS]
}

const WORDS_MS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** Milliseconds of `30 seconds`, `1 hour`; null for anything else. */
export function parseTime(text: string): number | null {
  const [, count, unit] = /^(\d{1,9}) (second|minute|hour|day)s?$/.exec(text) ?? []
  return unit === undefined ? null : Number(count) * WORDS_MS[unit as keyof typeof WORDS_MS]
}
