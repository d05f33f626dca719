// Histories at random: events of up to three collectors, late and early, corrections and cancellations, runs of some
// models, and runs that are cut off. After each run of all models each model that reads a part of its input is compared
// with what its SELECT gives for all of it. A merge keeps groups that are gone, which is all that may differ.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import type { CompiledProject } from '../../../src/core/model.ts'
import { modelName } from '../../support/model-name.ts'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults, type TestProject } from '../../support/pipeline-project.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const HISTORIES = Number(process.env['EIDER_HISTORIES'] ?? 3)
const SEED = Number(process.env['EIDER_HISTORIES_SEED'] ?? 1)

const LAST =
  'FROM raw.e QUALIFY row_number() OVER (PARTITION BY id ORDER BY version DESC) = 1 AND NOT gone'

/** The stored tables that others follow. */
const stored: Texts = {
  'raw.e':
    '-- @kind: events\nid INTEGER,\nversion INTEGER,\nts TIMESTAMPTZ,\nday DATE,\namount INTEGER,\ngone BOOLEAN',
  'core.t': `-- @kind: table\nSELECT id, ts, day, amount ${LAST}`,
  'core.mirror': '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\nFROM core.t',
  'core.kept': '-- @kind: merge\n-- @unique_key: id\nFROM core.t',
  'core.versions': '-- @kind: scd2\n-- @unique_key: id\nFROM core.t',
  'core.days': '-- @kind: table\nSELECT day, count(*) AS orders FROM core.t GROUP BY day',
  'stage.t': '-- @kind: view\nSELECT id, ts AS happened, amount FROM core.t',
  'stage.all':
    '-- @kind: view\nSELECT id, day, amount FROM core.mirror UNION ALL SELECT id, day, amount FROM core.kept',
}

const append = '-- @kind: append\n-- @incremental: '
const sums = (column: string) =>
  `-- @kind: merge\n-- @unique_key: ${column}\n-- @incremental: ${column}\n`
const periods = (unit: string, column: string) =>
  `-- @kind: period\n-- @period: ${unit} of ${column}\n`

/** Those that read a part: their header, and their SELECT. */
const readers: Readonly<Record<string, readonly [header: string, body: string]>> = {
  'mart.log': [`${append}ts\n`, 'SELECT ts, amount FROM raw.e'],
  'mart.keyed': [`${append}ts\n-- @unique_key: id, version\n`, 'FROM raw.e'],
  'mart.chained': [
    `${append}day\n-- @unique_key: id, version\n`,
    'SELECT id, version, day FROM mart.keyed',
  ],
  'mart.state': [`-- @kind: merge\n-- @unique_key: id\n-- @incremental: ts\n`, 'FROM core.mirror'],
  'mart.daily': [
    sums('day'),
    "SELECT date_trunc('day', happened) AS day, sum(amount) AS amount FROM stage.t GROUP BY 1",
  ],
  'mart.both': [sums('day'), 'SELECT day, sum(amount) AS amount FROM stage.all GROUP BY day'],
  'mart.current': [
    sums('day'),
    'SELECT ts::DATE AS day, count(*) AS n FROM core.versions WHERE is_current GROUP BY 1',
  ],
  'mart.oslo': [
    periods('day', 'day'),
    "SELECT (happened AT TIME ZONE 'Europe/Oslo')::DATE AS day, sum(amount) AS amount FROM stage.t GROUP BY 1",
  ],
  'mart.weekly': [
    periods('week', 'day'),
    'SELECT d.day, d.orders, sum(t.amount) AS amount FROM core.days d JOIN core.mirror t ON t.ts::DATE = d.day GROUP BY ALL',
  ],
  'mart.monthly': [
    periods('month', 'month'),
    "SELECT date_trunc('month', day)::DATE AS month, sum(amount) AS amount FROM mart.oslo GROUP BY 1",
  ],
  'mart.bucketed': [
    periods('day', 'at'),
    "SELECT time_bucket(INTERVAL '6 hours', ts) AS at, count(*) AS n FROM raw.e GROUP BY 1",
  ],
  'mart.numbers': [
    `${append}id\n-- @unique_key: id, version\n`,
    'SELECT id, version, amount FROM raw.e',
  ],
}

/** Rows that a table and its SELECT do not share. */
function differences({ models }: CompiledProject, name: string): Sql {
  const [schema, table] = name.split('.') as [string, string]
  const relation = sql.ident(schema, table)
  const model = models.get(modelName(name))!
  const body = 'body' in model ? sql.body(model.body) : sql.empty
  const key = name === 'mart.state' ? 'id' : 'day'
  const isMerge = readers[name]![0].includes('merge')
  const gone = isMerge
    ? sql` WHERE ${sql.ident(key)} IN (SELECT ${sql.ident(key)} FROM (${body}))`
    : sql.empty
  return sql`
    SELECT ${sql.value(name)} AS name, count(*)::INTEGER AS n FROM (
      (FROM (${body}) EXCEPT ALL FROM ${relation})
      UNION ALL (FROM (FROM ${relation}${gone}) EXCEPT ALL FROM (${body})))`
}

const written: Texts = {
  ...stored,
  ...Object.fromEntries(Object.entries(readers).map(([name, parts]) => [name, parts.join('')])),
}

/** Two of the readers, and what they read. */
async function someProject(random: () => number): Promise<CompiledProject> {
  const names = Object.keys(readers)
  const chosen = new Set(['raw.e'])
  const add = (name: string) => {
    if (chosen.has(name)) return
    chosen.add(name)
    for (const input of Object.keys(written))
      if (new RegExp(`\\b${input}\\b`).test(written[name]!)) add(input)
  }
  for (let i = 0; i < 2; i++) add(names[Math.floor(random() * names.length)]!)
  const texts = Object.entries(written).filter(([name]) => chosen.has(name))
  return await compileTexts(Object.fromEntries(texts))
}

class History {
  readonly #space: TestProject
  readonly #project: CompiledProject
  readonly #claims: FakeClaims
  readonly #random: () => number
  readonly #versions = new Map<number, number>()
  readonly #collectors: number
  #day = 20

  private constructor(space: TestProject, project: CompiledProject, random: () => number) {
    this.#space = space
    this.#project = project
    this.#random = random
    this.#claims = new FakeClaims(space.path('buffer'))
    this.#collectors = 1 + this.#below(3)
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  /** With an order that stays at the beginning, so that no input looks as if it forgot its oldest rows. */
  static async begin(space: TestProject, seed: number): Promise<History> {
    const random = seededRandom(seed)
    const history = new History(space, await someProject(random), random)
    await history.#add(1, [history.#event(0, 1, 5, false)])
    await history.#run([])
    return history
  }

  /** Events come, and a run of all models, of some of them, or one that is cut off. */
  async step(): Promise<void> {
    const batches = 1 + this.#below(3)
    for (let i = 0; i < batches; i++) {
      const events = Array.from({ length: 1 + this.#below(4) }, () => this.#some())
      await this.#add(1 + this.#below(this.#collectors), events)
    }
    this.#day += this.#below(3)
    const what = this.#random()
    if (what < 0.15) return await this.#run(['raw.e', ...this.#someModels()])
    if (what < 0.35) await this.#run([], AbortSignal.timeout(5 + this.#below(150)))
    await this.#run([])
    await this.#compare()
  }

  #someModels(): readonly string[] {
    const names: readonly string[] = [...this.#project.models.keys()]
    return names.filter((name) => name !== 'raw.e' && this.#random() < 0.4)
  }

  /** A new order, or a correction of one; some are late, and a few are cancelled. */
  #some() {
    const id = 1 + this.#below(12)
    const isLate = this.#random() < 0.4
    const day = isLate ? 2 + this.#below(this.#day) : this.#day
    return this.#event(id, day, this.#below(100), this.#random() < 0.15)
  }

  #event(id: number, day: number, amount: number, gone: boolean) {
    const version = (this.#versions.get(id) ?? 0) + 1
    this.#versions.set(id, version)
    const time = Date.UTC(2026, 2, day, this.#below(24), this.#below(60))
    const date = new Date(Date.UTC(2026, 2, day)).toISOString().slice(0, 10)
    return { id, version, ts: new Date(time).toISOString(), day: date, amount, gone }
  }

  async #add(collector: number, events: readonly unknown[]): Promise<void> {
    await this.#claims.add('raw.e', events, { opening: collector })
  }

  async #run(include: readonly string[], signal = new AbortController().signal): Promise<void> {
    const openClaims = () => Promise.resolve(this.#claims)
    const selection = { include, exclude: [], retry: false }
    const request = {
      ...runDefaults(this.#space.paths),
      project: this.#project,
      openClaims,
      selection,
      signal,
    }
    const { ok, models } = await runPipeline(request)
    const failed = models.filter(({ status }) => status === 'failed')
    // A run that is cut off may call a model failed; what counts is what the next one makes of it.
    assert.ok(ok || signal.aborted, JSON.stringify(failed))
  }

  async #compare(): Promise<void> {
    const read = Object.keys(readers).filter((name) => this.#project.models.has(modelName(name)))
    const all = [
      sql`SELECT '' AS name, 0 AS n`,
      ...read.map((name) => differences(this.#project, name)),
    ]
    const found = await this.#space.rows(sql`FROM (${sql.join(all, sql` UNION ALL `)}) WHERE n > 0`)
    assert.is(found.map(({ name, n }) => `${name as string} ${n as number}`).join(), '')
  }
}

test(`${HISTORIES} histories from seed ${SEED}`, async () => {
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    await using space = await openProject()
    try {
      const history = await History.begin(space, seed)
      for (let i = 0; i < 4; i++) await history.step()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`the history of seed ${seed}: ${why}`, { cause: error })
    }
  }
})

test.run()
