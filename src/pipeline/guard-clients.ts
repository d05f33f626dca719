// What stops at publication: a set whose next rows have another shape, so that clients would break. It stays as it is
// published until somebody accepts the change; its table, and what reads it, is built as ever.

import { hasContract } from '../compiler/contract.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { entitySetName, type ModelName } from '../core/names.ts'
import { type ContractChange, type ReadBy, readByText } from '../core/report/planned-changes.ts'
import type { ExpectedRelation, PublishedRelation } from '../core/snapshot.ts'
import type { Connection } from '../duckdb/database.ts'
import { forgetAccepted, readAccepted } from '../store/accepted.ts'
import type { StateStore } from '../store/state.ts'
import { ModelFailure } from './failure.ts'
import { isRead, readByOf, type TokensOf } from './read-by.ts'

/** How a run learns what its publication changes for clients, and what of it is accepted. */
export interface Clients {
  readonly changesOf: (
    before: PublishedRelation,
    after: ExpectedRelation,
  ) => Promise<readonly ContractChange[]>
  /** The models of which any change is accepted; null: all. */
  readonly accepted: ReadonlySet<ModelName> | null
  readonly tokensOf: TokensOf
}

export class ClientGuard {
  readonly #connection: Connection
  readonly #clients: Clients
  readonly #project: CompiledProject
  /** Those whose changes were accepted before. */
  readonly #passed = new Set<ModelName>()

  constructor(connection: Connection, clients: Clients, project: CompiledProject) {
    this.#connection = connection
    this.#project = project
    this.#clients = clients
  }

  /** Throws ModelFailure. */
  async check(
    model: Model,
    before: PublishedRelation,
    after: Pick<PublishedRelation, 'key' | 'columns'>,
  ): Promise<void> {
    const { changesOf, accepted, tokensOf } = this.#clients
    if (accepted === null || accepted.has(model.name) || !isGuarded(model)) return
    const changes = await changesOf(before, { ...before, ...after, perhapsNullable: [] })
    const breaking = changes.filter((change) => change.breaking)
    if (breaking.length === 0) return
    const known = await readAccepted(this.#connection, before)
    const left = breaking.filter(({ change }) => !known.has(change))
    if (left.length > 0) {
      const readBy = readByOf(this.#project, model.name, tokensOf, [before, after])
      const readers = isRead(readBy) ? readBy : undefined
      throw new ModelFailure(stoppedText(model, left, readers), 'expose', readers)
    }
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

function stoppedText(
  { name }: Model,
  changes: readonly ContractChange[],
  readBy: ReadBy | undefined,
): string {
  const texts = changes.map(({ change }) => change).join('; ')
  const readers = readBy === undefined ? '' : `; ${readByText(readBy)}`
  return `clients of ${entitySetName(name)} would break, so it stays as it was published: ${texts}${readers}; if they are ready: eider run --accept ${name}, or eider plan --accept ${name} for the next run`
}
