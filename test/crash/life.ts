// A life of a buffer and of the runs that flush it, in one process: the real buffer on a disk in memory, the real flush
// into a real database in memory. A life has a seed that decides what is sent, what the disk refuses and when a run
// starts; it is cut at one of its points, which are the operations on the disk and the steps of the flush.

import { ChangeTables } from '../../src/store/changes.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EventBuffer } from '../../src/buffer/buffer.ts'
import { type Claim, type ClaimSource, locationOf } from '../../src/buffer/claim-source.ts'
import type { EventsModel } from '../../src/core/model.ts'
import { sql } from '../../src/core/sql.ts'
import { readEngineCatalog } from '../../src/duckdb/catalog.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import {
  finishCommitted,
  type FlushDependencies,
  flushTarget,
} from '../../src/pipeline/flush/flush.ts'
import { fileTables } from '../../src/store/files/tables.ts'
import { fileFlushRecords } from '../../src/store/files/flush-records.ts'
import { ensureState } from '../../src/store/files/layout.ts'
import { fileState } from '../../src/store/files/state.ts'
import { openBuffer } from '../support/open-buffer.ts'
import { FakeFiles, fileError, PowerCutError, type Survival } from '../support/fake-files.ts'
import { events } from '../support/handmade-models.ts'
import { silentLogger } from '../support/silent-logger.ts'

const model: EventsModel = events('raw.events', { call: 'INTEGER!', i: 'INTEGER!' })
const SEGMENT_BYTES = 500
/** Of appends whose write or sync the disk refuses. */
const REFUSED_SHARE = 0.08

/** Who is gone at the cut. The other one, where there is one, goes on and is restarted later. */
export type Victim = 'machine' | 'buffer' | 'run'

interface World extends AsyncDisposable {
  readonly connection: Connection
  /** Where segments lie for the engine to read. */
  readonly dir: string
}

export async function openWorld(): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-life-'))
  const database = await Database.open({ path: ':memory:', threads: 1 })
  const connection = await database.connect()
  await ensureState(connection, await readEngineCatalog(connection))
  await connection.run(sql`CREATE SCHEMA raw`)
  return {
    connection,
    dir,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]()
      await rm(dir, { recursive: true })
    },
  }
}

/** What the senders know. */
interface Known {
  /** Sizes of the calls that were begun. */
  readonly begun: number[]
  readonly accepted: Set<number>
  /** Told that nothing of it is stored. */
  readonly refused: Set<number>
}

/** Thrown at a step of a run that is killed there, and at everything that it still tries. */
class KilledError extends Error {}

export class Life {
  readonly known: Known = { begun: [], accepted: new Set(), refused: new Set() }
  readonly #world: World
  readonly #files: FakeFiles
  readonly #victim: Victim
  #runIsDead = false
  #stepsToLive = Infinity
  steps = 0
  /** Whether the life has reached the point at which it was to be cut. */
  isCut = false

  /** `syncs`: false on a disk that lies about them. */
  constructor(world: World, seed: number, victim: Victim, syncs = true) {
    this.#world = world
    this.#files = new FakeFiles({ seed, syncs })
    this.#victim = victim
  }

  get points(): number {
    return this.#victim === 'run' ? this.steps : this.#files.operations
  }

  cutAt(point: number, when: 'before' | 'after'): void {
    if (this.#victim === 'run') this.#stepsToLive = point
    else this.#files.stopAt(point, when)
  }

  /** From an empty disk and an empty table to the end or the cut. */
  async live(): Promise<void> {
    const { connection } = this.#world
    await connection.run(sql`CREATE OR REPLACE TABLE raw.events (call INTEGER, i INTEGER)`)
    await connection.run(sql`DELETE FROM _eider.acks`)
    await connection.run(sql`DELETE FROM _eider.flush_position`)
    await this.#ends(async () => {
      await using buffer = await this.#open()
      for (let round = 0; round < 2; round++) {
        const sent = this.#send(buffer, 1 + Math.floor(this.#files.random() * 4))
        // The power may go while events are given back.
        sent.catch(() => {})
        if (this.#files.random() < 0.3) await this.#giveBack(buffer)
        const [run] = await Promise.allSettled([this.#run(buffer), sent])
        if (run.status === 'rejected') await this.#afterDeadRun(buffer, run.reason)
      }
    })
    this.isCut ||= this.#files.isOff
  }

  /** Everybody starts again, as often as it takes; the power may go meanwhile. Gives what is wrong in the end, or null. */
  async recover(): Promise<string | null> {
    const survivals = ['nothing', 'some', 'everything'] as const
    const survival: Survival =
      this.#victim === 'machine' ? survivals[Math.floor(this.#files.random() * 3)]! : 'everything'
    this.#files.fault = () => null
    this.#stepsToLive = Infinity
    const first = this.#files.random() < 0.5 ? 'run' : 'sender'
    for (let again = 1 + Math.floor(this.#files.random() * 40); ; again *= 2) {
      this.#files.restart(survival)
      this.#files.stopAt(again, this.#files.random() < 0.5 ? 'before' : 'after')
      const done = await this.#ends(async () => {
        await using buffer = await this.#open()
        if (first === 'sender') await this.#send(buffer, 1)
        await this.#run(buffer)
      })
      if (done) return await this.#findWrong()
    }
  }

  #open(): Promise<EventBuffer> {
    return openBuffer(this.#world.dir, { files: this.#files, segmentBytes: SEGMENT_BYTES })
  }

  /** False when the power went. */
  async #ends(life: () => Promise<void>): Promise<boolean> {
    try {
      await life()
    } catch (error) {
      if (!this.#files.isOff) throw error
    }
    return !this.#files.isOff
  }

  async #afterDeadRun(buffer: EventBuffer, reason: unknown): Promise<void> {
    if (!(reason instanceof KilledError) && !this.#runIsDead) throw reason
    // The daemon lives on and takes more events; then comes the next run.
    this.#runIsDead = false
    await this.#send(buffer, 1)
    await this.#run(buffer)
  }

  /** Calls of one event or a batch, all at once. */
  async #send(buffer: EventBuffer, calls: number): Promise<void> {
    const { known } = this
    const random = () => this.#files.random()
    const sent = Array.from({ length: calls }, async () => {
      const call = known.begun.length
      known.begun.push(random() < 0.5 ? 1 : 2 + Math.floor(random() * 4))
      const bodies = Array.from({ length: known.begun[call]! }, (_, i) =>
        Buffer.from(`{"call":${call},"i":${i}}`),
      )
      const refuses = random() < REFUSED_SHARE
      const operation = random() < 0.5 ? 'write' : 'fdatasync'
      if (refuses)
        this.#files.fault = (asked, path) =>
          asked === operation && path.endsWith('.open') ? fileError('EIO', path) : null
      try {
        await buffer.append(model.name, bodies, new Date().toISOString())
        known.accepted.add(call)
      } catch {
        if (!this.#files.isOff) known.refused.add(call)
      } finally {
        if (refuses) this.#files.fault = () => null
      }
    })
    await Promise.all(sent)
    if (this.#files.isOff) throw new PowerCutError()
  }

  async #giveBack(buffer: EventBuffer): Promise<void> {
    const claim = await buffer.claim(model.name)
    if (claim !== null) await buffer.nack(claim)
  }

  /** What a run does with events, in its order. */
  async #run(buffer: EventBuffer): Promise<void> {
    const { connection } = this.#world
    const deps: FlushDependencies = {
      connection,
      records: fileFlushRecords,
      changes: new ChangeTables({ deletes: true }),
      tables: fileTables,
      makeRoom: () => Promise.resolve(),
      formerly: false,
      claims: this.#claimsOf(buffer),
      logger: silentLogger,
      signal: new AbortController().signal,
      progress: () => {},
      model,
      startedAt: new Date(),
      count: () => {},
      onStep: () => this.#step(),
    }
    const { acks, positions } = (await fileState('').read(connection, [])).state
    await finishCommitted(deps, acks)
    const fence = positions.get(model.name)
    await flushTarget(deps, model.name, fence)
  }

  /** A step is a point too: of the run, and as an operation that changes nothing also of the disk. */
  async #step(): Promise<void> {
    this.steps++
    await this.#files.readdir('/')
    if (this.steps !== this.#stepsToLive) return
    this.#runIsDead = true
    this.isCut = true
    throw new KilledError()
  }

  /** The buffer as a run sees it; a dead run reaches nothing. The engine gets each segment as a real file. */
  #claimsOf(buffer: EventBuffer): ClaimSource {
    const alive = async <T>(call: () => Promise<T>): Promise<T> => {
      if (this.#runIsDead) throw new KilledError()
      return await call()
    }
    return {
      targets: () => alive(() => buffer.targets()),
      inflight: (target) => alive(() => buffer.inflight(target)),
      claim: (target) => alive(async () => this.#onRealDisk(await buffer.claim(target))),
      verify: (claim) => alive(() => this.#verify(buffer, claim)),
      damaged: () => Promise.resolve([]),
      ack: (claim) => alive(() => buffer.ack(claim)),
      nack: (claim) => alive(() => buffer.nack(claim)),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  }

  /** The buffer looks at its own disk. */
  async #verify(buffer: EventBuffer, claim: Claim): Promise<Claim | null> {
    const own = (await buffer.inflight(claim.target)).find(({ id }) => id === claim.id)
    return this.#onRealDisk(own === undefined ? null : await buffer.verify(own))
  }

  async #onRealDisk(claim: Claim | null): Promise<Claim | null> {
    if (claim === null) return null
    const path = join(this.#world.dir, `${claim.segment}.ndjson`)
    await writeFile(path, this.#files.content(locationOf(claim)))
    return { ...claim, url: pathToFileURL(path).href }
  }

  async #findWrong(): Promise<string | null> {
    const rows = await this.#world.connection.rows(sql`
      SELECT call, count(*)::INTEGER AS n, count(DISTINCT i)::INTEGER AS different FROM raw.events GROUP BY call`)
    const stored = new Map(rows.map(({ call, n, different }) => [call, { n, different }]))
    for (const [call, size] of this.known.begun.entries()) {
      const { n = 0, different = 0 } = stored.get(call) ?? {}
      if (n !== different) return `call ${call} is there twice`
      if (n !== 0 && n !== size) return `call ${call} is there in part`
      if (n === 0 && this.known.accepted.has(call)) return `call ${call} was accepted and is lost`
      if (n !== 0 && this.known.refused.has(call)) return `call ${call} was refused and is there`
    }
    const open = await this.#world.connection.row(sql`SELECT 1 FROM _eider.acks`)
    return open === null ? null : 'an ack record is left'
  }
}
