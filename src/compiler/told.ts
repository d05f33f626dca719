// What is found in a project, and which of it is about one model.

import type { Diagnostic } from '../core/diagnostics.ts'
import type { ModelName } from '../core/names.ts'

/** Adds to all that is found, and remembers which model it is about. */
export class Told {
  readonly #found: Diagnostic[]
  readonly #byModel = new Map<ModelName, Diagnostic[]>()

  constructor(found: Diagnostic[]) {
    this.#found = found
  }

  add(model: ModelName, items: readonly Diagnostic[]): void {
    if (items.length === 0) return
    this.#found.push(...items)
    this.#byModel.set(model, [...this.of(model), ...items])
  }

  of(model: ModelName): readonly Diagnostic[] {
    return this.#byModel.get(model) ?? []
  }
}
