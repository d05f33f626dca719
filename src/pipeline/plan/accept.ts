// `eider plan --accept`: what a plan says that clients of a set would lose is written down as accepted, so that the next
// run publishes it.

import type { CompiledProject, Model } from '../../core/model.ts'
import { entitySetName } from '../../core/names.ts'
import type { ContractChange } from '../../core/report/planned-changes.ts'
import type { PublishedRelation, Snapshot } from '../../core/snapshot.ts'
import type { Connection } from '../../duckdb/database.ts'
import { readAccepted, recordAccepted } from '../../store/accepted.ts'
import { isEdited, type Known } from '../../store/state.ts'
import type { Store } from '../../store/store.ts'
import { relationType } from '../build/materialize/relation.ts'
import type { Clients } from '../guard-clients.ts'
import { asSpelledIn, publishedColumns } from '../publish.ts'

interface AcceptRequest {
  readonly opened: Pick<Store, 'state' | 'snapshots'> & { readonly connection: Connection }
  readonly project: CompiledProject
  readonly clients: Clients
  readonly contract: readonly ContractChange[]
}

/** Under the lock of a run. Returns what is accepted now, of the models that `clients` names. */
export async function acceptChanges(request: AcceptRequest): Promise<readonly ContractChange[]> {
  const { opened, project, clients, contract } = request
  const { connection, state, snapshots } = opened
  const known = await state.begin(connection, project.models.keys())
  const published = (await snapshots.current())?.relations ?? []
  const all: ContractChange[] = []
  for (const before of published) {
    const model = project.models.get(before.model)
    if (model === undefined || clients.accepted?.has(model.name) === false) continue
    const set = entitySetName(model.name)
    const built = await builtChanges(request, known, model, before)
    const planned = contract.filter((change) => change.set === set)
    const changes = [...planned, ...built].filter(({ breaking }) => breaking)
    const texts = new Map(changes.map((change) => [change.change, change]))
    if (texts.size === 0) continue
    await state.change(connection, () => recordAccepted(connection, before, [...texts.keys()]))
    all.push(...texts.values())
  }
  return all
}

/** What the run before has built and not published. */
async function builtChanges(
  { opened: { connection }, clients }: AcceptRequest,
  { state: { models }, catalog }: Known,
  model: Model,
  before: PublishedRelation,
): Promise<readonly ContractChange[]> {
  const record = models.get(model.name)
  const { expose, name } = model
  if (expose === null || record === undefined || record.removed || isEdited(record, model))
    return []
  if (relationType(catalog, name) === null) return []
  const columns = await publishedColumns(connection, model, expose.key)
  const key = expose.key.map((column) => asSpelledIn(columns, column))
  return clients.changesOf(before, { ...before, key, columns, perhapsNullable: [] })
}

/** Those of the changes of a plan that somebody has accepted before. */
export async function findAccepted(
  connection: Connection,
  published: Snapshot | null,
  contract: readonly ContractChange[],
): Promise<readonly ContractChange[]> {
  const found: ContractChange[] = []
  for (const relation of published?.relations ?? []) {
    const set = entitySetName(relation.model)
    const changes = contract.filter((change) => change.set === set && change.breaking)
    if (changes.length === 0) continue
    const accepted = await readAccepted(connection, relation)
    found.push(...changes.filter(({ change }) => accepted.has(change)))
  }
  return found
}
