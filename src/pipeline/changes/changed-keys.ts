// Which values of exposed keys the builds of a run touch, so that of a set that is published only what has changed is
// written. Builds say it with what else they say of their changes (notes.ts). What is said too much costs time; a build
// that says nothing may have changed anything.

import type { ModelName } from '../../core/names.ts'
import type { ChangedRows } from '../../store/snapshots.ts'

/** Versions of a table that lead to each other. */
interface Way {
  readonly from: string
  readonly to: Set<string>
}

export class ChangedKeys {
  /** Lists of texts as JSON, by column; null: it may be any value. */
  readonly #values = new Map<ModelName, Map<string, string[] | null>>()
  /** null: nobody knows what has changed. */
  readonly #ways = new Map<ModelName, Way | null>()
  /** Models of which something was said since their last version. */
  readonly #said = new Set<ModelName>()

  /** Rows have come or gone that have these values. */
  add(model: ModelName, column: string, texts: string | null): void {
    this.#said.add(model)
    const of = this.#values.get(model) ?? new Map<string, string[] | null>()
    this.#values.set(model, of)
    const known = of.get(column)
    of.set(column, texts === null || known === null ? null : [...(known ?? []), texts])
  }

  /** Rows have changed of which nobody says anything. */
  lose(model: ModelName): void {
    this.#ways.set(model, null)
  }

  /** A build has ended that has turned one version into another. */
  lead(model: ModelName, { before, after }: { readonly before: string; readonly after: string }) {
    const isSaid = this.#said.delete(model)
    if (before === after) return
    const way = this.#ways.get(model)
    if (!isSaid || way === null) this.#ways.set(model, null)
    else if (way === undefined) this.#ways.set(model, { from: before, to: new Set([after]) })
    else if (way.from === before || way.to.has(before)) way.to.add(after)
    else this.#ways.set(model, null)
  }

  /** In what a version differs from the one that the model had before the run; null: it may be anything. */
  leadingTo(model: ModelName, version: string): ChangedRows | null {
    const way = this.#ways.get(model) ?? null
    if (way === null || !way.to.has(version)) return null
    const values = new Map<string, readonly string[]>()
    for (const [column, texts] of this.#values.get(model) ?? [])
      if (texts !== null) values.set(column, texts)
    return values.size === 0 ? null : { since: way.from, values }
  }
}
