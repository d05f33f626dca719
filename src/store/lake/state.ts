// The state of a target in a lake, read and changed (layout.ts). Each message to PostgreSQL is a round trip, so all
// of it is read in one transaction.
//
// A run that loses its lock while it works must do no harm to the one that comes after it. Before it changes anything
// it inserts its mark into `builds`; each build inserts there too, and first looks whether the mark is still there. The
// run that takes the lock deletes the marks that others have left: a build that began before and commits after is then
// refused by the lake, since an insert and a delete in one table conflict.

import { newLine } from '../../core/in-turn.ts'
import type { Kind, Macro, Model } from '../../core/model.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, type ModelName, spelledAs } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { refuseUnfinishedMove } from '../moved-tables.ts'
import {
  type BeginOptions,
  type FinishedRun,
  type FlushPosition,
  type Known,
  type ModelRecord,
  type NewRecord,
  NO_STATE,
  type SavedMacro,
  type SliceRecord,
  type SlicesSummary,
  type StateStore,
} from '../state.ts'
import { readLakeCatalog } from './catalog.ts'
import { makeLayout } from './layout.ts'
import { lockLost } from './lock.ts'
import { type Build, type LakeLook, readLook } from './look.ts'
import type { LakeSession } from './session.ts'
import { readPositions } from './positions.ts'
import { retried } from './retried.ts'
import { ChangeTables } from '../changes.ts'
import { SliceTable } from '../slices.ts'

/** A run that has not ended: it works, or has died. */
interface Mark {
  readonly runId: string
  /** That it had locked; null: all. */
  readonly models: readonly string[] | null
}

interface Found extends Known {
  readonly marks: readonly Mark[]
  readonly lastSeq: number
}

export class LakeState implements StateStore {
  readonly #session: LakeSession
  #seq = 1
  readonly #slices = new SliceTable({ deletes: false })
  readonly olderRows = this.#slices.olderRows
  readonly changes = new ChangeTables({ deletes: false })
  /**
   * Two connections that read the same state of the catalog at the same moment leave one copy of it to DuckLake, and
   * the transaction that read the other one goes on with freed memory: it has made tables in a schema that it does not
   * know (test/lake/changes-at-once.test.ts). A transaction reads the catalog when it begins and when it commits.
   */
  readonly #inTurn = newLine()
  /** The writing of this run's mark; null before it. */
  #started: Promise<void> | null = null

  constructor(session: LakeSession) {
    this.#session = session
  }

  async begin(
    connection: Connection,
    names: Iterable<ModelName>,
    options?: BeginOptions,
  ): Promise<Known> {
    const spelled = [...names]
    const look = this.#session.takeLook()
    let found =
      look === null
        ? await this.#readAll(connection, spelled)
        : await this.#foundIn(connection, look, spelled)
    if (found !== null && options?.isMove !== true) refuseUnfinishedMove(found.catalog)
    found ??= await this.#make(connection, spelled)
    if (found !== null) found = await this.#takeOver(connection, found, spelled)
    if (found === null) throw new Error('the state of the lake is gone')
    this.#seq = found.lastSeq + 1
    return found
  }

  /** One process after the other: the layout is made in several transactions, and only once (layout.ts). */
  async #make(connection: Connection, names: readonly ModelName[]): Promise<Found | null> {
    const { signal } = new AbortController()
    const options = { waitMs: limits.runLockWaitMs, signal }
    await using _turn = await this.#session.holdTurn(null, options)
    const found = await this.#readAll(connection, names)
    if (found !== null) return found
    await makeLayout(connection, this.#session.lake)
    return await this.#readAll(connection, names)
  }

  async read(connection: Connection, names: Iterable<ModelName>): Promise<Known> {
    const found = await this.#readAll(connection, [...names])
    if (found !== null) return found
    return { catalog: await readLakeCatalog(connection), state: NO_STATE, macros: [] }
  }

  async readRecord(connection: Connection, model: ModelName): Promise<ModelRecord | null> {
    const [build] = (await connection.texts(sql`
      SELECT kind, fingerprint, version, definition, removed FROM _eider.builds
      WHERE lower(model) = lower(${sql.value(model)}) ORDER BY seq DESC LIMIT 1`)) as unknown as readonly Build[]
    return build === undefined || build.kind === '' ? null : recordOf(build)
  }

  async changedBack(
    connection: Connection,
    runId: string,
    models: readonly Pick<Model, 'name' | 'definition'>[],
  ): Promise<readonly ModelName[]> {
    if (models.length === 0) return []
    const pairs = models.map(
      ({ name, definition }) => sql`(lower(${sql.value(name)}), ${sql.value(definition)})`,
    )
    const rows = await connection.rows(sql`
      SELECT DISTINCT lower(model) AS model FROM _eider.builds
      WHERE (lower(model), definition) IN (${sql.join(pairs)}) AND run_id <> ${sql.value(runId)}`)
    const found = new Set(rows.map(({ model }) => textOf(model)))
    return models.map(({ name }) => name).filter((name) => found.has(name.toLowerCase()))
  }

  readPositions(connection: Connection): Promise<ReadonlyMap<ModelName, FlushPosition>> {
    return connection.transact(async () =>
      readPositions(connection, await readLakeCatalog(connection)),
    )
  }

  /** Readers of a lake do not wait for runs, so there is nothing to save. */
  saveForReaders = (): Promise<void> => Promise.resolve()

  async change<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
    const { lock } = this.#session
    if (lock === null) return connection.transact(work)
    this.#started ??= this.#start(connection)
    await this.#started
    await lock.check()
    const first = () => this.#requireMark(connection)
    return connection.transact(work, { first, inTurn: this.#inTurn })
  }

  async recordModels(
    connection: Connection,
    runId: string,
    records: readonly NewRecord[],
  ): Promise<void> {
    const rows = records.map(
      ({ model: { name, ...model }, fingerprint, version, removed = false }) => {
        const { kind, definition } = model
        return { runId, model: name, kind, fingerprint, version, definition, removed }
      },
    )
    await this.#insert(connection, rows)
    await this.#slices.record(connection, runId, records)
  }

  readSlices(
    connection: Connection,
    models: Iterable<ModelName>,
    until?: Date,
  ): Promise<readonly SliceRecord[]> {
    return this.#slices.read(connection, models, until)
  }

  summarizeSlices(
    connection: Connection,
    models: Iterable<ModelName>,
  ): Promise<ReadonlyMap<ModelName, SlicesSummary>> {
    return this.#slices.summarize(connection, models)
  }

  makeSlices(connection: Connection): Promise<void> {
    return retried(() => this.#slices.make(connection))
  }

  makeOlderRows(connection: Connection): Promise<void> {
    return retried(() => this.olderRows.make(connection))
  }

  makeChanges(connection: Connection): Promise<void> {
    return retried(() => this.changes.make(connection))
  }

  adoptSlices(connection: Connection, slices: readonly SliceRecord[]): Promise<void> {
    return this.#slices.adopt(connection, slices)
  }

  async recordRemoved(
    connection: Connection,
    runId: string,
    models: readonly ModelName[],
  ): Promise<void> {
    await this.change(connection, async () => {
      for (const model of models)
        await this.#copy(connection, model, sql`${sql.value(runId)}, model`, true)
      for (const model of models) await this.changes.forget(connection, model)
    })
  }

  async recordMacros(connection: Connection, macros: readonly Macro[]): Promise<void> {
    const saved = macros.map(({ name, body }): SavedMacro => ({ name, text: body.text }))
    const definition = JSON.stringify(saved)
    await this.#insert(connection, [
      { ...NOTHING, runId: this.#name, model: MACROS, kind: MACROS, definition },
    ])
  }

  allRuns = (): Promise<Sql> => Promise.resolve(sql`FROM _eider.runs`)

  async recordRun(
    connection: Connection,
    { runId, startedAt, ms, ok }: FinishedRun,
    results: unknown,
  ): Promise<number> {
    const text = JSON.stringify(results)
    const finishedAt = new Date(startedAt.getTime() + Math.round(ms))
    const hasStarted = this.#started !== null
    await retried(() =>
      connection.transact(async () => {
        await connection.run(sql`
          INSERT INTO _eider.runs VALUES (${sql.value(runId)}, ${sql.value(startedAt.toISOString())},
            ${sql.value(finishedAt.toISOString())}, ${sql.value(ok)}, ${sql.value(text)})`)
        if (hasStarted) await this.#mark(connection, 'ended')
      }),
    )
    return Buffer.byteLength(text)
  }

  async forget(connection: Connection, model: ModelName): Promise<void> {
    await this.#insert(connection, [{ ...NOTHING, runId: this.#name, model }])
    await this.#slices.forget(connection, model)
    await this.changes.drop(connection, model)
  }

  async rename(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
    await this.#copy(connection, from, sql`${sql.value(this.#name)}, ${sql.value(to)}`, false)
    await this.#slices.rename(connection, from, to)
    await this.changes.rename(connection, from, to)
    await this.forget(connection, from)
  }

  /** In the transaction of a publication, so that a run that was taken over cannot publish. */
  async markPublished(connection: Connection): Promise<void> {
    await this.#mark(connection, 'published')
  }

  get #name(): string {
    return this.#session.lock?.name ?? ''
  }

  /** null: no run has been there. */
  async #readAll(connection: Connection, names: readonly ModelName[]): Promise<Found | null> {
    const look = await connection.transact(() => readLook(connection, this.#session.lake))
    return look === null ? null : await this.#foundIn(connection, look, names)
  }

  async #foundIn(
    connection: Connection,
    look: LakeLook,
    names: readonly ModelName[],
  ): Promise<Found> {
    this.#slices.look(look.catalog)
    await connection.transact(() => this.changes.read(connection, look.catalog))
    return foundIn(look, names)
  }

  /** Deletes the marks of runs that can no longer work, since this one has their lock. */
  async #takeOver(
    connection: Connection,
    found: Found,
    names: readonly ModelName[],
  ): Promise<Found | null> {
    const { lock } = this.#session
    const dead = lock === null ? [] : found.marks.filter(({ models }) => meets(models, lock.models))
    if (dead.length === 0) return found
    const ids = sql.join(dead.map(({ runId }) => sql.value(runId)))
    await retried(() =>
      connection.transact(() =>
        connection.run(sql`DELETE FROM _eider.builds WHERE model = '' AND run_id IN (${ids})`),
      ),
    )
    return this.#readAll(connection, names)
  }

  async #start(connection: Connection): Promise<void> {
    await retried(() => connection.transact(() => this.#mark(connection, 'started')))
  }

  async #mark(connection: Connection, mark: 'started' | 'published' | 'ended'): Promise<void> {
    const models = this.#session.lock?.models ?? null
    const fingerprint = models === null ? '' : JSON.stringify(models)
    await this.#insert(connection, [
      { ...NOTHING, runId: this.#name, fingerprint, definition: mark },
    ])
  }

  async #requireMark(connection: Connection): Promise<void> {
    const row = await connection.row(sql`
      SELECT 1 FROM _eider.builds
      WHERE model = '' AND run_id = ${sql.value(this.#name)} AND definition = 'started'`)
    if (row === null) throw lockLost()
  }

  async #insert(connection: Connection, rows: readonly NewBuild[]): Promise<void> {
    if (rows.length === 0) return
    const values = rows.map((row): Sql => {
      const { runId, model, kind, fingerprint, version, definition, removed } = row
      const texts = [runId, model, kind, fingerprint, version, definition]
      return sql`(${sql.value(this.#seq++)}, ${sql.values(texts)}, now(), ${sql.value(removed)})`
    })
    await connection.run(sql`INSERT INTO _eider.builds VALUES ${sql.join(values)}`)
  }

  /** The record of a model once more, with another run and name. */
  async #copy(
    connection: Connection,
    model: ModelName,
    runAndName: Sql,
    removed: boolean,
  ): Promise<void> {
    await connection.run(sql`
      INSERT INTO _eider.builds
      SELECT ${sql.value(this.#seq++)}, ${runAndName}, kind, fingerprint, version, definition, built_at,
        ${sql.value(removed)}
      FROM _eider.builds WHERE lower(model) = lower(${sql.value(model)}) ORDER BY seq DESC LIMIT 1`)
  }
}

/** No model can have a name without a schema. */
const MACROS = 'macros'

interface NewBuild extends Omit<Build, 'seq' | 'run_id'> {
  readonly runId: string
}

const NOTHING: Omit<NewBuild, 'runId'> = {
  model: '',
  kind: '',
  fingerprint: '',
  version: '',
  definition: '',
  removed: false,
}

/** Records take the names of the models in the project, which may differ in case. */
function foundIn({ catalog, builds, positions }: LakeLook, names: readonly ModelName[]): Found {
  const macros = builds.find(({ model }) => model === MACROS)
  const ofModels = builds.filter(({ model, kind }) => ![MACROS, ''].includes(model) && kind !== '')
  const spelled = spelledAs(names)
  const models = new Map(ofModels.map((build) => [spelled(build.model), recordOf(build)]))
  return {
    catalog,
    state: { models, positions, acks: [] },
    macros: macros === undefined ? [] : (JSON.parse(macros.definition) as SavedMacro[]),
    marks: builds.flatMap(markOf),
    lastSeq: Math.max(0, ...builds.map(({ seq }) => numberOf(seq))),
  }
}

const recordOf = ({ kind, fingerprint, version, definition, removed }: Build): ModelRecord => {
  return { kind: kind as Kind, fingerprint, version, definition, removed }
}

function markOf({ model, run_id: runId, fingerprint, definition }: Build): readonly Mark[] {
  if (model !== '' || definition === 'ended') return []
  const models = fingerprint === '' ? null : (JSON.parse(fingerprint) as string[])
  return [{ runId, models }]
}

/** Whether two runs that hold these models cannot both have their locks. */
function meets(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return true
  const names = new Set(one.map(foldCase))
  return other.some((name) => names.has(foldCase(name)))
}
