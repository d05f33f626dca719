// `eider move`: tables, history and state of one target become those of another, which has none. The source is only read.
//
//   1 both leases; the source at one state; refusals      3 each table in a transaction, with a note that it is there
//   2 the content of each table of the source             4 state and the end of the move in one transaction
//
// A move that was interrupted goes on when it is started again: a table that is there, and is still what the source has,
// is not copied again.

import { sql } from '../../core/sql.ts'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { EnvironmentError } from '../../core/failures.ts'
import type { ModelName } from '../../core/names.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { makeOwnedDirectory } from '../../files/owned-directory.ts'
import { forgetMoved, readMove, startMove, type TableContent } from '../../store/moved-tables.ts'
import { isInterruption } from '../failure.ts'
import { interruptOnAbort } from '../interrupt.ts'
import { contentOf, copyTable, type Ways } from './copy-table.ts'
import { copyState, type MovedState } from './copy-state.ts'
import {
  refuseOccupied,
  refuseTypes,
  refuseValues,
  type SourceTable,
  tablesOf,
  inWordsOf,
  sideName,
  openDestination,
  type OpenSide,
  openSource,
  type Side,
} from './sides.ts'

interface MoveOptions {
  readonly from: Side
  readonly to: Side
  readonly waitMs: number
  readonly signal: AbortSignal
  readonly onStep: (step: MoveStep) => void
}

export interface MoveStep {
  readonly doing: 'reading' | 'copying' | 'copied'
  readonly table: ModelName
  /** Tables that are done with. */
  readonly done: number
  readonly total: number
  readonly moved?: MovedTable
}

export interface MovedTable extends TableContent {
  readonly table: ModelName
  /** False: an earlier, interrupted move has brought it. */
  readonly copied: boolean
}

export interface Moved extends MovedState {
  readonly tables: readonly MovedTable[]
  /** Relations of the source that were left: the next run makes its views. */
  readonly left: readonly string[]
}

/** null: interrupted. Throws EnvironmentError. */
export async function moveTarget(options: MoveOptions): Promise<Moved | null> {
  const { from, to, waitMs, signal } = options
  const moveId = `move-${randomUUID().slice(0, 6)}`
  const lease = { waitMs, signal, name: moveId }
  try {
    await using source = await openSource(from, lease)
    const { tables, others } = await inWordsOf(from, () => tablesOf(source))
    refuseTypes(tables, to)
    await using destination = await openDestination(to, lease)
    using _interrupts = interruptOnAbort([source.connection, destination.connection], signal)
    const before = await inWordsOf(to, () => begun(source, destination))
    const contents = await readContents(options, source, tables)
    await using dir = await makeOwnedDirectory(join(to.paths.state, 'tmp'), 'move-')
    const ways = { from: source, to: destination, dir: dir.path }
    await inWordsOf(to, () => dropOthers(destination, before, contents))
    const moved = await copyTables(options, ways, { tables, contents, before })
    signal.throwIfAborted()
    const state = await copyState(ways, moveId)
    await to.store.warehouse.checkpoint(destination.connection, 'much')
    return { tables: moved, left: others, ...state }
  } catch (error) {
    if (isInterruption(error, signal)) return null
    throw isConflict(error) ? changedMeanwhile(to, error) : error
  }
}

type Contents = ReadonlyMap<ModelName, TableContent>

/** What has arrived by an earlier move from the same source; nothing of another may be there. */
async function begun(from: OpenSide, to: OpenSide): Promise<Contents> {
  const { connection, side } = to
  const earlier = await readMove(connection, to.known.catalog)
  const source = from.side.target ?? ''
  if (earlier === null) {
    await refuseOccupied(to)
    await side.store.state.change(connection, () => startMove(connection, source))
    return new Map()
  }
  if (earlier.source === source) return earlier.tables
  const other = sideName({ target: earlier.source === '' ? null : earlier.source })
  throw new EnvironmentError(
    'move-refused',
    `a move from ${other} into ${sideName(side)} was interrupted, and is not finished`,
    { hint: 'finish that one first, or move into another target' },
  )
}

/** Before anything is copied, so that all is known that could be refused. */
async function readContents(
  { from, to, signal, onStep }: MoveOptions,
  { connection }: OpenSide,
  tables: readonly SourceTable[],
): Promise<Contents> {
  const contents = new Map<ModelName, TableContent>()
  for (const [done, table] of tables.entries()) {
    signal.throwIfAborted()
    const { name, columns } = table
    onStep({ doing: 'reading', table: name, done, total: tables.length })
    await inWordsOf(from, async () => {
      await refuseValues(connection, table, to)
      contents.set(name, await contentOf(connection, sql.relation(name), columns))
    })
  }
  return contents
}

/** The source had them when the move was interrupted, and has them no longer. */
async function dropOthers(
  { side, connection }: OpenSide,
  before: Contents,
  contents: Contents,
): Promise<void> {
  const { state, tables } = side.store
  for (const name of before.keys())
    if (!contents.has(name))
      await state.change(connection, async () => {
        await tables.drop(connection, name, 'table')
        await forgetMoved(connection, name)
      })
}

interface Work {
  readonly tables: readonly SourceTable[]
  readonly contents: Contents
  readonly before: Contents
}

async function copyTables(
  { signal, onStep }: MoveOptions,
  ways: Ways,
  { tables, contents, before }: Work,
): Promise<readonly MovedTable[]> {
  const moved: MovedTable[] = []
  const total = tables.length
  for (const table of tables) {
    signal.throwIfAborted()
    const { name } = table
    const content = contents.get(name)!
    const there = before.get(name)
    const copied = there?.hash !== content.hash || there.rows !== content.rows
    if (copied) {
      onStep({ doing: 'copying', table: name, done: moved.length, total })
      await copyTable(ways, table, { content, again: there !== undefined })
    }
    const one = { table: name, ...content, copied }
    moved.push(one)
    onStep({ doing: 'copied', table: name, done: moved.length, total, moved: one })
  }
  return moved
}

const changedMeanwhile = (to: Side, cause: unknown): EnvironmentError =>
  new EnvironmentError(
    'move-refused',
    `another process has changed ${sideName(to)} while tables were moved into it`,
    {
      hint: 'move into a target that nobody else uses yet; started again, the move continues',
      cause,
    },
  )
