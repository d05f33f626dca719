// Which published state somebody means by `--at`: the one that stood at a time, after a run, or with an id.

import { count } from '../core/counts.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { didYouMean } from '../core/suggest.ts'
import { refuseUnfinished } from '../pipeline/erase/record.ts'
import { recordedRun } from '../pipeline/history.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { KeptState, KeptStates } from '../store/past-states.ts'
import type { Store } from '../store/store.ts'
import type { ReadOptions } from '../store/warehouse.ts'
import { isHeld } from '../wiring/reading.ts'

interface Asked {
  readonly paths: ProjectPaths
  readonly store: Store
  readonly engine: ReadOptions
  readonly at: string
  readonly now: Date
}

/**
 * Throws UsageError for what is not a time and no run, EnvironmentError `nothing-published`, `state-not-kept`, `state-damaged`,
 * and `erase-unfinished` while older states may hold what has to go.
 */
export async function findPastState(asked: Asked): Promise<KeptState> {
  const at = asked.at.trim()
  const moment = momentOf(at, asked.now)
  await refuseUnfinished(asked.paths)
  const kept = await asked.store.past.list()
  const newest = kept.states.at(-1)
  if (newest === undefined)
    throw new EnvironmentError('nothing-published', 'nothing is published yet', {
      hint: 'eider run publishes the models with @expose; only these can be read as they were',
    })
  if (moment !== null) return stateAt(moment, at, kept)
  return (
    kept.states.findLast(({ id, runId }) => id === at || runId === at) ??
    (await stateAfterRun(asked, at, kept))
  )
}

export const stateText = ({ publishedAt, runId }: KeptState): string =>
  `${publishedAt.toISOString()}, published by run ${runId}`

/** The first moment that is no longer meant, in ms: a day, a minute or a second is meant to its end. null: it is not a time. */
function momentOf(at: string, now: Date): number | null {
  const found =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)?)?$/i.exec(at)
  if (found === null) return null
  const [, date = '', time, seconds, fraction, zone = 'Z'] = found
  const offset = zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
  const startMs = Date.parse(
    `${date}T${time ?? '00:00'}${seconds ?? ':00'}${(fraction ?? '').slice(0, 4)}${offset}`,
  )
  const isDate = new Date(`${date}T00:00Z`).toJSON()?.startsWith(date) === true
  if (Number.isNaN(startMs) || !isDate)
    throw new UsageError(`--at ${at} is not a time`, { hint: HOW_TO_SAY })
  if (startMs > now.getTime())
    throw new UsageError(`--at ${at} is in the future: it is ${now.toISOString()}`, {
      hint: 'times without a zone are UTC; name a time that has passed, or the id of a run',
    })
  if (time === undefined) return startMs + 86_400_000
  if (seconds === undefined) return startMs + 60_000
  return startMs + (fraction === undefined ? 1000 : 1)
}

const HOW_TO_SAY =
  'a date (2026-11-01: the end of that day), a date with time (2026-11-01T12:30), or the id of a run'

function stateAt(before: number, at: string, { states, unreadable }: KeptStates): KeptState {
  const last = states.findLast(({ publishedAt }) => publishedAt.getTime() < before)
  if (last === undefined)
    throw new EnvironmentError('state-not-kept', `no published state of ${at} is kept`, {
      hint: whatIsKept(states),
    })
  // Only the newest is known to be the one that stood then.
  const [lost] = last.replacedAt === null ? [] : unreadable
  if (lost !== undefined)
    throw new EnvironmentError(
      'state-damaged',
      `${lost} is damaged, so nobody knows whether that state stood at ${at}`,
      { hint: `name a state by its run, such as ${last.runId}; ${whatIsKept(states)}` },
    )
  // What stood between two times of a state that came back may be gone.
  if (last.replacedAt !== null && last.replacedAt.getTime() < before)
    throw new EnvironmentError('state-not-kept', `the published state of ${at} is gone`, {
      hint: whatIsKept(states),
    })
  return last
}

function whatIsKept(states: readonly KeptState[]): string {
  const [oldest, newest] = [states[0]!, states.at(-1)!]
  const of = (state: KeptState) => `${state.publishedAt.toISOString()} (run ${state.runId})`
  const how = 'odata.keep_snapshots and odata.keep_minutes say how many'
  return states.length === 1
    ? `one state is kept, of ${of(newest)}; ${how}`
    : `${count(states.length, 'state')} are kept, from ${of(oldest)} to ${of(newest)}; ${how}`
}

/** A run that found nothing new left the state of an earlier one. */
async function stateAfterRun(asked: Asked, at: string, kept: KeptStates): Promise<KeptState> {
  const { states } = kept
  const run = /^\d{8}T\d{6}Z-/.test(at) ? await readRun(asked, at) : null
  if (run === null) {
    const known = states.flatMap(({ id, runId }) => [runId, id])
    throw new UsageError(`--at ${at} is neither a time nor a run that is recorded`, {
      hint: didYouMean(at, known) ?? `${HOW_TO_SAY}; ${whatIsKept(states)}`,
    })
  }
  if (run.snapshot === null && !run.isCommand)
    throw new UsageError(`run ${at} published nothing: it ended before it got there`, {
      hint: whatIsKept(states),
    })
  const found = states.findLast(
    ({ id, publishedAt }) => id === run.snapshot && publishedAt <= run.finishedAt,
  )
  if (found !== undefined) return found
  throw new EnvironmentError('state-not-kept', `the state after run ${at} is no longer kept`, {
    hint: whatIsKept(states),
  })
}

async function readRun({ store, engine }: Asked, runId: string) {
  await using database = await store.warehouse.openToRead(engine).catch(async (error: unknown) => {
    const last = isHeld(error) ? await store.warehouse.openLastState(engine) : null
    if (last === null) throw error
    return last
  })
  await using connection = await database.connect()
  return await recordedRun({ connection, store }, runId)
}
