// Random edits of models whose rows stay, with late, amended and deleted rows, rebuilds, backfills and runs that fail: each
// row was made by the rule in force, or is among the rows of older rules that the run names.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Check, Model } from '../../../src/core/model.ts'
import { sql } from '../../../src/core/sql.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const sequences = Number(process.env['EIDER_RULES'] ?? 4)
const firstSeed = Number(process.env['EIDER_RULES_SEED'] ?? 1)
const STEPS = 8

const shapes: readonly QueryModelOptions[] = [
  { kind: 'append', incremental: 'ts' },
  { kind: 'append', incremental: 'ts lookback 2' },
  { kind: 'append', incremental: 'ts lookback 2', key: ['id'] },
  { kind: 'merge', incremental: 'ts lookback 1', key: ['id'] },
  { kind: 'merge', key: ['id'] },
]

interface SourceRow {
  readonly id: number
  readonly ts: number
  readonly amount: number
}

const sourceOf = (rows: readonly SourceRow[]): Model => {
  const values = [...rows, { id: 0, ts: 0, amount: 0 }].map(
    ({ id, ts, amount }) => `(${id}, ${ts}, ${amount})`,
  )
  return query('raw.s', `select * from (values ${values.join()}) t(id, ts, amount) where id > 0`)
}

/** The value of a row says which rule has made it. */
const modelOf = (factor: number, shape: QueryModelOptions): Model =>
  query('mart.t', `select id, ts, amount, amount * ${factor} as v from raw.s`, {
    ...shape,
    expose: ['id'],
    reads: ['raw.s'],
  })

const failing: Check = {
  severity: 'fail',
  text: 'none',
  span: { start: 0, end: 0 },
  test: { is: 'row_count', comparison: '=', rows: 0 },
}

interface Row {
  readonly id: number
  readonly amount: number
  readonly v: number
}

const rowsOf = async (space: TestProject): Promise<readonly Row[]> =>
  (await space.rows(sql`SELECT id::INT AS id, amount::INT AS amount, v::INT AS v FROM mart.t`)).map(
    ({ id, amount, v }) => ({ id: Number(id), amount: Number(amount), v: Number(v) }),
  )

const textOf = ({ id, v }: Row): string => `${id} ${v}`

class Sequence {
  readonly #random: () => number
  readonly #shape: QueryModelOptions
  #source: SourceRow[] = []
  #factor = 2
  #ts = 10
  #id = 0
  /** Rows that --forward-only has accepted. */
  #meant = new Set<string>()
  readonly log: string[] = []

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    this.#shape = shapes[seed % shapes.length]!
    this.log.push(JSON.stringify(this.#shape))
    this.#add(4)
  }

  async run(space: TestProject): Promise<void> {
    await this.#step(space, 'first', {})
    for (let i = 0; i < STEPS; i++) {
      const changed = this.#change()
      const { name, options } = this.#way()
      await this.#step(space, `${changed}, ${name}`, options)
    }
  }

  #below = (n: number) => Math.floor(this.#random() * n)

  #add(n: number, back = 0): void {
    for (let i = 0; i < n; i++) {
      const ts = back > 0 ? this.#ts - 1 - this.#below(back) : (this.#ts += this.#below(2))
      this.#source.push({ id: ++this.#id, ts, amount: 100 + this.#id })
    }
  }

  #change(): string {
    const edits = [
      () => void (this.#factor = 2 + this.#below(40)),
      () => void (this.#factor = 2 + this.#below(3)),
      () => this.#add(1 + this.#below(3)),
      () => this.#add(1, 4),
      () => void this.#source.splice(this.#below(this.#source.length), 1 + this.#below(2)),
      () => this.#amend(),
    ]
    const names = ['edit', 'edit back', 'add', 'late', 'delete', 'amend']
    const chosen = [this.#below(edits.length), this.#below(edits.length)]
    for (const i of chosen) edits[i]!()
    return `${chosen.map((i) => names[i]).join(', ')} (${this.#factor})`
  }

  /** A row without a key that has changed is one more row. */
  #amend(): void {
    const at = this.#below(this.#source.length)
    const row = this.#source[at]
    if (row === undefined || this.#shape.key === undefined) return
    this.#source[at] = { ...row, ts: this.#ts, amount: row.amount + 1000 }
  }

  #way(): { readonly name: string; readonly options: Partial<RunRequest> } {
    const start = this.#ts - this.#below(8)
    const range = { start: String(start), end: String(start + 1 + this.#below(4)) }
    const ways: readonly (readonly [string, Partial<RunRequest>])[] = [
      ['run', {}],
      ['run', {}],
      ['run', {}],
      ['fail', {}],
      ['abort', {}],
      ['forward only', { forwardOnly: true }],
      ['rebuild', { fullRefresh: true }],
      this.#shape.kind === 'append'
        ? [`backfill ${range.start} ${range.end}`, { range }]
        : ['run', {}],
    ]
    const [name, options] = ways[this.#below(ways.length)]!
    return { name, options }
  }

  async #step(space: TestProject, name: string, options: Partial<RunRequest>): Promise<void> {
    this.log.push(name)
    const model = modelOf(this.#factor, this.#shape)
    const source = sourceOf(this.#source)
    if (name.endsWith('fail')) {
      await space.run([source, { ...model, checks: [failing] }])
      return
    }
    if (name.endsWith('abort')) {
      const stop = new AbortController()
      await space.run([source, model], {
        signal: stop.signal,
        progress: (event) =>
          event.event === 'model-started' && event.model === 'mart.t' ? stop.abort() : undefined,
      })
    }
    const summary = await space.run([source, model], options)
    // A row that was amended into the range has its key twice then.
    const { status, because } = resultOf(summary, 'mart.t')
    if (status === 'failed' && options.range !== undefined && /duplicate keys/.test(because)) return
    assert.ok(summary.ok, because)
    const rows = await rowsOf(space)
    assert.is(new Set(rows.map(({ id }) => id)).size, rows.length, 'a row is there twice')
    const older = rows.filter(({ amount, v }) => v !== amount * this.#factor)
    const unsaid = older.filter((row) => !this.#meant.has(textOf(row)))
    if (options.forwardOnly === true) for (const row of older) this.#meant.add(textOf(row))
    const said = resultOf(summary, 'mart.t').older_rows
    const expected = options.forwardOnly === true ? 0 : unsaid.length
    assert.ok((said?.rows ?? 0) >= expected, `${expected} rows of older rules, said ${said?.text}`)
    const isSure = said?.text.startsWith('up to') !== true
    // A row that was kept where a new one has its time may be counted with that once more.
    const kept = this.#shape.kind === 'append' && this.#shape.key !== undefined
    const most = expected + (kept && expected > 0 ? older.length - unsaid.length : 0)
    if (isSure) assert.ok((said?.rows ?? 0) <= most, `${expected} rows, said ${said?.text}`)
    if (said !== undefined) assert.is(said.of, rows.length)
  }
}

test('no row of an older rule is in a table in silence', async () => {
  for (let seed = firstSeed; seed < firstSeed + sequences; seed++) {
    await using space = await openProject()
    const sequence = new Sequence(seed)
    try {
      await sequence.run(space)
    } catch (error) {
      throw new Error(`seed ${seed}: ${sequence.log.join('; ')}: ${String(error)}`)
    }
  }
})

test.run()
