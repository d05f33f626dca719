// Which models of a run have failed, and which must be skipped on their account.

import type { Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'

export class FailedModels {
  /** For a failed or skipped model the failed one that it leads back to. */
  readonly #rootOf = new Map<ModelName, ModelName>()

  get size(): number {
    return this.#rootOf.size
  }

  add(name: ModelName): void {
    this.#rootOf.set(name, name)
  }

  /** Whether the model has failed or must be skipped. */
  has(name: ModelName): boolean {
    return this.#rootOf.has(name)
  }

  /** The failed model for which this one must be skipped; null: there is none. Ask in DAG order. */
  upstreamOf({ name, dependsOn }: Pick<Model, 'name' | 'dependsOn'>): ModelName | null {
    for (const input of dependsOn) {
      const root = this.#rootOf.get(input)
      if (root === undefined) continue
      this.#rootOf.set(name, root)
      return root
    }
    return null
  }
}
