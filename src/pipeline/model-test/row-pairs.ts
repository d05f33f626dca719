// Rows that are missing, next to rows that came instead: which of them are the same row with other values.

import type { ChangedRow, TextRow } from '../../core/report/row-difference.ts'

export interface CountedRows {
  readonly rows: readonly TextRow[]
  readonly count: number
}

interface Both {
  readonly missing: CountedRows
  readonly unexpected: CountedRows
}

/** Without the rows that are equal but for `floats`, and there differ by no more than `tolerance`. */
export function withoutClose(both: Both, floats: readonly string[], tolerance: number): Both {
  if (floats.length === 0) return both
  const restOf = (row: TextRow) =>
    JSON.stringify(Object.entries(row).filter(([name]) => !floats.includes(name)))
  const open = [...both.unexpected.rows]
  const isClose = (one: TextRow, other: TextRow) =>
    restOf(one) === restOf(other) &&
    floats.every((name) => areClose(one[name] ?? null, other[name] ?? null, tolerance))
  const missing = both.missing.rows.filter((row) => {
    const at = open.findIndex((other) => isClose(row, other))
    if (at !== -1) open.splice(at, 1)
    return at === -1
  })
  const paired = both.missing.rows.length - missing.length
  return {
    missing: { rows: missing, count: both.missing.count - paired },
    unexpected: { rows: open, count: both.unexpected.count - paired },
  }
}

function areClose(one: string | null, other: string | null, tolerance: number): boolean {
  if (one === other) return true
  if (one === null || other === null) return false
  return Math.abs(Number(one) - Number(other)) <= tolerance
}

/** By the key where it is compared, else each missing row with the one that has most values in common. */
export function changedRows(
  missing: readonly TextRow[],
  unexpected: readonly TextRow[],
  columns: readonly string[],
  key: readonly string[],
): readonly ChangedRow[] {
  const hasKey = key.length > 0 && key.every((name) => columns.includes(name))
  const open = new Set(unexpected)
  const found: ChangedRow[] = []
  for (const expected of missing) {
    let best: ChangedRow | null = null
    for (const built of open) {
      const different = columns.filter((name) => expected[name] !== built[name])
      const isSame = hasKey
        ? key.every((name) => expected[name] === built[name])
        : different.length * 2 <= columns.length
      if (isSame && (best === null || different.length < best.columns.length))
        best = { expected, built, columns: different }
    }
    if (best === null) continue
    open.delete(best.built)
    found.push(best)
  }
  return found
}

/** For an expectation, read back by readRows() to the same values: nothing at all is NULL, "" is an empty text. */
export const csvText = (columns: readonly string[], rows: readonly TextRow[]): string =>
  [columns.map(quoted), ...rows.map((row) => columns.map((name) => cell(row[name] ?? null)))]
    .map((cells) => `${cells.join(',')}\n`)
    .join('')

const cell = (text: string | null) => (text === null ? '' : text === '' ? '""' : quoted(text))

/** A space at an end would be lost before a quote. */
const quoted = (text: string) =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
