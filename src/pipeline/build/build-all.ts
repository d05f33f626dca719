// The steps of a run in DAG order, on several connections at once. A model that fails, and those that read it, keep their
// last good version; the others go on. One step a model: what reads a model waits for that step.

import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelName, foldCase, splitModelName } from '../../core/names.ts'
import { limits } from '../../core/limits.ts'
import { readAllColumns } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Step } from '../../core/step.ts'
import type { RunResults } from '../results.ts'
import { type RunContext, recordOf } from '../run-context.ts'
import type { FlushPosition, SavedMacro, StateStore } from '../../store/state.ts'
import { buildGroup, finishEarly, hasWork } from './build-group.ts'
import type { Macro, Model } from '../../core/model.ts'
import { sql } from '../../core/sql.ts'
import { keepOf } from '../../core/retention.ts'
import { columnsToNote } from '../changes/read-through.ts'
import { haveFollowers } from '../changes/touched.ts'
import { isRuleChanged } from '../rules/parts.ts'
import { keepsRules } from '../rules/rule.ts'
import { createSchema, relationType } from './materialize/relation.ts'

interface BuildAllOptions {
  /** One for each group of models that may be built at a time; among them that of the context. */
  readonly connections: readonly Connection[]
  readonly failFast: boolean
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
  const builder = { context, results, positions, isStopped, commits: { lastMs: 0 } }
  const take = (sees: (input: ModelName) => boolean, place?: Step['runs']): Step | null => {
    if (isStopped()) return null
    for (const step of waiting) {
      const { dependsOn } = step.model
      if (!dependsOn.every(sees) || step.runs !== (place ?? step.runs)) continue
      // Pieces have transactions of their own, which none shares.
      if (place !== undefined && step.pieces.length > 0) continue
      const isReady = dependsOn.every(isFinished)
      if (step.problem !== null && !isReady) continue // whether it is skipped or fails shows later
      waiting.delete(step)
      if (!isReady || !finishEarly(builder, step)) return step
    }
    return null
  }
  await prepare(context, steps)
  const idle = [...connections]
  const running = new Set<Promise<void>>()
  const { apartMs } = context.store.groups
  let takenMs = 0
  const leftMs = () => (running.size === 0 ? 0 : takenMs + apartMs - performance.now())
  const start = (first: Step, connection: Connection) => {
    // Its transaction will not see what others commit after it has begun.
    const unseen = new Set([...selected].filter((name) => !isFinished(name)))
    const takeNext = (group: ReadonlySet<ModelName>) => {
      takenMs = performance.now()
      return take((input) => group.has(input) || !unseen.has(input), 'here')
    }
    takenMs = performance.now()
    const here = { ...builder, context: { ...context, connection }, take: takeNext }
    const finished = buildGroup(here, first).finally(() => {
      running.delete(finished)
      idle.push(connection)
    })
    running.add(finished)
  }
  try {
    for (;;) {
      while (idle.length > 0 && leftMs() <= 0) {
        const step = take(isFinished)
        if (step === null) break
        start(step, idle.shift()!)
      }
      if (running.size === 0) break
      const wait = idle.length > 0 && waiting.size > 0 ? leftMs() : 0
      const turn = wait > 0 ? [sleep(wait, undefined, { ref: false })] : []
      await Promise.race([...running, ...turn])
    }
    if (!signal.aborted && isStopped()) results.skipRest('stopped after the first failure')
  } finally {
    await Promise.allSettled(running)
  }
}

/**
 * The macros of the project in the warehouse, before the models that call them. A leftover macro would keep hiding the
 * DuckDB function of the same name. Changes nothing when the macros are those of the run before.
 */
export async function replaceMacros(
  state: StateStore,
  connection: Connection,
  before: readonly SavedMacro[],
  macros: readonly Macro[],
): Promise<void> {
  const now = macros.map(({ name, body }) => ({ name, text: body.text }))
  if (JSON.stringify(before) === JSON.stringify(now)) return
  await state.change(connection, async () => {
    for (const { name } of before) {
      await connection.run(sql`DROP MACRO IF EXISTS ${sql.ident(name)}`)
      await connection.run(sql`DROP MACRO TABLE IF EXISTS ${sql.ident(name)}`)
    }
    for (const { body } of macros)
      await connection.run(sql`CREATE OR REPLACE MACRO ${sql.body(body)}`)
    await state.recordMacros(connection, macros)
  })
}

// What has to be there before the steps of a run begin.

/**
 * Makes the schemas of models that have none yet, and the places where slices and changes are remembered. Not in the transactions of
 * the steps: two that create one schema at once would conflict.
 */
async function prepare(context: RunContext, steps: readonly Step[]): Promise<void> {
  const { connection, catalog, store } = context
  const missing = new Map<string, ModelName>()
  const made = steps.filter((step) => hasWork(step) && step.problem === null)
  const isRuleNew = made.some(({ model }) => {
    const record = keepsRules(model) ? recordOf(context, model) : null
    return record !== null && keepsRules(model) && isRuleChanged(context, record, model)
  })
  if (isRuleNew || made.some(({ slice, ranges }) => slice !== 'whole' || ranges.length > 0))
    await store.state.makeSlices(connection)
  const isMeant = context.forwardOnly && made.some(({ older }) => older !== undefined)
  if (isRuleNew || isMeant) await store.state.makeOlderRows(connection)
  const models = made.map(({ model }) => model)
  const loseFollowedRows = (model: Model) =>
    keepOf(model) !== null && columnsToNote(context, model).length > 0
  if (haveFollowers(context, models) || models.some(loseFollowedRows))
    await store.state.makeChanges(connection)
  const before = models.filter(({ name }) => relationType(catalog, name) === 'table')
  if (before.length >= limits.columnsTogether) await readAllColumns(connection, catalog)
  for (const { model } of made) {
    const { name, kind } = model
    if (kind !== 'events' && relationType(catalog, name) === null)
      missing.set(foldCase(splitModelName(name).schema), name)
  }
  if (missing.size === 0) return
  const statements = Array.from(missing.values(), createSchema)
  await connection.transact(() => connection.run(sql.join(statements, sql`;\n`)))
}
