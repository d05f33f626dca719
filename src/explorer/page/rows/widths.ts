// Widths of columns that somebody has chosen. One of the two things that the page keeps in the browser.

import { state } from '../parts/state.ts'

const KEY = 'eider-widths'
const MOST_COLUMNS = 500

export const LEAST_WIDTH_PX = 48
export const MOST_WIDTH_PX = 1_200

/** By `set.column`. */
export const widths = state<Readonly<Record<string, number>>>(stored())

export function setWidth(set: string, column: string, widthPx: number): void {
  const kept = Math.round(Math.min(MOST_WIDTH_PX, Math.max(LEAST_WIDTH_PX, widthPx)))
  const { [`${set}.${column}`]: _, ...others } = widths.value
  const entries = [...Object.entries(others), [`${set}.${column}`, kept] as const]
  widths.value = Object.fromEntries(entries.slice(-MOST_COLUMNS))
  try {
    localStorage.setItem(KEY, JSON.stringify(widths.value))
  } catch {
    // A browser that keeps nothing forgets them with the page.
  }
}

function stored(): Record<string, number> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    if (typeof value !== 'object' || value === null) return {}
    return Object.fromEntries(
      Object.entries(value).filter(
        (entry): entry is [string, number] => typeof entry[1] === 'number',
      ),
    )
  } catch {
    return {}
  }
}
