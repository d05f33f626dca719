// Fields of events that are no columns, and that look like a column which the event does not have: most likely a typing
// mistake, by which a value is lost. Other unknown fields are what an event may have without harm.

import { limits } from '../../core/limits.ts'
import { nearest } from '../../core/suggest.ts'

/** Of one model: the column that each unknown name looks like; null for a name that looks like none. */
export type Lookalikes = Map<string, string | null>

interface Known {
  readonly columns: readonly { readonly name: string }[]
  readonly lookalikes: Lookalikes
}

export interface Warning {
  readonly code: 'unknown-field'
  readonly message: string
  readonly target: string
}

const NONE: readonly Warning[] = []

/** Gathers those of one request, each once. */
export class MisspeltFields {
  /** null without any, as nearly always. */
  #found: Map<string, string> | null = null

  /** `event` is valid. */
  note(known: Known, event: object): void {
    for (const name of Object.keys(event)) {
      const column = lookalike(known, name)
      if (column === null || Object.hasOwn(event, column)) continue
      this.#found ??= new Map()
      this.#found.set(name, column)
    }
  }

  warnings(target: string): readonly Warning[] {
    if (this.#found === null) return NONE
    return Array.from(this.#found, ([name, column]) => ({
      code: 'unknown-field',
      message: `${target} has no column "${name}", so its value is not stored; did you mean "${column}"?`,
      target: name,
    }))
  }
}

function lookalike({ columns, lookalikes }: Known, name: string): string | null {
  const known = lookalikes.get(name)
  if (known !== undefined) return known
  const isColumn = columns.some((column) => column.name === name)
  const found = isColumn
    ? null
    : nearest(
        name,
        columns.map((column) => column.name),
      )
  // Names come from senders: whoever makes them up must not fill the memory.
  if (lookalikes.size < limits.knownFieldNames) lookalikes.set(name, found)
  return found
}
