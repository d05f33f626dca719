// What a run says of a check that found rows. The text is all that a catalog has of it, so the explorer reads how many rows
// there were in what is written here.

import type { CatalogCheck } from '../catalog.ts'
import { count } from '../counts.ts'

interface Found {
  /** Where the check is written, as `path:line:column`. */
  readonly place: string
  /** The check as it is written. */
  readonly condition: string
  readonly rows: number
}

export interface FoundRows extends Found {
  /** A query finds rows; any other check does not hold for them. */
  readonly isQuery: boolean
  /** The model that the rows are of; null: the one that the check belongs to. */
  readonly model: string | null
  /** How many percent of the rows that it looked at; null where that is not asked. */
  readonly percent: number | null
  /** Some of the rows, as text. */
  readonly shown: readonly string[]
}

export function foundRowsText(found: FoundRows): string {
  const { place, condition, rows, isQuery, model, percent, shown } = found
  const what = isQuery ? 'finds' : 'does not hold for'
  const of = model === null ? '' : ` of ${model}`
  const share = percent === null ? '' : ` (${Number(percent.toPrecision(3))}%)`
  const more = rows > shown.length ? '; and more' : ''
  return `${place}: ${condition} ${what} ${count(rows, 'row')}${of}${share}: ${shown.join('; ')}${more}`
}

/** A `row_count` that does not hold, which has no rows to show. `isPart`: it counts those that a condition picks. */
export const wrongCountText = (
  { place, condition, rows }: Found,
  { table, isPart }: { readonly table: string; readonly isPart: boolean },
): string =>
  `${place}: ${condition} does not hold: ${table} has ${count(rows, isPart ? 'such row' : 'row')}`

/** How many rows a text says that a check found, as it is written there; null: the text is not about this check. */
export function rowsFoundIn(text: string, check: CatalogCheck): string | null {
  // A check on other rows is written with their name before it.
  for (const condition of [check.text, check.text.replace(/^[^:]+: /, '')]) {
    const at = text.indexOf(`: ${condition} `)
    // Of several failures each begins after a semicolon. The rows that a text shows are in braces.
    const place = text.slice(0, Math.max(0, at)).split('; ').at(-1)!
    if (!/^[^{}]+:\d+:\d+$/.test(place)) continue
    const rest = text.slice(at + condition.length + 3)
    const rows =
      /^(?:(?:does not hold for|finds) |does not hold: .+? has )([\d,]+) (?:such )?rows?\b/.exec(
        rest,
      )
    if (rows !== null) return rows[1]!
  }
  return null
}
