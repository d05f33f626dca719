// Fields of events that are no columns, and that look like a column which the event does not have: most likely a typing
// mistake, by which a value is lost. Other unknown fields are what an event may have without harm.

import { limits } from '../../core/limits.ts'
import { nearest } from '../../core/suggest.ts'

/** The column of a model that each unknown name looks like; null for a name that looks like none. */
export type Lookalikes = Map<string, string | null>

interface ModelColumns {
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

  /** `unknown` are names of a valid event that are no columns; `isGiven` tells of a column whether the event has it. */
  note(
    { columns, lookalikes }: ModelColumns,
    unknown: Iterable<string>,
    isGiven: (column: string) => boolean,
  ): void {
    for (const name of unknown) {
      let column = lookalikes.get(name)
      if (column === undefined) {
        column = nearest(
          name,
          columns.map((one) => one.name),
        )
        // Names come from senders: somebody who makes them up must not fill the memory.
        if (lookalikes.size < limits.knownFieldNames) lookalikes.set(name, column)
      }
      if (column === null || isGiven(column)) continue
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
