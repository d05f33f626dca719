// Which values `@keep` has removed, and what a late row then makes anew.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ModelName } from '../../../src/core/names.ts'
import { sql } from '../../../src/core/sql.ts'
import { renameColumn } from '../../../src/pipeline/rename/rename-column.ts'
import { renameRelation } from '../../../src/pipeline/rename/rename-model.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { openStore } from '../../../src/store/open.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults, type TestProject } from '../../support/pipeline-project.ts'

type Texts = Readonly<Record<string, string>>

const events = (keep: string) =>
  `-- @kind: events\n${keep}id BIGINT NOT NULL,\nts TIMESTAMP,\nreceived_at TIMESTAMPTZ`

const months = (by: string, input: string) =>
  `-- @kind: period\n-- @period: month of d\nSELECT date_trunc('month', ${by})::DATE AS d, count(*)::INTEGER AS n FROM ${input} GROUP BY ALL`

class History implements AsyncDisposable {
  readonly space: TestProject
  readonly #claims: FakeClaims
  #rows = 0

  private constructor(space: TestProject) {
    this.space = space
    this.#claims = new FakeClaims(space.path('buffer'))
  }

  static async begin(): Promise<History> {
    return new History(await openProject())
  }

  /** One event for each pair: its time, and the day on which it came. */
  async send(...pairs: readonly (readonly [string, string])[]): Promise<void> {
    await this.#claims.add(
      'raw.e',
      pairs.map(([ts, day]) => ({ id: ++this.#rows, ts, received_at: `${day}T12:00:00Z` })),
    )
  }

  /** The warnings of all models. */
  async run(texts: Texts, day: string, options: Partial<RunRequest> = {}): Promise<string> {
    const { ok, models } = await runPipeline({
      ...runDefaults(this.space.paths),
      project: await compileTexts(texts),
      openClaims: () => Promise.resolve(this.#claims),
      now: () => new Date(`${day}T13:00:00Z`),
      ...options,
    })
    assert.ok(ok, JSON.stringify(models))
    return models.flatMap(({ warnings = [] }) => warnings).join('\n')
  }

  async sums(table: string): Promise<Readonly<Record<string, unknown>>> {
    const relation = sql.relation(table as ModelName)
    const rows = await this.space.rows(sql`SELECT d::VARCHAR AS d, n FROM ${relation} ORDER BY d`)
    return Object.fromEntries(rows.map(({ d, n }) => [(d as string).slice(0, 7), n]))
  }

  notes() {
    return this.space.rows(sql`
      SELECT reader, model, col, low, high FROM _eider.forgotten
      QUALIFY low IS NOT NULL AND seq = max(seq) OVER (PARTITION BY reader, model, col) ORDER BY ALL`)
  }

  async change(
    work: (opened: Parameters<typeof renameRelation>[0]) => Promise<unknown>,
  ): Promise<void> {
    const { lease, warehouse, state, tables } = openStore(this.space.paths)
    const { signal } = new AbortController()
    await using _lease = await lease.take({ waitMs: 0, signal, name: 'test' })
    await using database = await warehouse.open({ memoryLimit: null, lockWaitMs: 0, signal })
    await using connection = await database.connect()
    await work({ connection, state, tables })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.space[Symbol.asyncDispose]()
  }
}

const KEPT = /periods from 2025-12-01 to 2025-12-01 keep what they have where @keep of /

test('a period that was never built is built of late rows', async () => {
  await using history = await History.begin()
  const texts = { 'raw.e': events('-- @keep: 90 days\n'), 'core.m': months('ts', 'raw.e') }
  await history.send(['2025-12-10', '2026-01-01'], ['2026-03-05', '2026-03-05'])
  await history.run(texts, '2026-03-05')
  await history.send(['2026-06-01', '2026-06-01'])
  await history.run(texts, '2026-06-01')
  await history.send(['2025-12-20', '2026-06-02'], ['2025-11-20', '2026-06-02'])
  assert.match(await history.run(texts, '2026-06-02'), KEPT)
  const expected = { '2025-11': 1, '2025-12': 1, '2026-03': 1, '2026-06': 1 }
  assert.equal(await history.sums('core.m'), expected)
  // A longer @keep, or none, brings no row back.
  const without = { ...texts, 'raw.e': events('') }
  await history.send(['2025-12-21', '2026-06-03'], ['2025-11-21', '2026-06-03'])
  assert.match(await history.run(without, '2026-06-03'), KEPT)
  assert.equal(await history.sums('core.m'), { ...expected, '2025-11': 2 })
})

test('a row that goes as soon as it comes was read by nobody', async () => {
  await using history = await History.begin()
  const texts = {
    'raw.e': events('-- @keep: 90 days of ts\n'),
    'core.m': months('received_at', 'raw.e'),
  }
  await history.send(['2026-05-30', '2026-05-30'], ['2026-05-31', '2026-05-31'])
  await history.run(texts, '2026-05-31')
  await history.send(['2025-12-01', '2026-05-31'])
  await history.run(texts, '2026-05-31')
  assert.equal(await history.notes(), [])
  await history.send(['2026-06-01', '2026-06-01'])
  await history.run(texts, '2026-06-01')
  await history.send(['2026-05-31', '2026-05-31'])
  assert.not.match(await history.run(texts, '2026-06-02'), 'keep what they have')
  assert.equal(await history.sums('core.m'), { '2026-05': 3, '2026-06': 1 })
})

const only = (name: string) => ({ include: [name], exclude: [], retry: false })

const log = (keep: string, column = 'ts') =>
  `-- @kind: append\n-- @unique_key: id\n-- @incremental: ${column}\n${keep}SELECT id, ts AS ${column} FROM raw.e`

const CHAIN = {
  'raw.e': events(''),
  'core.log': log('-- @keep: 90 days of ts\n'),
  'core.m': months('ts', 'core.log'),
}

/** The input has lost the rows of December. */
async function removed(history: History): Promise<void> {
  await history.send(['2025-12-10', '2026-01-01'], ['2026-01-01', '2026-01-01'])
  await history.run(CHAIN, '2026-01-01')
  await history.send(['2026-03-15', '2026-03-15'])
  await history.run(CHAIN, '2026-03-15', { allowRemoval: true })
}

const NOTE = {
  reader: 'core.m',
  model: 'core.log',
  col: 'ts',
  low: '2025-12-10 00:00:00',
  high: '2025-12-10 00:00:00',
}

test('a table that is made from nothing of all that there was has forgotten nothing', async () => {
  await using history = await History.begin()
  await removed(history)
  assert.equal(await history.notes(), [NOTE])
  // What its own @keep leaves out again is noted again.
  await history.run(CHAIN, '2026-03-15', { fullRefresh: true, selection: only('core.log') })
  assert.equal(await history.notes(), [NOTE])
  const whole = { ...CHAIN, 'core.log': log('') }
  await history.run(whole, '2026-03-16', { fullRefresh: true, selection: only('core.log') })
  assert.equal(await history.notes(), [])
  await history.send(['2025-12-11', '2026-03-17'])
  assert.not.match(await history.run(whole, '2026-03-17'), 'keep what they have')
  assert.equal(await history.sums('core.m'), { '2025-12': 2, '2026-01': 1, '2026-03': 1 })
})

test('a reader that is made from nothing has no rows of what is gone', async () => {
  await using history = await History.begin()
  await removed(history)
  await history.run(CHAIN, '2026-03-15', { fullRefresh: true, selection: only('core.m') })
  assert.equal(await history.notes(), [])
})

test('another name of the table, of its column and of the reader changes nothing', async () => {
  await using history = await History.begin()
  await removed(history)
  const [from, to, reader, m2] = [
    'core.log',
    'core.l',
    'core.m',
    'core.m2',
  ] as readonly string[] as readonly ModelName[]
  const alone = { replace: false, file: null }
  await history.change((opened) => renameRelation(opened, from!, to!, alone))
  await history.change((opened) => renameColumn(opened, to!, { from: 'ts', to: 'time_at' }))
  await history.change((opened) => renameRelation(opened, reader!, m2!, alone))
  assert.equal(await history.notes(), [
    { ...NOTE, reader: 'core.m2', model: 'core.l', col: 'time_at' },
  ])
  const renamed = {
    'raw.e': CHAIN['raw.e'],
    'core.l': log('', 'time_at'),
    'core.m2': months('time_at', 'core.l'),
  }
  await history.run(renamed, '2026-03-16')
  await history.send(['2025-12-11', '2026-03-17'])
  assert.match(await history.run(renamed, '2026-03-17'), KEPT)
  assert.equal(await history.sums('core.m2'), { '2025-12': 1, '2026-01': 1, '2026-03': 1 })
})

test('a column of events with another name has the values that it had', async () => {
  await using history = await History.begin()
  const texts = { 'raw.e': events('-- @keep: 90 days\n'), 'core.m': months('ts', 'raw.e') }
  await history.send(['2025-12-10', '2026-01-01'], ['2026-03-05', '2026-03-05'])
  await history.run(texts, '2026-03-05')
  await history.send(['2026-06-01', '2026-06-01'])
  await history.run(texts, '2026-06-01')
  const renamed = {
    'raw.e': events('-- @renamed_from time_at: ts\n').replace('\nts ', '\ntime_at '),
    'core.m': months('time_at', 'raw.e'),
  }
  await history.run(renamed, '2026-06-02')
  const [note] = await history.notes()
  assert.is(note?.['col'], 'time_at')
  await history.send(['2025-12-20', '2026-06-03'])
  assert.match(await history.run(renamed, '2026-06-03'), KEPT)
})

test.run()
