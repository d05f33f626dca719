import type { CompiledProject } from '../../src/core/model.ts'
import { republish } from '../../src/pipeline/republish.ts'
import type { RunRequest } from '../../src/pipeline/run-request.ts'
import { modelName } from './model-name.ts'

/** What `eider publish NAME...` does, without clients. On files: a lake is opened for writing under its lease. */
export async function publishByHand(
  request: Omit<RunRequest, 'project' | 'openClaims'>,
  project: CompiledProject,
  names: readonly string[],
): Promise<void> {
  const { store, logger } = request
  await using warehouse = await store.warehouse.open(request)
  await using connection = await warehouse.connect()
  const { state, snapshots, past } = store
  await republish({
    opened: { state, snapshots, past, connection },
    project,
    names: names.map(modelName),
    retention: { snapshots: 1, ms: 0 },
    logger,
    clients: { changesOf: () => Promise.resolve([]), accepted: null, tokensOf: () => [] },
  })
}
