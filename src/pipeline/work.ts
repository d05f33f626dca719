// What a run does with the open warehouse: flush, build in DAG order, publish.

import { existsSync } from 'node:fs'
import { databasesOf, hashFiles } from '../compiler/file-hashes.ts'
import type { CompiledProject } from '../core/model.ts'
import { readCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import type { BuildContext } from './build/build.ts'
import { buildAll } from './build/build-all.ts'
import { chooseModels, type RunSelection } from './choose.ts'
import { explainFailure, isInterruption } from './failure.ts'
import { flushAll } from './flush/flush-all.ts'
import { readFreshness, sourcesRead } from './plan/source-age.ts'
import { interruptOnAbort } from './interrupt.ts'
import type { Ledger } from './results.ts'
import { replaceMacros } from './build/macros.ts'
import { publish } from './store/publish.ts'
import type { RunOptions } from './run.ts'
import { ensureState, readState, recordRemoved } from './store/state.ts'

const allModels: RunSelection = { include: [], exclude: [], retry: false }

/** An abort ends it early, without an exception; results are in the ledger. `connect` gives further connections. */
export async function work(
  options: RunOptions,
  ledger: Ledger,
  connection: Connection,
  connect: () => Promise<Connection>,
): Promise<void> {
  const { project, signal, modelsAtOnce = 1, failFast = false } = options
  const connections = [connection]
  using _interrupts = interruptOnAbort(connections, signal)
  try {
    const context = await prepare(options, ledger, connection)
    await flush(options, ledger, context)
    while (connections.length < Math.min(modelsAtOnce, context.selected.size))
      connections.push(await connect())
    await buildAll(context, ledger, project, { connections, failFast, signal })
    signal.throwIfAborted() // the next run publishes what this one built
    await forgetRemoved(context, project)
    await publishAll(options, ledger, context)
  } catch (error) {
    if (!isInterruption(error, signal)) throw error
  }
}

async function prepare(
  options: RunOptions,
  ledger: Ledger,
  connection: Connection,
): Promise<BuildContext> {
  const { project, paths, progress, selection = allModels } = options
  const { fullRefresh = false, allowEmpty = false, range = null } = options
  const { models, macros, external } = project
  const catalog = await readCatalog(connection)
  await ensureState(connection, catalog)
  await replaceMacros(connection, macros)
  const state = await readState(connection, models.keys())
  const fileHashes = await hashFiles(connection, paths.dir, models.values(), databasesOf(project))
  const selected = await chooseModels({ connection, state, fileHashes }, models, selection)
  ledger.selected = selected
  const read = sourcesRead(models, selected)
  const tables = (external?.tables ?? []).filter(({ name }) => read.has(name))
  const freshness = await readFreshness(connection, tables, ledger.startedAt)
  if (selected.size < models.size) progress({ event: 'models-selected', models: selected.size })
  const others = [...state.models].filter(([name]) => !selected.has(name))
  return {
    connection,
    catalog,
    state,
    runId: ledger.runId,
    dir: paths.dir,
    startedAt: ledger.startedAt,
    fullRefresh,
    allowEmpty,
    range,
    selected,
    versions: new Map(others.map(([name, { version }]) => [name, version])),
    fileHashes,
    freshness,
  }
}

async function flush(options: RunOptions, ledger: Ledger, context: BuildContext): Promise<void> {
  const { paths, project, logger, signal, progress, onFlushStep } = options
  const { selected } = context
  const collects = [...selected].some((name) => project.models.get(name)?.kind === 'events')
  const hasBuffer = selected.size === project.models.size && existsSync(paths.buffer)
  await flushAll(context, project, {
    openClaims: collects || hasBuffer ? options.openClaims : null,
    logger,
    signal,
    progress,
    onStep: onFlushStep,
    startedAt: ledger.startedAt,
    onFlushed: (model, count) => ledger.countFlushed(model.name, count),
    onFailure: (model, error) => {
      if (isInterruption(error, signal)) return
      ledger.fail(model.name, explainFailure(error, model, null))
    },
  })
}

/** Their relations stay in the warehouse: history is not the tool's to destroy. They are no longer published. */
async function forgetRemoved(
  { connection, state }: BuildContext,
  project: CompiledProject,
): Promise<void> {
  const gone = [...state.models].filter(
    ([name, { removed }]) => !removed && !project.models.has(name),
  )
  if (gone.length > 0)
    await recordRemoved(
      connection,
      gone.map(([name]) => name),
    )
}

async function publishAll(
  { project, paths, progress, now, retention }: RunOptions,
  ledger: Ledger,
  { connection, versions, selected }: BuildContext,
): Promise<void> {
  const startedMs = performance.now()
  const { snapshot, changed } = await publish({
    connection,
    dir: paths.snapshots,
    runId: ledger.runId,
    models: project.models.values(),
    versions: new Map([...versions].filter(([name]) => selected.has(name))),
    now: now?.() ?? new Date(),
    ...(retention === undefined ? {} : { retention }),
    onFailure: (model, error) => ledger.fail(model.name, explainFailure(error, model, null)),
  })
  ledger.snapshot = { id: snapshot.id, changed }
  if (!changed) return
  progress({
    event: 'published',
    snapshot: snapshot.id,
    relations: snapshot.relations.length,
    ms: performance.now() - startedMs,
  })
}
