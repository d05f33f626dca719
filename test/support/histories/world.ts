// Several random histories in one warehouse: one run is for all of them, which is what makes a history cheap. In each step
// events come, somebody edits a model, and a run is whole, of some models, cut off, killed, failing, a backfill, a rebuild,
// or one that accepts what older rules have made, or the file of the warehouse is made again; then a whole run, and each model is looked at.

import * as assert from 'uvu/assert'
import type { Check, CompiledProject } from '../../../src/core/model.ts'
import type { ModelResult } from '../../../src/core/report/progress.ts'
import { sql } from '../../../src/core/sql.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { rewrite } from '../../../src/store/files/rewrite.ts'
import { compileTexts, type Texts } from '../compile-texts.ts'
import { FakeClaims } from '../fake-claims.ts'
import { modelName } from '../model-name.ts'
import { runDefaults, type TestProject } from '../pipeline-project.ts'
import { seededRandom } from '../seeded-random.ts'
import { History } from './history.ts'
import { type Difference, differing, judge, plainOf, rowsOfTable } from './judge.ts'
import { dieAt } from './mortal-run.ts'

/** About as many as a run of some histories makes; a run with fewer is not killed. */
const CALLS = 600

type Sent = ReturnType<History['some']>

type Results = ReadonlyMap<string, ModelResult>

const failing: Check = {
  severity: 'fail',
  text: 'none',
  span: { start: 0, end: 0 },
  test: { is: 'row_count', comparison: '=', rows: 0 },
}

export class World {
  readonly #space: TestProject
  readonly #histories: readonly History[]
  readonly #claims: FakeClaims
  readonly #random: () => number
  /** Rows that differ and were accepted, by model. */
  readonly #accepted = new Map<string, Set<string>>()
  readonly #sent: { readonly of: History; readonly events: readonly unknown[] }[] = []
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
    for (const history of world.#histories)
      await world.#send(history, { collector: 1, events: [history.first()] })
    await world.#run({})
    return world
  }

  /** Of all histories, one line each, for who looks at a failure. */
  get logs(): readonly string[] {
    return this.#histories.map(({ seed, log }) => `${seed}: ${log.join('; ')}`)
  }

  #below = (end: number): number => Math.floor(this.#random() * end)

  async #send(history: History, { collector, events }: Sent): Promise<void> {
    this.#sent.push({ of: history, events })
    await this.#claims.add(history.named('raw.e'), events, { opening: collector })
  }

  async step(): Promise<void> {
    for (const history of this.#histories) {
      for (let i = this.#below(3); i >= 0; i--) {
        await this.#send(history, history.some(this.#day))
      }
      if (this.#isWhole && this.#random() < 0.3) history.edit()
    }
    this.#day += this.#below(3)
    const ways = [
      () => this.#runSome(),
      () => (this.#random() < 0.5 ? this.#kill() : this.#cutOff()),
      () => this.#fail(),
      () => this.#backfill(),
      () => this.#rebuild(),
      () => this.#accept(),
      () => this.#makeAgain(),
    ]
    const way = ways[this.#below(ways.length * 2)]
    this.#isWhole = false
    await way?.()
    if (way === ways[0]) return
    const results = await this.#run({})
    this.#isWhole = true
    this.#last = results
    await this.#judge(results)
  }

  /**
   * Compares tables with those that one run makes in a new warehouse of all events: those that hold nothing that anybody has
   * announced, nor read a table that does. Returns how many there are; they are those after a step that was a whole run.
   */
  async compareWith(fresh: TestProject): Promise<number> {
    if (!this.#isWhole) this.#last = await this.#run({})
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
      plainOf(history.names, (name) => this.#holdsOthers(history.named(name))).map(history.named),
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
    return this.#accepted.has(name) || this.#last.get(name)?.older_rows !== undefined
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
  }

  async #fail(): Promise<void> {
    const project = await this.#compiled()
    const names = this.#histories.flatMap((history) => {
      const { names: own } = history
      return history.named(own[this.#below(own.length)]!)
    })
    this.#note('fails of', names)
    const models = new Map(
      Array.from(project.models, ([name, model]) => [
        name,
        names.includes(name) ? { ...model, checks: [failing] } : model,
      ]),
    )
    await this.#run({ project: { ...project, models } }, { mayFail: true })
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

  /** What is accepted are the rows of older rules once the run is done. */
  async #accept(): Promise<void> {
    await this.#run({})
    const names = this.#some((history) => history.ruled)
    if (names.length === 0) return
    this.#note('accepted of', names)
    await this.#run({ selection: only(names), forwardOnly: true })
    for (const [name, { extra }] of await this.#differences())
      if (names.includes(name)) {
        const accepted = this.#accepted.get(name) ?? new Set<string>()
        this.#accepted.set(name, new Set([...accepted, ...extra]))
      }
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
    return Object.assign({}, ...this.#histories.map((history) => history.texts())) as Texts
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
      ...runDefaults(this.#space.paths),
      project: await this.#compiled(),
      openClaims: () => Promise.resolve(this.#claims),
      allowRemoval: true,
      now: () => this.#now,
      ...options,
    }
    const { ok, models } = await runPipeline(request)
    const failed = models.filter(({ status }) => status === 'failed')
    // A run that is cut off may call a model failed; what counts is what the next one makes of it.
    assert.ok(ok || mayFail || request.signal.aborted, JSON.stringify(failed))
    this.#note('run')
    return new Map(models.map((result) => [result.model, result]))
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
        const rows = differing(name, model, relation, this.#now)
        return [sql`SELECT ${sql.value(own)} AS model, side, text FROM (${rows})`]
      }),
    )
    const found = await this.#space.rows(sql.join(all, sql` UNION ALL `))
    const of = (name: string, side: string) =>
      found.flatMap((row) =>
        row['model'] === name && row['side'] === side ? [row['text'] as string] : [],
      )
    const names = new Set(found.map(({ model }) => model as string))
    return new Map(
      Array.from(names, (name) => [
        name,
        { extra: of(name, 'extra'), missing: of(name, 'missing') },
      ]),
    )
  }

  async #judge(results: Results): Promise<void> {
    for (const [name, difference] of await this.#differences()) {
      const older = results.get(name)?.older_rows?.rows ?? 0
      const wrong = judge(difference, this.#accepted.get(name) ?? new Set(), older)
      if (wrong !== null) throw new Error(`${name}: ${wrong}`)
    }
  }
}

const only = (include: readonly string[]) => ({ include, exclude: [], retry: false })

const dayOf = (day: number): string => new Date(Date.UTC(2026, 2, day)).toISOString().slice(0, 10)
