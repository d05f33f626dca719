// Fields of events that are no columns, and that look like a column which the event does not have: most likely a typing
// mistake, by which a value is lost. Other unknown fields are what an event may have without harm. Fields of a STRUCT
// are the same (nested-fields.ts).

import { limits } from '../../core/limits.ts'
import { nearest } from '../../core/suggest.ts'

/** The column of a model, or the field of a STRUCT, that each unknown name looks like; null for a name that looks like none. */
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

/** Of an event without any: as many as a line of a log shows. */
const COLUMNS_NAMED = 10

const NONE: readonly Warning[] = []
const STRANGER = 'stranger'

/** Which of `names`, asked only where it is not known yet, an unknown name looks like; null for none. */
export function lookalike(
  name: string,
  names: () => readonly string[],
  lookalikes: Lookalikes,
): string | null {
  let known = lookalikes.get(name)
  if (known === undefined) {
    known = nearest(name, names())
    // Names come from senders: somebody who makes them up must not fill the memory.
    if (lookalikes.size < limits.knownFieldNames) lookalikes.set(name, known)
  }
  return known
}

/** What an unknown field is called, where it was first seen, and what was meant. */
interface Found {
  readonly kind: 'column' | 'field' | 'event'
  readonly name: string
  readonly hint: string
}

/** Gathers those of one request, each once. */
export class MisspeltFields {
  /** null without any, as nearly always. */
  #found: Map<string, Found> | null = null

  /** `unknown` are names of a valid event that are no columns; `isGiven` tells of a column whether the event has it. */
  note(
    { columns, lookalikes }: ModelColumns,
    unknown: Iterable<string>,
    isGiven: (column: string) => boolean,
  ): void {
    for (const name of unknown) {
      const meant = lookalike(name, () => columns.map((column) => column.name), lookalikes)
      if (meant === null || isGiven(meant)) continue
      this.#add(`column ${name}`, { kind: 'column', name, hint: `did you mean "${meant}"?` })
    }
  }

  /** A field within a column. `alike` is the same for all items of a list and all values of a MAP, of which one is named. */
  noteField({ shown, alike }: { readonly shown: string; readonly alike: string }, meant: string) {
    this.#add(`field ${alike}`, { kind: 'field', name: shown, hint: `did you mean "${meant}"?` })
  }

  /** A field whose object has the columns that the event itself lacks. */
  noteEnvelope(name: string) {
    const hint = `the columns are inside of it: send the object in "${name}" alone`
    this.#add('envelope', { kind: 'column', name, hint })
  }

  /** An event without any column: mostly a row of NULLs. `name` is its first field; said only where no column looks like it. */
  noteStranger({ columns }: ModelColumns, name: string) {
    if (this.#found?.has(`column ${name}`) === true || this.#found?.has(STRANGER) === true) return
    const names = columns.slice(0, COLUMNS_NAMED).map((column) => column.name)
    const more = columns.length > COLUMNS_NAMED ? ', …' : ''
    this.#add(STRANGER, { kind: 'event', name, hint: `its columns are ${names.join(', ')}${more}` })
  }

  #add(key: string, found: Found): void {
    this.#found ??= new Map()
    if (!this.#found.has(key)) this.#found.set(key, found)
  }

  warnings(target: string): readonly Warning[] {
    if (this.#found === null) return NONE
    return Array.from(this.#found.values(), ({ kind, name, hint }) => ({
      code: 'unknown-field',
      message:
        kind === 'event'
          ? `no field of the event is a column of ${target}; ${hint}`
          : `${target} has no ${kind} "${name}", so its value is not stored; ${hint}`,
      target: name,
    }))
  }
}
