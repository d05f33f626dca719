// The selected models in DAG order, on several connections at once. One that fails, and those that read it, keep their
// last good version; the others go on.

import type { ModelName } from '../../core/names.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Step } from '../../core/report/planned-changes.ts'
import type { RunResults } from '../results.ts'
import type { RunContext } from '../run-context.ts'
import type { FlushPosition } from '../../store/state.ts'
import { createSchemas } from './build.ts'
import { buildGroup, settle } from './build-group.ts'

export interface BuildAllOptions {
  /** One for each group of models that may be built at a time; among them that of the context. */
  readonly connections: readonly Connection[]
  /** Do not start another model after a failure. */
  readonly failFast: boolean
  /** The last segment that went into each events model. */
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
}

/** Throws anything that is not a failure of a model, once all work has stopped. */
export async function buildAll(
  context: RunContext,
  results: RunResults,
  steps: readonly Step[],
  { connections, failFast, positions }: BuildAllOptions,
): Promise<void> {
  const { selected, signal } = context
  const waiting = new Set(steps)
  const isStopped = () => signal.aborted || (failFast && results.hasFailed)
  const isFinished = (input: ModelName) => !selected.has(input) || results.isFinished(input)
  const builder = { context, results, positions, isStopped }
  const take = (sees: (input: ModelName) => boolean): Step | null => {
    if (isStopped()) return null
    for (const step of waiting) {
      const { dependsOn } = step.model
      if (!dependsOn.every(sees)) continue
      const isReady = dependsOn.every(isFinished)
      if (step.problem !== null && !isReady) continue // whether it is skipped or fails shows later
      waiting.delete(step)
      if (!isReady || !settle(builder, step)) return step
    }
    return null
  }
  await createSchemas(context, steps)
  const idle = [...connections]
  const running = new Set<Promise<void>>()
  const start = (first: Step, connection: Connection) => {
    // Its transaction will not see what others commit after it has begun.
    const unseen = new Set([...selected].filter((name) => !isFinished(name)))
    const takeNext = (group: ReadonlySet<ModelName>) =>
      take((input) => group.has(input) || !unseen.has(input))
    const here = { ...builder, context: { ...context, connection }, take: takeNext }
    const finished = buildGroup(here, first).finally(() => {
      running.delete(finished)
      idle.push(connection)
    })
    running.add(finished)
  }
  try {
    for (;;) {
      while (idle.length > 0) {
        const step = take(isFinished)
        if (step === null) break
        start(step, idle.shift()!)
      }
      if (running.size === 0) break
      await Promise.race(running)
    }
    if (!signal.aborted && isStopped()) results.skipRest('stopped after the first failure')
  } finally {
    await Promise.allSettled(running)
  }
}
