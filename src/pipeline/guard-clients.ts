// What stops at publication: a set whose next rows have another shape, so that clients would break. It stays as it is
// published until somebody accepts the change; its table, and what reads it, is built as ever.

import { hasContract } from '../compiler/contract.ts'
import type { Model } from '../core/model.ts'
import { entitySetName, type ModelName } from '../core/names.ts'
import type { ContractChange } from '../core/report/planned-changes.ts'
import type { ExpectedRelation, PublishedRelation } from '../core/snapshot.ts'
import type { Connection } from '../duckdb/database.ts'
import { forgetAccepted, readAccepted } from '../store/accepted.ts'
import type { StateStore } from '../store/state.ts'
import { ModelFailure } from './failure.ts'

/** How a run learns what its publication changes for clients, and what of it is accepted. */
export interface Clients {
  readonly changesOf: (
    before: PublishedRelation,
    after: ExpectedRelation,
  ) => Promise<readonly ContractChange[]>
  /** The models of which any change is accepted; null: all. */
  readonly accepted: ReadonlySet<ModelName> | null
}

export class ClientGuard {
  readonly #connection: Connection
  readonly #clients: Clients
  /** Those whose changes were accepted before. */
  readonly #passed = new Set<ModelName>()

  constructor(connection: Connection, clients: Clients) {
    this.#connection = connection
    this.#clients = clients
  }

  /** Throws ModelFailure. */
  async check(
    model: Model,
    before: PublishedRelation,
    after: Pick<PublishedRelation, 'key' | 'columns'>,
  ): Promise<void> {
    const { changesOf, accepted } = this.#clients
    if (accepted === null || accepted.has(model.name) || !isGuarded(model)) return
    const changes = await changesOf(before, { ...before, ...after, perhapsNullable: [] })
    const breaking = changes.filter((change) => change.breaking)
    if (breaking.length === 0) return
    const known = await readAccepted(this.#connection, before)
    const left = breaking.filter(({ change }) => !known.has(change))
    if (left.length > 0) throw new ModelFailure(stoppedText(model, left), 'expose')
    this.#passed.add(model.name)
  }

  /** Once they are published. */
  async forget(state: StateStore): Promise<void> {
    const models = [...this.#passed]
    if (models.length > 0)
      await state.change(this.#connection, () => forgetAccepted(this.#connection, models))
  }
}

/** What a contract lets through, its author has let through. */
export const isGuarded = ({ source }: Pick<Model, 'source'>): boolean => !hasContract(source.text)

function stoppedText({ name }: Model, changes: readonly ContractChange[]): string {
  const texts = changes.map(({ change }) => change).join('; ')
  return `clients of ${entitySetName(name)} would break, so it stays as it was published: ${texts}; if they are ready: eider run --accept ${name}, or eider plan --accept ${name} for the next run`
}
