// The two targets of a move: where tables come from, which is only read, and where they go.

import { EnvironmentError } from '../../core/failures.ts'
import type { ModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { Resources } from '../../core/resources.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Known } from '../../store/state.ts'
import type { LeaseOptions } from '../../store/run-lease.ts'
import type { Store } from '../../store/store.ts'
import type { ReadOptions } from '../../store/warehouse.ts'
import { isInterruption, toEnvironmentError } from '../failure.ts'
import { readRenaming } from '../rename/record.ts'

export interface Side {
  /** The name of the target; null: the default one. */
  readonly target: string | null
  readonly paths: ProjectPaths
  readonly store: Store
  readonly engine: ReadOptions
  /** Names as the project spells them. */
  readonly names: readonly ModelName[]
}

export interface OpenSide extends AsyncDisposable {
  readonly side: Side
  readonly connection: Connection
  readonly known: Known
}

export const sideName = ({ target }: Pick<Side, 'target'>): string => target ?? 'the default target'

const flagOf = ({ target }: Pick<Side, 'target'>): string =>
  target === null ? '' : ` --target ${target}`

/** What `work` does with the store of `side` fails in its words. */
export async function inWordsOf<T>(side: Side, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toEnvironmentError(side.store.explain(error), side.engine.memoryLimit)
  }
}

/** Throws EnvironmentError where there is nothing to move, or a run is at work. */
export async function openSource(side: Side, lease: LeaseOptions): Promise<OpenSide> {
  const { store, paths, engine } = side
  if (!(await store.warehouse.exists()))
    throw new EnvironmentError('warehouse-missing', `${sideName(side)} has no tables yet`, {
      hint: `eider run${flagOf(side)} creates them`,
    })
  await using resources = new Resources()
  resources.use(await leaseOf(side, lease))
  if ((await readRenaming(paths)) !== null)
    throw new EnvironmentError('move-refused', `an eider mv in ${sideName(side)} was interrupted`, {
      hint: `eider run${flagOf(side)} finishes it`,
    })
  const database = resources.use(await store.warehouse.openBeside({ ...engine, hasLease: true }))
  const connection = await database.connect()
  const known = await inWordsOf(side, () => store.state.read(connection, side.names))
  return opened(resources, { side, connection, known })
}

/** Makes what is not there yet of its state. */
export async function openDestination(side: Side, lease: LeaseOptions): Promise<OpenSide> {
  const { store, engine } = side
  await using resources = new Resources()
  resources.use(await leaseOf(side, lease))
  const { waitMs: lockWaitMs, signal } = lease
  const database = resources.use(
    await inWordsOf(side, () => store.warehouse.open({ ...engine, lockWaitMs, signal })),
  )
  const connection = await database.connect()
  const known = await inWordsOf(side, () =>
    store.state.begin(connection, side.names, { isMove: true }),
  )
  return opened(resources, { side, connection, known })
}

function opened(resources: Resources, open: Omit<OpenSide, keyof AsyncDisposable>): OpenSide {
  const owned = resources.move()
  return { ...open, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() }
}

async function leaseOf(side: Side, options: LeaseOptions): Promise<AsyncDisposable> {
  try {
    return await inWordsOf(side, () => side.store.lease.take(options))
  } catch (error) {
    if (isInterruption(error, options.signal)) throw error
    if (!(error instanceof EnvironmentError) || error.code !== 'run-locked') throw error
    const { message, hint = '' } = error
    throw new EnvironmentError('run-locked', `${sideName(side)} is not at rest: ${message}`, {
      hint,
      cause: error,
    })
  }
}
