// `eider pull`: published states of a lake become files of this machine, with the code that a run on one machine publishes
// with. Everything is prepared before anything is shown: files, then the manifest of the state for links that name it,
// then, when it is due, the one that services follow.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { count, grouped } from '../../core/counts.ts'
import { EnvironmentError } from '../../core/failures.ts'
import { Resources } from '../../core/resources.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import type { LakeEngine } from '../../duckdb/open-lake.ts'
import {
  copiedLock,
  describeHolder,
  LockHeldError,
  takeProcessLock,
} from '../../files/process-lock.ts'
import { isDiskFull } from '../../files/system-errors.ts'
import { DamagedRowsError } from '../table-storage.ts'
import { isWhole, orderBy, fileBytes, writePublished } from '../files/published.ts'
import {
  collectGarbage,
  readSnapshots,
  retainedOf,
  type SnapshotFiles,
  writeRetained,
  writeSnapshot,
} from '../files/snapshot-directory.ts'
import type { Pulled, Puller, PullOptions } from '../store.ts'
import { explainLake, isGone, isMissing } from './failures.ts'
import { formerRows } from './former-rows.ts'
import type { LakeSession } from './session.ts'
import {
  type LakeRelation,
  type LakeSnapshot,
  type PublishedState,
  readState,
  readStates,
} from './published-states.ts'

/** Under this name a former state of the lake is attached. */
const FORMER = '_eider_former'

const NOTHING: Pulled = { snapshot: null, changed: false, files: 0, missed: [] }

export async function openPuller(session: LakeSession): Promise<Puller> {
  const lock = await takeLock(session)
  const kept = { lost: new Set<string>(), damaged: new Set<string>() }
  // Kept from one pull to the next; null where there is none, or it has failed.
  let engine: LakeEngine | null = null
  const close = async () => {
    await engine?.database[Symbol.asyncDispose]()
    engine = null
  }
  return {
    async pull(options) {
      try {
        engine ??= await session.openAttached('pull', {})
        await using connection = await engine.database.connect()
        const { signal } = options
        const place = { dir: session.paths.snapshots, engine, connection, signal, ...kept }
        return await pull(place, options)
      } catch (error) {
        await close()
        if (isMissing(error)) return NOTHING
        throw explainLake(explainDisk(error, session), session.lake)
      }
    },
    async [Symbol.asyncDispose]() {
      await close()
      await lock[Symbol.asyncDispose]()
    },
  }
}

async function takeLock(session: LakeSession): Promise<AsyncDisposable> {
  try {
    return await takeProcessLock(join(session.paths.state, 'pull.lock'))
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw explainDisk(error, session)
    const copied = await copiedLock(error)
    if (copied !== null) throw copied
    const message = `another process is already pulling: ${describeHolder(error.holder)}`
    throw new EnvironmentError('pull-running', message, {
      hint: 'one such process per machine is enough',
    })
  }
}

interface Place {
  readonly dir: string
  readonly engine: LakeEngine
  readonly connection: Connection
  readonly signal: AbortSignal
  /** Former states whose rows are gone; they are not tried again. */
  readonly lost: Set<string>
  /** Files that could not be made: they are tried first, so that no others are made for nothing again and again. */
  readonly damaged: Set<string>
}

async function pull(place: Place, { retention, takeUpMs, signal }: PullOptions): Promise<Pulled> {
  const { dir, connection, lost } = place
  await mkdir(dir, { recursive: true })
  const there = await readSnapshots(dir)
  const now = new Date()
  // What a crash has left goes first: pulls that die here, one after the other, must not fill the disk.
  await collectGarbage(dir, there, { now, retention })
  const [newest, ...others] = retainedOf(await readStates(connection), { now, retention })
  if (newest === undefined) return NOTHING
  const missed: string[] = []
  let files = 0
  let snapshot: Snapshot | null = null
  for (const state of [newest, ...others]) {
    if (signal.aborted) break
    const isFormer = state !== newest
    if (isFormer && lost.has(state.id)) continue
    const made = await makeState(place, state, there, isFormer)
    if (made === null) missed.push(state.id)
    else files += made.files
    if (made === null && isFormer) lost.add(state.id)
    if (isFormer) continue
    snapshot = made?.snapshot ?? null
    // Others can wait until services have what is new.
    if (snapshot !== null) await show(place, snapshot, there, takeUpMs)
  }
  const current = snapshot ?? there.current
  const retained = (await readSnapshots(dir)).retained
  await collectGarbage(dir, { current, retained }, { now: new Date(), retention })
  const changed = current !== null && there.current?.id !== current.id
  return { snapshot: current, changed, files, missed }
}

/** With the sizes that its files have here; null: the lake has it no longer, or not all rows of a former one. */
async function makeState(
  place: Place,
  state: PublishedState,
  there: SnapshotFiles,
  isFormer: boolean,
): Promise<{ readonly snapshot: Snapshot; readonly files: number } | null> {
  const { dir, connection } = place
  const known = [there.current, ...there.retained].find((one) => one?.id === state.id)
  if (known != null && (await areWhole(dir, known))) {
    if (!there.retained.some(({ id }) => id === known.id)) await writeRetained(dir, known)
    return { snapshot: known, files: 0 }
  }
  const wanted = await readState(connection, state)
  if (wanted === null) return null
  try {
    const files = await makeFiles(place, wanted, [there.current, ...there.retained])
    const snapshot = await withSizes(dir, wanted)
    await writeRetained(dir, snapshot)
    return { snapshot, files }
  } catch (error) {
    if (isGone(error) || (isFormer && error instanceof DamagedRowsError)) return null
    throw error
  }
}

async function areWhole(dir: string, { relations }: Snapshot): Promise<boolean> {
  for (const relation of relations) if (!(await isWhole(dir, relation))) return false
  return true
}

/** Those that are missing, cut short or marked as damaged. */
async function makeFiles(
  place: Place,
  { relations }: LakeSnapshot,
  known: readonly (Snapshot | null)[],
): Promise<number> {
  const sizes = new Map(
    known.flatMap((one) => one?.relations ?? []).map(({ file, bytes }) => [file, bytes]),
  )
  const wanted: LakeRelation[] = []
  for (const relation of relations) {
    const bytes = sizes.get(relation.file)
    if (bytes === undefined || !(await isWhole(place.dir, { ...relation, bytes })))
      wanted.push(relation)
  }
  const isDamaged = ({ file }: LakeRelation) => Number(place.damaged.has(file))
  const ordered = wanted.toSorted((one, other) => isDamaged(other) - isDamaged(one))
  for (const at of new Set(ordered.map((relation) => relation.at))) {
    await using former = await attachFormer(place, at)
    for (const relation of ordered.filter((one) => one.at === at)) {
      place.signal.throwIfAborted()
      await makeFile(place, former.connection, relation)
    }
  }
  return wanted.length
}

async function makeFile(
  { dir, engine, damaged }: Place,
  connection: Connection,
  relation: LakeRelation,
): Promise<void> {
  const { model, file, rows } = relation
  const hint = `put it back from the versions of the bucket, or build it: eider run ${model} --full-refresh`
  const check = (found: number) => {
    if (found === rows) return
    const message = `${count(found, 'row')} came back from the lake, and ${grouped(rows)} were published`
    throw new DamagedRowsError(message, { hint })
  }
  try {
    await writePublished(dir, connection, file, await rowsOf(connection, relation), check)
    damaged.delete(file)
  } catch (error) {
    const explained = explainLake(error, engine.lake)
    if (!(explained instanceof DamagedRowsError)) throw explained
    damaged.add(file)
    throw new DamagedRowsError(`${model}: ${explained.message}`, { hint, cause: error })
  }
}

/** A connection on which the lake is as it was. */
async function attachFormer({ engine }: Place, at: string) {
  await using resources = new Resources()
  const connection = await engine.database.connect()
  resources.defer(async () => {
    await connection
      .run(sql`USE memory; DETACH DATABASE IF EXISTS ${sql.ident(FORMER)}`)
      .catch(() => {})
    await connection[Symbol.asyncDispose]()
  })
  await engine.attachAs(connection, FORMER, { readOnly: true, version: BigInt(at) })
  await connection.run(sql`USE ${sql.ident(FORMER)}`)
  const owned = resources.move()
  return { connection, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() }
}

/** In the order of the key; without one in that of the table, which merging its files keeps. */
async function rowsOf(connection: Connection, relation: LakeRelation): Promise<Sql> {
  const order = relation.key.length === 0 ? sql`ORDER BY rowid` : orderBy(relation.key)
  return sql`${await formerRows(connection, relation, FORMER)} ${order}`
}

async function withSizes(dir: string, snapshot: LakeSnapshot): Promise<Snapshot> {
  const relations = []
  for (const { at: _at, evaluated: _evaluated, ...relation } of snapshot.relations)
    relations.push({ ...relation, bytes: (await fileBytes(join(dir, relation.file))) ?? 0 })
  return { ...snapshot, relations }
}

async function show(
  { dir, signal }: Place,
  snapshot: Snapshot,
  { current, isShown }: SnapshotFiles,
  takeUpMs: number,
): Promise<void> {
  if (current?.id === snapshot.id && isShown) return
  const restMs = snapshot.publishedAt.getTime() + takeUpMs - Date.now()
  if (current !== null && restMs > 0) await sleep(Math.min(restMs, takeUpMs), undefined, { signal })
  await writeSnapshot(dir, snapshot)
}

/** Explains a full disk of this machine, where everything that a pull makes is written. */
function explainDisk(error: unknown, { paths }: LakeSession): unknown {
  // PostgreSQL may say the same of its own disk.
  const isOwn = !(error instanceof DatabaseError) || /Could not write file/.test(error.message)
  if (!isOwn || !isDiskFull(error)) return error
  return new EnvironmentError('disk-full', `the disk of ${paths.state} is full`, {
    hint: 'free some space, and pull again; services show the last state until then',
    cause: error,
  })
}
