// The selected models in DAG order, on several connections at once. One that fails, and those that read it, keep their
// last good version; the others go on.

import type { CompiledProject, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type BuildContext, createSchemas } from './build.ts'
import { buildGroup, settle } from './build-group.ts'
import type { RunResults } from '../results.ts'
import { readPositions } from '../store/state.ts'

export interface BuildAllOptions {
  /** One for each group of models that may be built at a time; among them that of the context. */
  readonly connections: readonly Connection[]
  /** Start no further model after a failure. */
  readonly failFast: boolean
  readonly signal: AbortSignal
}

/** Throws what is no failure of a model, once nothing runs any more. */
export async function buildAll(
  context: BuildContext,
  results: RunResults,
  project: CompiledProject,
  options: BuildAllOptions,
): Promise<void> {
  const { connections, failFast, signal } = options
  const { selected } = context
  const waiting = new Set(selected)
  const isStopped = () => signal.aborted || (failFast && results.hasFailed)
  const isFinished = (input: ModelName) => !selected.has(input) || results.isFinished(input)
  const take = (sees: (input: ModelName) => boolean): Model | null => {
    if (isStopped()) return null
    for (const name of waiting) {
      const model = project.models.get(name)!
      if (!model.dependsOn.every(sees)) continue
      waiting.delete(name)
      if (!model.dependsOn.every(isFinished) || !settle(work, model)) return model
    }
    return null
  }
  const positions = await readPositions(context.connection)
  const work = { context, results, positions, signal, isStopped }
  await createSchemas(context, project.models)
  const idle = [...connections]
  const running = new Set<Promise<void>>()
  const start = (first: Model, connection: Connection) => {
    // Its transaction will not see what others commit after it has begun.
    const unseen = new Set([...selected].filter((name) => !isFinished(name)))
    const takeNext = (group: ReadonlySet<ModelName>) =>
      take((input) => group.has(input) || !unseen.has(input))
    const here = { ...work, context: { ...context, connection }, take: takeNext }
    const finished = buildGroup(here, first).finally(() => {
      running.delete(finished)
      idle.push(connection)
    })
    running.add(finished)
  }
  try {
    for (;;) {
      while (idle.length > 0) {
        const model = take(isFinished)
        if (model === null) break
        start(model, idle.shift()!)
      }
      if (running.size === 0) break
      await Promise.race(running)
    }
    if (!signal.aborted && isStopped()) results.skipRest('stopped after the first failure')
  } finally {
    await Promise.allSettled(running)
  }
}
