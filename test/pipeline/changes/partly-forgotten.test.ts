// Periods and groups of which `@keep` has removed rows: a late row must not take away what was made of these.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../../support/daemon-process.ts'
import { type Workspace, workspace } from '../../support/workspace.ts'

const DAY_MS = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

const raw = (keep: string) => `-- @kind: events
${keep}id BIGINT NOT NULL,
ts TIMESTAMPTZ,
received_at TIMESTAMPTZ
`
const files = {
  'eider.yml': 'name: k\n',
  'models/raw/e.sql': raw(''),
  'models/core/days.sql': `-- @kind: period
-- @period: day of d
SELECT ts::DATE AS d, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL
`,
  'models/core/months.sql': `-- @kind: period
-- @period: month of d
SELECT date_trunc('month', ts)::DATE AS d, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL
`,
  'models/core/groups.sql': `-- @kind: merge
-- @unique_key: d
-- @incremental: d
SELECT date_trunc('month', ts)::DATE AS d, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL
`,
  'models/core/rows.sql': `-- @kind: append
-- @unique_key: id
-- @incremental: ts
SELECT id, ts FROM raw.e
`,
}

async function send(space: Workspace, events: readonly object[]): Promise<void> {
  await using daemon = await startDaemon(space)
  const answer = await fetch(`${daemon.url}/collect/raw/e/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: events.map((event) => JSON.stringify(event)).join('\n'),
  })
  assert.is(answer.status, 202)
}

const sums = async (space: Workspace, ...tables: readonly string[]) => {
  const each = tables.map((name) => `SELECT sum(n)::INTEGER AS n FROM core.${name}`)
  const { stdout } = await space.ok(['query', each.join(' UNION ALL '), '--json'])
  return stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { n: number }).n)
}

const oneEach = (ages: readonly number[]) =>
  ages.map((age, i) => ({ id: i + 1, ts: ago(age), received_at: ago(age) }))

test('a row that is late by another time than that of @keep takes no older row away', async () => {
  await using space = await workspace(files)
  await send(space, oneEach([200, 200, 200, 5, 4, 3, 2, 1]))
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 90 days\n'))
  await space.ok(['run'])
  assert.equal(await sums(space, 'days', 'months', 'groups'), [8, 8, 8])
  await send(space, [{ id: 50, ts: ago(200) }])
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  assert.match(plan, /core\.days[^]*warning: periods from .* to .* keep what they have/)
  const { stdout } = await space.ok(['run'])
  const KEEP =
    /warning +(?:periods|groups) from .* to .* keep what they have where @keep of raw\.e has removed rows of them/g
  assert.is(stdout.match(KEEP)?.length, 3)
  assert.equal(await sums(space, 'days', 'months', 'groups'), [8, 8, 8])
  const { stdout: rows } = await space.ok(['query', 'SELECT count(*)::INT AS n FROM core.rows'])
  assert.match(rows, /\n9\n/)
  const { stdout: asked } = await space.ok([
    'run',
    'core.days',
    '--start',
    ago(201).slice(0, 10),
    '--end',
    ago(199).slice(0, 10),
  ])
  assert.match(asked, /built +core\.days/)
  assert.equal(await sums(space, 'days'), [6])
})

test('what was made of what is left takes late rows again, until more of it is removed', async () => {
  const day = (age: number) => ago(age).slice(0, 10)
  const log = (keep: string) => `-- @kind: append
-- @unique_key: id
-- @incremental: got
${keep}SELECT id, ts, got FROM ref.s
`
  const tables = ['days', 'months', 'groups']
  const readers = tables.map((name) => {
    const path = `models/core/${name}.sql` as const
    return [path, files[path as keyof typeof files].replace('raw.e', 'core.log')]
  })
  // Each row: how many days ago it was, and came. Of the oldest day, one row stays.
  const rows: [ts: number, got: number][] = [
    [200, 200],
    [200, 200],
    [200, 10],
    [4, 4],
    [3, 3],
  ]
  const seed = () =>
    ['id,ts,got', ...rows.map(([ts, got], i) => `${i},${day(ts)},${day(got)}`), ''].join('\n')
  await using space = await workspace({
    'eider.yml': files['eider.yml'],
    'seeds/ref/s.csv': seed(),
    'models/core/log.sql': log(''),
    ...Object.fromEntries(readers),
  })
  const keeps = async (days: number) => {
    await space.write('models/core/log.sql', log(`-- @keep: ${days} days of got\n`))
    await space.ok(['run'])
  }
  /** How many of the three tables leave the late row out. */
  const late = async (got: number) => {
    rows.push([200, got])
    await space.write('seeds/ref/s.csv', seed())
    const { stdout } = await space.ok(['run'])
    return stdout.match(/warning +(?:periods|groups) from .* keep what they have/g)?.length ?? 0
  }
  await space.ok(['run'])
  await keeps(90)
  assert.is(await late(2), 3)
  assert.equal(await sums(space, ...tables), [5, 5, 5])
  // In two pieces that meet, so that the second one goes on from the first.
  for (const name of tables)
    for (const [from, to] of [
      [260, 180],
      [180, 100],
    ] as const)
      await space.ok(['run', `core.${name}`, '--start', day(from), '--end', day(to)])
  assert.equal(await sums(space, ...tables), [4, 4, 4])
  assert.is(await late(1), 0)
  assert.equal(await sums(space, ...tables), [5, 5, 5])
  await keeps(7)
  assert.is(await late(0), 3)
  assert.equal(await sums(space, ...tables), [5, 5, 5])
  const removed = 'SELECT count(*)::INTEGER AS n FROM _eider.removed'
  assert.match((await space.ok(['query', removed, '--json'])).stdout, '"n":0', 'of events alone')
})

test('a month of which days are gone keeps them, and one that is whole is made again', async () => {
  await using space = await workspace(files)
  const today = new Date()
  // In the middle of a month, so that a part of it is gone.
  const edge = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 3, 15)
  const age = Math.floor((Date.now() - edge) / DAY_MS)
  const inMonth = (days: number) => age - days
  await send(space, oneEach([inMonth(-5), inMonth(5), inMonth(20), 3, 2, 1]))
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw(`-- @keep: ${age} days of ts\n`))
  await space.ok(['run'])
  await send(space, [
    { id: 50, ts: ago(inMonth(6)) },
    { id: 51, ts: ago(inMonth(21)) },
    { id: 52, ts: ago(inMonth(-6)) },
  ])
  const { stdout } = await space.ok(['run'])
  assert.match(stdout, /core\.months[^]*warning +periods from .* to \d{4}-\d\d-01 keep/)
  assert.match(stdout, /core\.groups[^]*warning +groups from .* to \d{4}-\d\d-01 keep/)
  // The month of the edge keeps 2 of its rows, the next one has its late row; of days, both count.
  assert.equal(await sums(space, 'months', 'groups', 'days'), [7, 7, 8])
})

const groupsBy = (column: string) => `-- @kind: merge
-- @unique_key: b
-- @incremental: b
SELECT ${column} AS b, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL
`

test('numbers of which rows are gone keep what they have, and higher ones are made again', async () => {
  const names = ['thousands', 'wholes', 'decimals', 'doubles']
  const priced = (keep: string) => raw(`${keep}price DECIMAL(18, 2),\n`)
  await using space = await workspace({
    'eider.yml': 'name: k\n',
    'models/raw/e.sql': priced(''),
    'models/core/thousands.sql': `-- @kind: period
-- @period: 1000 of b
SELECT id AS b, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL
`,
    'models/core/wholes.sql': groupsBy('id'),
    'models/core/decimals.sql': groupsBy('price'),
    'models/core/doubles.sql': groupsBy('id::DOUBLE'),
  })
  const rows = oneEach([200, 200, 200, 5, 4, 3, 2, 1])
  await send(
    space,
    rows.map((row) => ({ ...row, id: row.id * 1000, price: row.id * 1000 })),
  )
  await space.ok(['run'])
  await space.write('models/raw/e.sql', priced('-- @keep: 90 days\n'))
  await space.ok(['run'])
  await send(space, [
    { id: 2000, price: 2000, ts: ago(200) },
    { id: 6000, price: 6000, ts: ago(1) },
  ])
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  assert.is(plan.match(/warning: (?:periods|groups) from/g)?.length, 4)
  const { stdout } = await space.ok(['run'])
  assert.is(stdout.match(/warning +(?:periods|groups) from/g)?.length, 4)
  assert.equal(await sums(space, ...names), [9, 9, 9, 9])
})

test('times of seconds, of milliseconds and of nanoseconds end a period where it ends', async () => {
  const types = ['TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS']
  const monthsIn = (type: string) => `-- @kind: period
-- @period: month of d
SELECT date_trunc('month', ts)::${type} AS d, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL
`
  await using space = await workspace({
    'eider.yml': 'name: k\n',
    'models/raw/e.sql': raw(''),
    ...Object.fromEntries(types.map((type) => [`models/core/${type}.sql`, monthsIn(type)])),
  })
  const [gone, next] = ['2024-01-10T00:00:00Z', '2024-02-10T00:00:00Z']
  await send(space, [
    { id: 1, ts: gone, received_at: ago(200) },
    { id: 2, ts: next, received_at: ago(1) },
    { id: 3, ts: ago(1), received_at: ago(1) },
  ])
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 90 days of received_at\n'))
  await space.ok(['run'])
  await send(space, [
    { id: 4, ts: gone },
    { id: 5, ts: next },
  ])
  const { stdout } = await space.ok(['run'])
  assert.is(stdout.match(/warning +periods from .* keep what they have/g)?.length, 3)
  assert.equal(await sums(space, ...types), [4, 4, 4])
})

test('before anything is removed, and on the edge of a day, late rows count as ever', async () => {
  await using space = await workspace({ ...files, 'models/raw/e.sql': raw('-- @keep: 90 days\n') })
  await send(space, oneEach([5, 4, 3, 2, 1]))
  await space.ok(['run'])
  await send(space, [{ id: 50, ts: ago(200) }])
  const { stdout } = await space.ok(['run'])
  assert.not.match(stdout, 'warning')
  assert.equal(await sums(space, 'days', 'months', 'groups'), [6, 6, 6])
})

test('what an erasure has removed is made again without it, whatever comes late then', async () => {
  await using space = await workspace({ ...files, 'models/raw/e.sql': raw('-- @keep: 90 days\n') })
  await send(space, [...oneEach([5, 4, 3, 2]), { id: 9, ts: ago(200) }, { id: 10, ts: ago(200) }])
  await space.ok(['run'])
  await space.ok(['erase', 'raw.e', 'id = 9'])
  await send(space, [{ id: 50, ts: ago(200) }])
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  assert.not.match(plan, 'keep what they have')
  const { stdout } = await space.ok(['run'])
  assert.not.match(stdout, 'keep what they have')
  assert.equal(await sums(space, 'days', 'months'), [6, 6])
})

test('the plan shows what is too old when it comes as removed', async () => {
  await using space = await workspace({
    ...files,
    'models/raw/e.sql': raw('-- @keep: 90 days of ts\n'),
  })
  await send(space, oneEach([5, 4, 3, 2, 1]))
  await space.ok(['run'])
  await send(space, [{ id: 50, ts: ago(200) }])
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  assert.match(plan, /raw\.e[^]*5 -> 5 rows: 1 inserted, 0 changed, 1 removed/)
  assert.match(plan, /warning: 1 row older than 90 days, before .* UTC, does not stay/)
  assert.match(plan, /core\.rows[^\n]*\n +5 -> 5 rows: 0 inserted/)
  await space.ok(['run'])
  assert.equal(await sums(space, 'days'), [5])
})

test('periods longer than what an input keeps are named', async () => {
  await using space = await workspace({
    ...files,
    'models/core/years.sql': `-- @kind: period
-- @period: year of d
SELECT date_trunc('year', ts)::DATE AS d, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL
`,
  })
  await send(space, oneEach([400, 399, 5, 4, 3, 2, 1]))
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 367 days\n'))
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 1 hour\n'))
  await space.ok(['run', 'raw.e', '--allow-removal'])
  await send(space, [{ id: 50, ts: ago(0) }])
  const { stdout } = await space.ok(['run'])
  assert.match(
    stdout,
    /core\.years[^]*warning +the newest periods are made of what raw\.e still has/,
  )
})

test('a table between the two takes nothing away, until somebody asks for it', async () => {
  const daily =
    '-- @kind: table\nSELECT ts::DATE AS d, count(*)::INTEGER AS n FROM stage.rows GROUP BY ALL\n'
  const readers = ['days', 'months', 'groups'].map((name) => {
    const path = `models/core/${name}.sql` as const
    const text = files[path as keyof typeof files]
    // The months read sums through two tables.
    const [from, sum] = name === 'months' ? ['stage.daily', 'sum(n)'] : ['stage.rows', 'count(*)']
    const own = text.replace('raw.e', from!).replace('count(*)', sum!)
    return [path, name === 'months' ? own.replace("'month', ts", "'month', d") : own]
  })
  await using space = await workspace({
    'eider.yml': files['eider.yml'],
    'models/raw/e.sql': raw(''),
    'models/stage/e.sql': '-- @kind: view\nFROM raw.e\n',
    'models/stage/rows.sql': '-- @kind: table\nSELECT id, ts FROM stage.e\n',
    'models/stage/daily.sql': daily,
    ...Object.fromEntries(readers),
  })
  const tables = ['days', 'months', 'groups']
  const came = (rows: readonly (readonly [number, number])[]) =>
    rows.map(([ts, got], i) => ({ id: i + 1, ts: ago(ts), received_at: ago(got) }))
  // The oldest row stays, so that the tables between do not begin later than before.
  await send(space, came([[300, 1], [200, 200], [200, 2], [5, 5], [3, 3], [2, 2]])) // prettier-ignore
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 90 days\n'))
  const KEEP = /(?:periods|groups) from .* to .* keep what they have where @keep of raw\.e has/g
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  assert.is(plan.match(KEEP)?.length, 3)
  const { stdout } = await space.ok(['run'])
  assert.is(stdout.match(KEEP)?.length, 3)
  assert.equal(await sums(space, ...tables), [6, 6, 6])
  await send(space, [{ id: 50, ts: ago(200) }])
  assert.is((await space.ok(['run'])).stdout.match(KEEP)?.length, 3)
  assert.equal(await sums(space, ...tables), [6, 6, 6])
  const range = ['--start', ago(260).slice(0, 10), '--end', ago(100).slice(0, 10)]
  for (const name of tables) await space.ok(['run', `core.${name}`, ...range])
  assert.equal(await sums(space, ...tables), [6, 6, 6], 'one is gone, and one has come')
  await send(space, [{ id: 51, ts: ago(200) }])
  assert.not.match((await space.ok(['run'])).stdout, KEEP)
  assert.equal(await sums(space, ...tables), [7, 7, 7])
})

test('groups by a string are made of what is left, and that is said', async () => {
  const named = (keep: string) => raw(`${keep}shop VARCHAR,\n`)
  await using space = await workspace({
    'eider.yml': files['eider.yml'],
    'models/raw/e.sql': named(''),
    'models/core/shops.sql': groupsBy('shop'),
  })
  const rows = oneEach([200, 5, 4, 3, 2, 1])
  await send(
    space,
    rows.map((row, i) => ({ ...row, shop: i % 2 === 0 ? 'a' : 'b' })),
  )
  await space.ok(['run'])
  await space.write('models/raw/e.sql', named('-- @keep: 90 days\n'))
  assert.not.match((await space.ok(['run'])).stdout, /groups by a string/)
  assert.equal(await sums(space, 'shops'), [6])
  await send(space, [{ id: 50, ts: ago(1), shop: 'a' }])
  const SAID =
    /groups by a string that have changed are made of what raw\.e still has, of which @keep/
  assert.match((await space.ok(['plan', '--diff'])).stdout, SAID)
  assert.match((await space.ok(['run'])).stdout, SAID)
  assert.equal(await sums(space, 'shops'), [6], 'one is gone, and one has come')
})

test.run()
