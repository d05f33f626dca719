// Several random histories in one warehouse: one run is for all of them, which is what makes a history cheap. In each step
// events come, somebody edits a model, and a run is whole, of some models, cut off, killed, failing, a backfill, a rebuild,
// or one that accepts what older rules have made, or the file of the warehouse is made again; then a whole run, and each model is looked at.

import * as assert from 'uvu/assert'
import type { CompiledProject } from '../../../src/core/model.ts'
import type { ModelResult, RunEvent } from '../../../src/core/report/progress.ts'
import { sql } from '../../../src/core/sql.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { rewrite } from '../../../src/store/files/rewrite.ts'
import { compileTexts, type Texts } from '../compile-texts.ts'
import { FakeClaims } from '../fake-claims.ts'
import { modelName } from '../model-name.ts'
import { runDefaults, type TestProject } from '../pipeline-project.ts'
import { seededRandom } from '../seeded-random.ts'
import { failingIn } from './failing.ts'
import { filesOf, writeFiles } from './files.ts'
import { type Event, History } from './history.ts'
import { byModel, type Difference, differing, judge, plainOf, rowsOfTable } from './judge.ts'
import { deleteByHand, erase, type Meant, meantRows } from './losses.ts'
import { dieAt } from './mortal-run.ts'

/** About as many as a run of some histories makes; a run with fewer is not killed. */
const CALLS = 600

type Sent = ReturnType<History['some']>

interface Erasure extends Meant {
  readonly of: History
}

type Results = ReadonlyMap<string, ModelResult>

/** Of rows that a run cannot know to be gone. */
const LEFT = /so older rows are left as they are|: they stay|: it stays/

/** Rows that are counted: they stay, or keep their values. */
const COUNTED = /(\d+) rows? \([^)]*\) (?:stays?|keeps?) /g

/** What such a model keeps of a row that is gone ends where a newer one begins, later on. */
const ENDING = 'mart.timed'

export class World {
  readonly #space: TestProject
  readonly #histories: readonly History[]
  readonly #claims: FakeClaims
  readonly #random: () => number
  /** Rows that differ and were accepted, by model. */
  readonly #accepted = new Map<string, Set<string>>()
  /** How many rows runs have counted that stay, by model, since models were looked at. */
  readonly #counted = new Map<string, number>()
  /** How many rows somebody has deleted of a model. */
  readonly #deleted = new Map<string, number>()
  /** Tables that keep what is gone, as an erasure, a run, or their kind says, until they are looked at. */
  readonly #keeping = new Set<string>()
  #sent: readonly { readonly of: History; readonly events: readonly Event[] }[] = []
  /** What has ended early. */
  #erasure: Erasure | null = null
  #last: Results = new Map()
  #project: CompiledProject | null = null
  #texts = ''
  #day = 20
  #isWhole = true

  private constructor(space: TestProject, seeds: readonly number[]) {
    this.#space = space
    this.#random = seededRandom(seeds[0]!)
    this.#histories = seeds.map((seed) => new History(seed, seededRandom(seed)))
    this.#claims = new FakeClaims(space.path('buffer'))
  }

  static async begin(space: TestProject, seeds: readonly number[]): Promise<World> {
    const world = new World(space, seeds)
    for (const history of world.#histories) {
      const events = [history.first(), ...history.oldest(world.#day)]
      await world.#send(history, { collector: 1, events })
      await writeFiles(space, history, world.#day)
    }
    await world.#run({})
    return world
  }

  /** Of all histories, one line each, for who looks at a failure. */
  get logs(): readonly string[] {
    return this.#histories.map(({ seed, log }) => `${seed}: ${log.join('; ')}`)
  }

  #below = (end: number): number => Math.floor(this.#random() * end)

  async #send(history: History, { collector, events }: Sent): Promise<void> {
    this.#sent = [...this.#sent, { of: history, events }]
    await this.#claims.add(history.named('raw.e'), events, { opening: collector })
  }

  async step(): Promise<void> {
    for (const history of this.#histories) {
      const events = history.oldest(this.#day)
      if (events.length > 0) await this.#send(history, { collector: 1, events })
      for (let i = this.#below(3); i >= 0; i--) {
        await this.#send(history, history.some(this.#day))
      }
      if (this.#random() < 0.6) await writeFiles(this.#space, history, this.#day)
      if (this.#isWhole && this.#random() < 0.3) history.edit()
    }
    this.#day += this.#below(3)
    if (this.#random() < 0.5) await this.#erase(this.#erasure ?? this.#someErasure())
    const ways = [
      () => this.#runSome(),
      () => (this.#random() < 0.5 ? this.#kill() : this.#cutOff()),
      () => this.#fail(),
      () => this.#backfill(),
      () => this.#rebuild(),
      () => this.#accept(),
      () => this.#makeAgain(),
      () => this.#deleteByHand(),
    ]
    const way = ways[this.#below(ways.length * 2)]
    this.#isWhole = false
    await way?.()
    if (way === ways[0]) return
    const results = await this.#run({})
    this.#isWhole = true
    this.#last = results
    await this.#judge(results)
    // Whoever began it repeats the command.
    if (this.#erasure !== null) await this.#erase(this.#erasure)
  }

  /**
   * Compares tables with those that one run makes in a new warehouse of all events: those that hold nothing that anybody has
   * announced, nor read a table that does. Returns how many there are; they are those after a step that was a whole run.
   */
  async compareWith(fresh: TestProject): Promise<number> {
    while (this.#erasure !== null) await this.#erase(this.#erasure)
    if (!this.#isWhole) this.#last = await this.#run({})
    await this.#judge(this.#last)
    const claims = new FakeClaims(fresh.path('buffer'))
    for (const { of, events } of this.#sent) await claims.add(of.named('raw.e'), events)
    const { ok, models } = await runPipeline({
      ...runDefaults(fresh.paths),
      project: await this.#compiled(),
      openClaims: () => Promise.resolve(claims),
      allowRemoval: true,
      now: () => this.#now,
    })
    assert.ok(ok, JSON.stringify(models))
    const names = this.#histories.flatMap((history) =>
      plainOf(history, (name) => this.#holdsOthers(history.named(name))).map(history.named),
    )
    const tables = names.map((name) => rowsOfTable(name))
    const [there, made] = [this.#space, fresh].map((space) =>
      space.rows(sql`FROM (${sql.join(tables, sql` UNION ALL `)}) ORDER BY ALL`),
    )
    assert.equal(await there, await made)
    return names.length
  }

  /** Rows of older rules, as they were named or accepted. */
  #holdsOthers(name: string): boolean {
    const isOther = this.#accepted.has(name) || this.#deleted.has(name)
    return isOther || this.#keeping.has(name) || this.#last.get(name)?.older_rows !== undefined
  }

  /** Without models that others in the run need, some of them. */
  async #runSome(): Promise<void> {
    const names = this.#histories.flatMap((history) =>
      ['raw.e', ...history.names.filter(() => this.#random() < 0.4)].map(history.named),
    )
    await this.#run({ selection: only(names) })
  }

  /** Everything that was begun and not committed is undone, as by SIGKILL. */
  async #cutOff(): Promise<void> {
    const stop = new AbortController()
    let left = this.#below(30)
    this.#note(`cut off at ${left}`)
    const progress = () => void (left-- === 0 && stop.abort())
    await this.#run({ signal: stop.signal, progress })
  }

  /** At any call to the engine or to a file, in a process of its own. */
  async #kill(): Promise<void> {
    const { paths } = this.#space
    const at = 1 + this.#below(CALLS)
    const options = this.#random() < 0.7 ? {} : (this.#range() ?? {})
    const run = { paths, texts: this.#textsNow, now: this.#now.toISOString(), options }
    const isDead = await dieAt(at, run, this.#claims)
    this.#note(isDead ? `killed at ${at}` : `not killed at ${at}`)
    // What it has said of rows that stay is lost with it.
    for (const of of this.#histories) for (const name of of.counting) this.#keeping.add(name)
  }

  async #fail(): Promise<void> {
    const project = await this.#compiled()
    const names = this.#histories.flatMap((history) => {
      const { names: own } = history
      return history.named(own[this.#below(own.length)]!)
    })
    this.#note('fails of', names)
    await this.#run({ project: failingIn(project, names) }, { mayFail: true })
  }

  async #backfill(): Promise<void> {
    const options = this.#range()
    if (options !== null) await this.#run(options)
  }

  #range(): Pick<RunRequest, 'selection' | 'range' | 'by'> | null {
    const names = this.#some((history) => history.ranged)
    if (names.length === 0) return null
    const first = 2 + this.#below(this.#day)
    const range = { start: dayOf(first), end: dayOf(first + 1 + this.#below(9)) }
    const by = [null, null, 'day', 'week'][this.#below(4)]!
    const pieces = by === null ? '' : ` by ${by}`
    this.#note(`backfill ${range.start} ${range.end}${pieces} of`, names)
    return { selection: only(names), range, by }
  }

  async #rebuild(): Promise<void> {
    const names = this.#some((history) => history.ruled)
    if (names.length === 0) return
    this.#note('rebuild of', names)
    await this.#run({ selection: only(names), fullRefresh: true })
  }

  /** The file of the warehouse, as `eider maintain` and an erasure do. */
  async #makeAgain(): Promise<void> {
    const { paths } = this.#space
    this.#note('the file is made again')
    const { store, ...options } = runDefaults(paths)
    await rewrite(paths, store.warehouse, options)
  }

  #someErasure(): Erasure {
    const of = this.#histories[this.#below(this.#histories.length)]!
    return { of, ...meantRows(this.#below) }
  }

  async #erase(erasure: Erasure): Promise<void> {
    const { of, text, isMeant } = erasure
    const name = of.named('raw.e')
    const endsAfter = this.#random() < 0.5 ? null : this.#below(9)
    const progress = (one: RunEvent) => void (one.event === 'model-finished' && this.#hear(one))
    const request = { ...this.#request, progress, openClaims: () => Promise.resolve(this.#claims) }
    const project = await this.#compiled()
    const { isDone, unreached } = await erase({ request, project, name, text, endsAfter })
    of.log.push(`erased ${text}${isDone ? '' : `, ended after ${endsAfter}`}`)
    for (const one of unreached) this.#keeping.add(one)
    this.#erasure = isDone ? null : erasure
    if (isDone) this.#forget(of, isMeant)
  }

  /** Events that are gone for good. */
  #forget(of: History, isMeant: Meant['isMeant']): void {
    this.#sent = this.#sent.map((sent) =>
      sent.of === of ? { of, events: sent.events.filter((event) => !isMeant(event)) } : sent,
    )
  }

  async #deleteByHand(): Promise<void> {
    await this.#run({})
    const project = await this.#compiled()
    const losses = this.#histories
      .filter(() => this.#random() < 0.5)
      .map((of) => {
        const own = ['raw.e', 'raw.e', ...of.stored]
        const name = own[this.#below(own.length)]!
        const meant = meantRows(this.#below)
        return { of, name: of.named(name), meant: name === 'raw.e' ? meant : null }
      })
    if (losses.length === 0) return
    const counts = await deleteByHand(this.#space, this.#request, project, losses)
    for (const { of, name, meant } of losses) {
      const n = counts.get(name) ?? 0
      of.log.push(`deleted ${n} of ${name}${meant === null ? '' : `, ${meant.text}`}`)
      if (meant === null) this.#deleted.set(name, n + (this.#deleted.get(name) ?? 0))
      else this.#forget(of, meant.isMeant)
      for (const one of of.lasting) this.#keeping.add(one)
    }
  }

  /** What is accepted are the rows of older rules once the run is done. */
  async #accept(): Promise<void> {
    await this.#run({})
    const names = this.#some((history) => history.ruled)
    if (names.length === 0) return
    this.#note('accepted of', names)
    await this.#run({ selection: only(names), forwardOnly: true })
    for (const [name, { extra }] of await this.#differences())
      if (names.includes(name)) this.#allow(name, extra)
  }

  #allow(name: string, extra: readonly string[]): void {
    const accepted = this.#accepted.get(name) ?? new Set<string>()
    this.#accepted.set(name, new Set([...accepted, ...extra]))
  }

  #some(of: (history: History) => readonly string[]): readonly string[] {
    return this.#histories.flatMap((history) =>
      of(history)
        .filter(() => this.#random() < 0.5)
        .map(history.named),
    )
  }

  /** `names`: the models that it is about; each history notes its own. */
  #note(text: string, names: readonly string[] | null = null): void {
    for (const { log, seed } of this.#histories) {
      const own = names?.filter((name) => name.endsWith(`_${seed}`)) ?? []
      if (names === null || own.length > 0) log.push([text, ...own].join(' '))
    }
  }

  get #textsNow(): Texts {
    return Object.assign(
      {},
      ...this.#histories.map((history) => history.texts(filesOf(this.#space, history))),
    ) as Texts
  }

  async #compiled(): Promise<CompiledProject> {
    const texts = this.#textsNow
    const text = JSON.stringify(texts)
    if (this.#project === null || text !== this.#texts) {
      this.#project = await compileTexts(texts)
      this.#texts = text
    }
    return this.#project
  }

  async #run(options: Partial<RunRequest>, { mayFail = false } = {}): Promise<Results> {
    const request: RunRequest = {
      ...this.#request,
      project: await this.#compiled(),
      openClaims: () => Promise.resolve(this.#claims),
      ...options,
    }
    const { ok, models } = await runPipeline(request)
    const failed = models.filter(({ status }) => status === 'failed')
    // A run that is cut off may call a model failed; what counts is what the next one makes of it.
    assert.ok(ok || mayFail || request.signal.aborted, JSON.stringify(failed))
    models.forEach(this.#hear)
    this.#note('run')
    return new Map(models.map((result) => [result.model, result]))
  }

  #hear = ({ model, warnings = [] }: Pick<ModelResult, 'model' | 'warnings'>): void => {
    if (warnings.some((text) => LEFT.test(text))) this.#keeping.add(model)
    for (const [, rows] of warnings.join('\n').matchAll(COUNTED))
      this.#counted.set(model, Number(rows) + (this.#counted.get(model) ?? 0))
  }

  get #request() {
    return {
      ...runDefaults(this.#space.paths),
      allowRemoval: true,
      now: () => this.#now,
    }
  }

  get #now(): Date {
    return new Date(Date.UTC(2026, 2, this.#day + 1))
  }

  async #differences(): Promise<ReadonlyMap<string, Difference>> {
    const project = await this.#compiled()
    const all = this.#histories.flatMap((history) =>
      history.names.flatMap((name) => {
        const own = history.named(name)
        const model = project.models.get(modelName(own))!
        if (model.kind === 'view') return []
        const relation = sql.relation(own)
        const now = { today: this.#now, keepDays: history.keepDays }
        const rows = differing(name, model, relation, now)
        return [sql`SELECT ${sql.value(own)} AS model, side, text FROM (${rows})`]
      }),
    )
    return byModel(await this.#space.rows(sql.join(all, sql` UNION ALL `)))
  }

  async #judge(results: Results): Promise<void> {
    for (const [name, difference] of await this.#differences()) {
      if (this.#keeping.has(name)) this.#allow(name, difference.extra)
      const counted = this.#counted.get(name) ?? 0
      const wrong = judge(difference, {
        accepted: this.#accepted.get(name) ?? new Set(),
        named: counted + (results.get(name)?.older_rows?.rows ?? 0),
        deleted: this.#deleted.get(name) ?? 0,
      })
      if (wrong !== null) throw new Error(`${name}: ${wrong}`)
      if (counted > 0) this.#allow(name, difference.extra)
    }
    this.#counted.clear()
    for (const name of this.#keeping) if (!name.startsWith(ENDING)) this.#keeping.delete(name)
  }
}

const only = (include: readonly string[]) => ({ include, exclude: [], retry: false })
const dayOf = (day: number): string => new Date(Date.UTC(2026, 2, day)).toISOString().slice(0, 10)
