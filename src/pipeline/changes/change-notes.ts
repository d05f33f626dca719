// What builds say of what they change, until it is recorded (notes.ts).

import type { ModelName } from '../../core/names.ts'
import type { ClosedRange } from '../../store/changes.ts'

/** Those of the builds that are under way. */
export class ChangeNotes {
  readonly #noted = new Map<ModelName, Map<string, readonly ClosedRange[]>>()

  /** Says that nothing of the column changed but these values, and what was said before. */
  add(model: ModelName, column: string, ranges: readonly ClosedRange[]): void {
    const of = this.#noted.get(model) ?? new Map<string, readonly ClosedRange[]>()
    this.#noted.set(model, of.set(column, [...(of.get(column) ?? []), ...ranges]))
  }

  /** What was said; from here on nothing is. */
  take(model: ModelName): ReadonlyMap<string, readonly ClosedRange[]> {
    const noted = this.#noted.get(model)
    this.#noted.delete(model)
    return noted ?? new Map<string, readonly ClosedRange[]>()
  }
}
