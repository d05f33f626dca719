// DuckDB is real. What is asked of it waits for its turn like everything else. A process that is killed leaves its files as
// they are then: its engines are closed without a checkpoint.

import { createRequire } from 'node:module'
import { patch } from './patch.ts'
import type { SimulatedProcess } from './world.ts'

const ASYNC = [
  'get_or_create_from_cache',
  'open',
  'connect',
  'query',
  'prepare',
  'execute_prepared',
  'execute_prepared_streaming',
  'extract_statements',
  'prepare_extracted_statement',
  'execute_pending',
  'fetch_chunk',
]

type Bindings = typeof import('@duckdb/node-bindings')
type Database = Parameters<Bindings['close_sync']>[0]
type Connection = Parameters<Bindings['disconnect_sync']>[0]

interface Engine {
  readonly process: SimulatedProcess
  readonly database: Database
  readonly connections: Connection[]
}

const engines = new Set<Engine>()

/**
 * Those of killed processes, which are closed below. The code of such a process goes on to the next thing that it asks for,
 * and may close its engine before; DuckDB ends the process when that happens while a connection is made.
 */
const closing = new Set<Database>()

/** Called around each thing that an engine does, with its name. */
type Around = (process: SimulatedProcess, work: () => Promise<unknown>) => Promise<unknown>
let around: Around = (_, work) => work()

export const aroundEngine = (next: Around): void => {
  around = next
}

const require = createRequire(import.meta.url)
const bindings = replaceable()

/** The functions of the addon cannot be replaced, so whoever loads it from now on gets an object that has them. */
function replaceable(): Bindings {
  const native = require('@duckdb/node-bindings') as Bindings
  const copy = Object.create(null) as Bindings
  for (const name of Object.getOwnPropertyNames(native))
    Reflect.set(copy, name, Reflect.get(native, name))
  require.cache[require.resolve('@duckdb/node-bindings')]!.exports = copy
  return copy
}

export function patchEngine(): void {
  for (const name of ASYNC)
    patch(bindings, name, (process, original, args) => {
      const text = typeof args[1] === 'string' ? args[1].replaceAll(/\s+/g, ' ').slice(0, 60) : ''
      const what = `engine ${name} ${withoutTimes(text)}`
      // Before the power goes, which closes what is known.
      const work = async () => {
        const result = await (original(...args) as Promise<unknown>)
        remember(process, name, args, result)
        return result
      }
      return process.world.ask(process, what, () => around(process, work))
    })
  // Also outside of any process, as when an opening is given up.
  const close = bindings.close_sync
  bindings.close_sync = (database) => {
    for (const engine of engines) if (engine.database === database) engines.delete(engine)
    if (!closing.has(database)) close(database)
  }
}

/** What the engine says of its own clock is not of the world. */
const withoutTimes = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+/g, 'TIME')

function remember(process: SimulatedProcess, name: string, args: unknown[], result: unknown) {
  if (name === 'open') engines.add({ process, database: result as Database, connections: [] })
  if (name !== 'connect') return
  for (const engine of engines)
    if (engine.database === args[0]) engine.connections.push(result as Connection)
}

/** Closes what a killed process had open. Its files have to be put back by who calls. */
export async function closeEnginesOf(isGone: (process: SimulatedProcess) => boolean) {
  for (const engine of engines) {
    if (!isGone(engine.process)) continue
    engines.delete(engine)
    for (const connection of engine.connections)
      ignoreError(() => bindings.disconnect_sync(connection))
    closing.add(engine.database)
    const last = await bindings.connect(engine.database)
    await bindings.query(last, 'PRAGMA disable_checkpoint_on_shutdown')
    bindings.disconnect_sync(last)
    closing.delete(engine.database)
    bindings.close_sync(engine.database)
  }
}

/** It was closed before. */
function ignoreError(work: () => void): void {
  try {
    work()
  } catch {}
}
