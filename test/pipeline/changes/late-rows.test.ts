// Rows that come into an input with a value below the watermark of its reader: changes are known by the rows.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults, type TestProject } from '../../support/pipeline-project.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import type { RunSummary } from '../../../src/core/report/progress.ts'

const hits = '-- @kind: events\nid BIGINT NOT NULL,\nreceived_at TIMESTAMPTZ'
const log = '-- @kind: append\n-- @incremental: received_at\nSELECT id, received_at FROM raw.hits'
const state =
  '-- @kind: merge\n-- @unique_key: id\n-- @incremental: received_at\nSELECT id, received_at FROM raw.hits'

/** Events of one collector come by an opening of its own. */
class Collectors {
  readonly claims: FakeClaims
  readonly #space: TestProject

  constructor(space: TestProject) {
    this.#space = space
    this.claims = new FakeClaims(space.path('buffer'))
  }

  async send(collector: number, ...times: readonly string[]): Promise<void> {
    const events = times.map((time, i) => ({ id: collector * 1000 + i, received_at: time }))
    const of = this.#sent.get(collector) ?? 0
    this.#sent.set(collector, of + 1)
    const withIds = events.map(({ id, ...rest }) => ({ id: id + of * 100, ...rest }))
    await this.claims.add('raw.hits', withIds, { opening: collector })
  }

  readonly #sent = new Map<number, number>()

  async run(texts: Texts, options: Partial<RunRequest> = {}): Promise<RunSummary> {
    const project = await compileTexts(texts)
    const openClaims = () => Promise.resolve(this.claims)
    const request = { ...runDefaults(this.#space.paths), project, openClaims, ...options }
    const summary = await runPipeline(request)
    if (!summary.ok) throw new Error(JSON.stringify(summary.models, null, 2))
    return summary
  }
}

const only = (...include: readonly string[]) => ({
  selection: { include, exclude: [], retry: false },
})

const builtRows = ({ models }: RunSummary, name: string) =>
  models.find(({ model }) => model === name)?.rows

async function count(space: TestProject, ...names: readonly string[]): Promise<readonly number[]> {
  const counts: number[] = []
  for (const name of names) {
    const [schema, table] = name.split('.') as [string, string]
    const [row] = await space.rows(
      sql`SELECT count(*)::INTEGER AS n FROM ${sql.ident(schema, table)}`,
    )
    counts.push(row!['n'] as number)
  }
  return counts
}

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`

test('what two collectors flush in turn is in all models that follow their events', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const texts = { 'raw.hits': hits, 'core.log': log, 'core.state': state }
  await collectors.run(texts)
  await collectors.send(1, at(1), at(3), at(5), at(7), at(9))
  await collectors.run(texts)
  await collectors.send(2, at(2), at(4), at(6), at(8), '2026-10-02T00:00:00Z')
  const second = await collectors.run(texts)
  assert.equal(await count(space, 'raw.hits', 'core.log', 'core.state'), [10, 10, 10])
  assert.is(builtRows(second, 'core.log'), 5)
  const third = await collectors.run(texts)
  assert.equal([...new Set(third.models.map(({ status }) => status))], ['unchanged'])
})

test('equal events that come late are as many rows as they are', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const same = log.replace('SELECT id, received_at', 'SELECT received_at')
  const texts = { 'raw.hits': hits, 'core.log': same }
  await collectors.send(1, at(1), at(9))
  await collectors.run(texts)
  await collectors.send(2, at(1), at(1), at(2))
  await collectors.run(texts)
  await collectors.send(1, at(1))
  await collectors.run(texts)
  assert.equal(await count(space, 'raw.hits', 'core.log'), [6, 6])
})

test('rows that came while the reader was left out are read once it is built', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const texts = { 'raw.hits': hits, 'core.log': log, 'core.state': state }
  await collectors.send(1, at(9))
  await collectors.run(texts)
  for (const hour of [3, 2, 4]) {
    await collectors.send(2, at(hour))
    await collectors.run(texts, only('raw.hits', 'core.state'))
  }
  assert.equal(await count(space, 'core.log', 'core.state'), [1, 4])
  await collectors.run(texts)
  assert.equal(await count(space, 'core.log', 'core.state'), [4, 4])
})

test('late rows that make up for the number of those that were too old are read', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const keep = (age: string) =>
    `-- @kind: events\n-- @keep: ${age}\n${hits.slice(hits.indexOf('id'))}`
  const texts = { 'raw.hits': keep('90 days'), 'core.log': log, 'core.state': state }
  const now = () => new Date('2026-11-21T00:00:00Z')
  await collectors.send(1, '2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z', at(7), at(8), at(9))
  await collectors.run(texts, { now })
  const shorter = { ...texts, 'raw.hits': keep('30 days') }
  await collectors.run(shorter, { now, ...only('raw.hits') })
  assert.equal(await count(space, 'raw.hits', 'core.log', 'core.state'), [3, 5, 5])
  await collectors.send(2, at(2), at(4))
  const last = await collectors.run(shorter, { now })
  assert.equal(await count(space, 'raw.hits', 'core.log', 'core.state'), [5, 7, 7])
  assert.is(builtRows(last, 'core.log'), 2)
})

const orders = (values: string, kind: string) =>
  `-- @kind: ${kind}\nSELECT * FROM (VALUES ${values}) t(id, day, amount)`
const one = (id: number, day: string, amount: number) => `(${id}, DATE '2026-11-${day}', ${amount})`

const daily = `-- @kind: merge
-- @unique_key: day
-- @incremental: day lookback 1 day
SELECT day, sum(amount)::INTEGER AS amount FROM stage.orders GROUP BY day`

const through =
  '-- @kind: view\nSELECT id, CAST(day AS TIMESTAMP)::DATE AS day, amount FROM core.orders'

const amounts = async (space: TestProject) =>
  (
    await space.rows(
      sql`SELECT concat_ws(' ', strftime(day, '%d'), amount) AS text FROM mart.daily ORDER BY day`,
    )
  ).map(({ text }) => text)

for (const [kind, more] of [
  ['merge', '\n-- @unique_key: id'],
  ['merge', '\n-- @unique_key: id\n-- @deletes: mirror'],
  ['table', ''],
] as const)
  test(`a late correction reaches a sum that reads it through a view: ${kind}${more.replaceAll('\n', ' ')}`, async () => {
    await using space = await openProject()
    const run = async (...rows: readonly string[]) => {
      const texts = {
        'raw.orders': orders(rows.join(', '), 'table'),
        'core.orders': `-- @kind: ${kind}${more}\nFROM raw.orders`,
        'stage.orders': through,
        'mart.daily': daily,
      }
      return await new Collectors(space).run(texts)
    }
    const later = [one(3, '10', 5), one(4, '20', 7)]
    await run(one(1, '01', 10), one(2, '01', 20), ...later)
    assert.equal(await amounts(space), ['01 30', '10 5', '20 7'])
    await run(one(1, '01', 11), one(2, '01', 20), ...later)
    assert.equal(await amounts(space), ['01 31', '10 5', '20 7'])
    // From one old day to another: both are read again.
    await run(one(1, '02', 11), one(2, '01', 20), ...later)
    assert.equal(await amounts(space), ['01 20', '02 11', '10 5', '20 7'])
    await run(one(1, '02', 11), one(5, '01', 1), one(2, '01', 20), ...later)
    assert.equal(await amounts(space), ['01 21', '02 11', '10 5', '20 7'])
    await run(one(1, '02', 11), one(2, '01', 20), ...later)
    const isGone = kind === 'table' || more.includes('mirror')
    assert.equal(await amounts(space), [isGone ? '01 20' : '01 21', '02 11', '10 5', '20 7'])
  })

const byDay = `-- @kind: period
-- @period: day of day
SELECT day, sum(amount)::INTEGER AS amount FROM stage.orders GROUP BY day`

test('periods that a late correction touches are made anew, and a day that is cancelled goes', async () => {
  await using space = await openProject()
  const run = async (...rows: readonly string[]) =>
    await new Collectors(space).run({
      'raw.orders': orders(rows.join(', '), 'table'),
      'core.orders': '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\nFROM raw.orders',
      'stage.orders': through,
      'mart.daily': byDay,
    })
  const later = [one(3, '10', 5), one(4, '20', 7)]
  await run(one(1, '01', 10), one(2, '02', 20), ...later)
  await run(one(1, '01', 11), one(2, '02', 20), ...later)
  assert.equal(await amounts(space), ['01 11', '02 20', '10 5', '20 7'])
  await run(one(1, '01', 11), ...later)
  assert.equal(await amounts(space), ['01 11', '10 5', '20 7'])
})

for (const [what, reader] of [
  ['sums', daily],
  ['periods', byDay],
] as const)
  for (const kind of ['table', 'merge\n-- @unique_key: id\n-- @deletes: mirror'])
    test(`${what} of an input that forgets its oldest rows keep them: ${kind.split('\n')[0]}`, async () => {
      await using space = await openProject()
      const run = async (...rows: readonly string[]) =>
        await new Collectors(space).run({
          // As what another system gives: nobody says which rows go.
          'raw.orders': `${orders(rows.join(', '), 'table')} WHERE random() < 2`,
          'core.orders': `-- @kind: ${kind}\nFROM raw.orders`,
          'stage.orders': through,
          'mart.daily': reader,
        })
      await run(one(1, '01', 10), one(2, '02', 20), one(3, '10', 5))
      await run(one(2, '02', 20), one(3, '10', 5), one(4, '11', 1))
      assert.equal(await amounts(space), ['01 10', '02 20', '10 5', '11 1'])
      await run(one(3, '10', 6), one(4, '11', 1))
      await run(one(3, '10', 6), one(4, '11', 1), one(5, '12', 1))
      await run(one(4, '11', 1), one(5, '12', 1))
      // The day at the edge of a window is not whole, and sums look back by a day all the same.
      const kept = kind === 'table' && what === 'periods' ? ['10 5'] : ['10 6']
      assert.equal(await amounts(space), ['01 10', '02 20', ...kept, '11 1', '12 1'])
    })

for (const [what, before, after, expected] of [
  [
    'that exchange their names',
    'a AS amount, b AS other',
    'a AS other, b AS amount',
    ['01 100', '10 200'],
  ],
  [
    'of another type whose values are stored alike',
    '(a / 100.0)::DECIMAL(9,2) AS amount',
    'a AS amount',
    ['01 1', '10 2'],
  ],
] as const)
  test(`columns ${what} change all rows of a table`, async () => {
    await using space = await openProject()
    const run = async (columns: string) =>
      await new Collectors(space).run({
        'raw.orders': `SELECT * FROM (VALUES (DATE '2026-11-01', 1, 100), (DATE '2026-11-10', 2, 200)) AS t(day, a, b)`,
        'stage.orders': `SELECT day, ${columns} FROM raw.orders`,
        'mart.daily': byDay,
      })
    await run(before)
    await run(after)
    assert.equal(await amounts(space), expected)
  })

test('what nobody said of an input of periods is said, and they stay', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const texts = {
    'raw.hits': hits,
    'mart.hourly': `-- @kind: period
-- @period: hour of hour
SELECT date_trunc('hour', received_at) AS hour, count(*) AS n FROM raw.hits GROUP BY 1`,
  }
  await collectors.send(1, at(5), at(9))
  await collectors.run(texts)
  await collectors.send(2, at(5), at(4))
  await collectors.run(texts)
  const hours = sql`SELECT string_agg(concat_ws(':', extract(hour FROM hour), n), ' ' ORDER BY hour) AS text FROM mart.hourly`
  assert.equal(await space.rows(hours), [{ text: '4:1 5:2 9:1' }])
  await space.alter(sql`INSERT INTO raw.hits VALUES (77, TIMESTAMPTZ '2026-11-20 05:30:00Z')`)
  await collectors.send(1, at(10))
  const { models } = await collectors.run(texts)
  const { warnings } = models.find(({ model }) => model === 'mart.hourly')!
  assert.match(
    warnings?.join() ?? '',
    /what changed in raw\.hits .* is not known, .* --start VALUE/,
  )
  assert.equal(await space.rows(hours), [{ text: '4:1 5:2 9:1 10:1' }])
})

test('a build that finds only that rows became too old changes nothing for those who follow', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const texts = {
    'raw.hits': hits,
    'core.log': `${log.replace('\n', '\n-- @keep: 30 days\n')} WHERE id < 100`,
    'mart.hourly': `-- @kind: period
-- @period: hour of hour
SELECT date_trunc('hour', received_at) AS hour, count(*) AS n FROM core.log GROUP BY 1`,
  }
  const old = { id: 1, received_at: '2026-10-25T00:00:00Z' }
  await collectors.claims.add('raw.hits', [old, { id: 2, received_at: at(5) }], { opening: 1 })
  await collectors.run(texts, { now: () => new Date('2026-11-21T00:00:00Z') })
  assert.equal(await count(space, 'core.log', 'mart.hourly'), [2, 2])
  await collectors.claims.add('raw.hits', [{ id: 200, received_at: at(6) }], { opening: 1 })
  const { models } = await collectors.run(texts, { now: () => new Date('2026-11-28T00:00:00Z') })
  assert.equal(await count(space, 'raw.hits', 'core.log', 'mart.hourly'), [3, 1, 2])
  const of = (name: string) => models.find(({ model }) => model === name)
  assert.is(of('core.log')?.because, 'upstream raw.hits changed')
  assert.is(of('mart.hourly')?.warnings, undefined)
})

test('a range of an append that is replaced, and one that is filled, are read again', async () => {
  await using space = await openProject()
  const run = async (rows: readonly string[], options: Partial<RunRequest> = {}) => {
    const texts = {
      // As data: the SELECT of a table would be another rule.
      'raw.orders': orders(rows.join(', '), 'merge\n-- @unique_key: id\n-- @deletes: mirror'),
      'core.orders': '-- @kind: append\n-- @incremental: day\n-- @unique_key: id\nFROM raw.orders',
      'stage.orders': through,
      'mart.daily': daily,
    }
    return await new Collectors(space).run(texts, options)
  }
  const later = [one(3, '10', 5), one(4, '20', 7)]
  await run([one(1, '01', 10), ...later])
  await run([one(1, '01', 12), ...later])
  assert.equal(await amounts(space), ['01 10', '10 5', '20 7'])
  await run([one(1, '01', 12), ...later], { range: { start: '2026-11-01', end: '2026-11-02' } })
  await run([one(1, '01', 12), ...later])
  assert.equal(await amounts(space), ['01 12', '10 5', '20 7'])
  await run([one(1, '01', 12), one(6, '03', 1), ...later])
  assert.equal(await amounts(space), ['01 12', '03 1', '10 5', '20 7'])
})

test('versions that end and begin are read again by when their rows happened', async () => {
  await using space = await openProject()
  const run = async (...rows: readonly string[]) => {
    const texts = {
      'raw.orders': orders(rows.join(', '), 'table'),
      'core.orders': '-- @kind: scd2\n-- @unique_key: id\nFROM raw.orders',
      'mart.daily': `-- @kind: merge
-- @unique_key: day
-- @incremental: day
SELECT day, sum(amount)::INTEGER AS amount FROM core.orders WHERE is_current GROUP BY day`,
    }
    return await new Collectors(space).run(texts)
  }
  await run(one(1, '01', 10), one(4, '20', 7))
  await run(one(1, '01', 11), one(4, '20', 7))
  assert.equal(await amounts(space), ['01 11', '20 7'])
})

test('a table that was changed without a word is read whole', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const texts = { 'raw.hits': hits, 'core.log': log, 'core.state': state }
  await collectors.send(1, at(5), at(9))
  await collectors.run(texts)
  await space.alter(sql`INSERT INTO raw.hits VALUES (77, TIMESTAMPTZ '2026-11-01 00:00:00Z')`)
  await collectors.send(1, at(10))
  await collectors.run(texts)
  assert.equal(await count(space, 'core.log', 'core.state'), [4, 4])
})

test('a model that follows nothing yet reads what came late before', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const texts = { 'raw.hits': hits, 'core.log': log, 'core.state': state }
  await collectors.send(1, at(5), at(9))
  await collectors.run(texts)
  await collectors.send(2, at(3))
  await collectors.run(texts, only('raw.hits'))
  // As a version that knew nothing of this has left it.
  await space.alter(sql`DROP TABLE _eider.changes; DROP TABLE _eider.followers`)
  await collectors.run(texts)
  await collectors.send(2, at(2))
  await collectors.run(texts)
  assert.equal(await count(space, 'core.log', 'core.state'), [4, 4])
})

test('a project without followers writes nothing', async () => {
  await using space = await openProject()
  const collectors = new Collectors(space)
  const whole = '-- @kind: merge\n-- @unique_key: id\nSELECT id, received_at FROM raw.hits'
  await collectors.send(1, at(5))
  await collectors.run({ 'raw.hits': hits, 'core.state': whole })
  const tables = await space.rows(
    sql`SELECT table_name FROM duckdb_tables() WHERE table_name IN ('changes', 'followers')`,
  )
  assert.equal(tables, [])
})

test.run()
