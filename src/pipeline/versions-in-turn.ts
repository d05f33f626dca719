// Two versions of a project that run in turn on one lake: each builds the models again as it has them. A change is no
// sign of that; a change back to what another run has replaced is.

import type { Logger } from '../core/logger.ts'
import type { Step } from '../core/step.ts'
import type { RunContext } from './run-context.ts'

export async function warnOfVersions(
  { connection, runId, state, store }: RunContext,
  steps: readonly Step[],
  logger: Logger,
): Promise<void> {
  const changed = steps
    .map(({ model }) => model)
    .filter(({ name, definition }) => {
      const record = state.models.get(name)
      return record !== undefined && !record.removed && record.definition !== definition
    })
  const models = await store.state.changedBack(connection, runId, changed)
  if (models.length === 0) return
  logger.warn('versions-in-turn', {
    models: models.length,
    such_as: models[0],
    problem: 'changed back to a definition that another run has replaced',
    hint: 'if nobody has taken a change back, machines run different versions of the project',
  })
}
