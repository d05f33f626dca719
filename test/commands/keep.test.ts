// `@keep`: rows that are too old go in a run, what reads them follows, and a clock that is ahead empties nothing.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const raw = (keep: string) => `-- @kind: events
${keep}-- @expose
id BIGINT NOT NULL,
received_at TIMESTAMPTZ
`

const files = {
  'eider.yml': 'name: k\n',
  'models/raw/e.sql': raw(''),
  'models/core/log.sql':
    '-- @kind: append\n-- @incremental: received_at\nSELECT id, received_at FROM raw.e\n',
  'models/core/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\nSELECT id, received_at FROM raw.e\n',
  'models/mart/n.sql': '-- @expose\nSELECT count(*)::INT AS n FROM raw.e\n',
}

const DAY_MS = 86_400_000

/** One event for each age in days, with ids from 1 on. */
async function send(space: Workspace, ages: readonly number[]): Promise<void> {
  await using daemon = await startDaemon(space)
  const lines = ages.map((age, i) =>
    JSON.stringify({
      id: i + 1,
      received_at: new Date(Date.now() - age * DAY_MS).toISOString(),
    }),
  )
  const answer = await fetch(`${daemon.url}/collect/raw/e/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: lines.join('\n'),
  })
  assert.is(answer.status, 202)
}

const countIn = async (space: Workspace, table: string) =>
  (await space.ok(['query', `SELECT count(*)::INT AS n FROM ${table}`, '--json'])).stdout.trim()

test('old rows go by themselves, tables that read them follow, and kept rows stay', async () => {
  await using space = await workspace(files)
  await send(space, [200, 100, 3, 2, 1])
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 90 days\n'))

  const { stdout: plan } = await space.ok(['plan'])
  assert.match(
    plan,
    /remove +raw\.e +2 rows older than 90 days, before \d{4}-\d\d-\d\d 00:00:00 UTC\n/,
  )
  assert.match(plan, /build +mart\.n +upstream raw\.e changed\n/)
  assert.match(plan, /3 to build, 0 unchanged, 1 to lose old rows/)
  assert.match((await space.ok(['ls'])).stdout, /raw\.e .*2 rows older than 90 days/)
  const { stdout: diff } = await space.ok(['plan', '--diff'])
  assert.match(diff, /raw\.e[^]*5 -> 3 rows: 0 inserted, 0 changed, 2 removed/)

  const { stdout: run } = await space.ok(['run'])
  assert.match(run, /built +raw\.e .*\(2 rows older than 90 days, before /)
  assert.is(await countIn(space, 'raw.e'), '{"n":3}')
  assert.match((await space.ok(['query', 'FROM mart.n', '--json'])).stdout, '{"n":3}')
  assert.is(await countIn(space, 'core.log'), '{"n":5}')
  assert.is(await countIn(space, 'core.kept'), '{"n":5}')
  assert.is((await space.ok(['odata', 'preview', 'raw_e/$count'])).stdout.trim(), '3')
  assert.match((await space.ok(['run'])).stdout, /4 unchanged/)
  assert.match((await space.ok(['plan'])).stdout, /0 to build, 4 unchanged\n/)
})

test('events that are too old when they come in do not stay, and in an append model neither', async () => {
  await using space = await workspace({
    ...files,
    'models/core/log.sql': `-- @kind: append
-- @incremental: received_at
-- @keep: 1 year
SELECT id, received_at FROM raw.e
`,
  })
  await send(space, [400, 399, 0.7, 0])
  await space.ok(['run'])
  assert.is(await countIn(space, 'raw.e'), '{"n":4}')
  assert.is(await countIn(space, 'core.log'), '{"n":2}')
  await space.write('models/raw/e.sql', raw('-- @keep: 401 days of received_at\n'))
  await space.ok(['run'])
  assert.is(await countIn(space, 'raw.e'), '{"n":4}')
  await space.write('models/raw/e.sql', raw('-- @keep: 12 hours of received_at\n'))
  await space.ok(['run', '--allow-removal'])
  assert.is(await countIn(space, 'raw.e'), '{"n":1}')
  assert.is(await countIn(space, 'core.log'), '{"n":2}')
})

test('a run that would remove more than half fails, and removes nothing, until it is told to', async () => {
  await using space = await workspace(files)
  await send(space, [200, 100, 95, 1])
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 90 days\n'))
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stderr, /models\/raw\/e\.sql:2:4/)
  assert.match(stderr, '3 of 4 rows are older than 90 days')
  assert.match(stderr, 'eider run raw.e --allow-removal')
  assert.is(await countIn(space, 'raw.e'), '{"n":4}')
  assert.match((await space.ok(['plan'], { exitCode: 1 })).stdout, /fails +raw\.e/)
  assert.match((await space.ok(['plan', '--allow-removal'])).stdout, /remove +raw\.e +3 rows/)
  await space.ok(['run', '--allow-removal'])
  assert.is(await countIn(space, 'raw.e'), '{"n":1}')
  assert.is((await space.ok(['odata', 'preview', 'mart_n'])).stdout.includes('"n":1'), true)
})

const days = (first: string, of: number) =>
  `SELECT ${first} + i::INTEGER AS d, i AS v FROM range(${of}) t(i)\n`
const OLD = "DATE '2024-01-01'"
const kept = {
  'eider.yml': 'name: k\n',
  'models/core/e.sql': days(OLD, 100),
  'models/core/p.sql': `-- @kind: period
-- @period: day of d
-- @keep: 100 days
SELECT d, sum(v)::INTEGER AS s FROM core.e GROUP BY ALL
`,
}

test('a first build leaves out what is too old, and says how much of it', async () => {
  await using space = await workspace(kept)
  const LEFT_OUT = /warning:? +100 rows older than 100 days, before .* UTC, are left out\n/
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  assert.match(plan, /build +core\.p +first build\n +0 rows\n/)
  assert.match(plan, LEFT_OUT)
  const { stdout: run } = await space.ok(['run'])
  assert.match(run, /built +core\.p +0 rows, .*\(first build\)/)
  assert.match(run, LEFT_OUT)
  assert.is(await countIn(space, 'core.p'), '{"n":0}')
})

test('a full refresh that would leave nothing of a table fails until it is told to', async () => {
  await using space = await workspace({
    ...kept,
    'models/core/e.sql': days('current_date - 9', 10),
  })
  await space.ok(['run'])
  await space.write('models/core/e.sql', days(OLD, 100))
  await space.ok(['run', 'core.e'])
  const refresh = ['run', 'core.p', '--full-refresh']
  const { stderr } = await space.ok(refresh, { exitCode: 1 })
  assert.match(
    stderr,
    /models\/core\/p\.sql:3:4 .*all that the SELECT gives are 100 rows older .* would lose its 10 rows and have none.*eider run core\.p --full-refresh --allow-removal\n/,
  )
  assert.is(await countIn(space, 'core.p'), '{"n":10}')
  const { stdout } = await space.ok([...refresh, '--allow-removal'])
  assert.match(stdout, /100 rows older than 100 days, .* are left out/)
  assert.is(await countIn(space, 'core.p'), '{"n":0}')
})

test('a backfill in pieces keeps the warnings of each of them', async () => {
  await using space = await workspace({
    ...kept,
    'models/core/e.sql': `${days(OLD, 100)}UNION ALL ${days("DATE '2025-03-01'", 7)}UNION ALL ${days('current_date - 9', 10)}`,
  })
  await space.ok(['run'])
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
  const range = ['--start', '2024-01-01', '--end', tomorrow]
  const { stdout } = await space.ok(['run', 'core.p', ...range, '--by', 'year', '--json'])
  const results = stdout.split('\n').filter((line) => line.includes('"model-finished"'))
  const { warnings } = JSON.parse(results[0]!) as { warnings: readonly string[] }
  assert.is(warnings.length, 2)
  assert.match(
    warnings[0]!,
    /^2024-01-01 to 2025-01-01: 100 rows older than 100 days, .* do not stay$/,
  )
  assert.match(
    warnings[1]!,
    /^2025-01-01 to 2026-01-01: 7 rows older than 100 days, .* do not stay$/,
  )
  // The last piece says it as the others do.
  const old = ['--start', '2024-01-01', '--end', '2026-01-01', '--by', 'year', '--json']
  const again = await space.ok(['run', 'core.p', ...old])
  const last = again.stdout.split('\n').find((line) => line.includes('"model-finished"'))!
  assert.equal((JSON.parse(last) as { warnings: readonly string[] }).warnings, warnings)
})

const withCheck = raw('-- @keep: 90 days\n-- @check: id < 100\n')

test('events of which a check fails lose what is too old, and their history says what has come', async () => {
  await using space = await workspace(files)
  await send(space, [200, 100, 3, 2, 1])
  await space.ok(['run'])
  await space.write('models/raw/e.sql', withCheck)
  {
    await using daemon = await startDaemon(space)
    const body = JSON.stringify({ id: 500 })
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`${daemon.url}/collect/raw/e`, { method: 'POST', headers, body })
    assert.is(answer.status, 202)
  }
  await space.ok(['run'], { exitCode: 1 })
  assert.is(await countIn(space, 'raw.e'), '{"n":4}')
  assert.is(await countIn(space, 'mart.n'), '{"n":1}')
  assert.match((await space.ok(['query', 'FROM mart.n', '--json'])).stdout, '{"n":5}')
  const { stdout } = await space.ok(['history', 'raw.e', '--limit', '1', '--json'])
  const [last] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const { status, rows_in, rows_out, rows_after } = last!
  assert.equal(
    { status, rows_in, rows_out, rows_after },
    {
      status: 'failed',
      rows_in: 1,
      rows_out: 2,
      rows_after: 4,
    },
  )
  // The check is not forgotten by a run that has nothing new.
  await space.ok(['run'], { exitCode: 1 })
  await space.write('models/raw/e.sql', raw('-- @keep: 90 days\n'))
  await space.ok(['run'])
  assert.match((await space.ok(['query', 'FROM mart.n', '--json'])).stdout, '{"n":4}')
  assert.is(await countIn(space, 'core.log'), '{"n":6}')
})

test('a check that fails of rows without new ones fails in the next run again, though old rows went', async () => {
  await using space = await workspace({ ...files, 'models/raw/e.sql': raw('-- @check: id < 4\n') })
  await send(space, [3, 2, 1])
  await space.ok(['run'])
  await space.write('models/raw/e.sql', raw('-- @keep: 60 hours\n-- @check: id < 3\n'))
  await space.ok(['run'], { exitCode: 1 })
  assert.is(await countIn(space, 'raw.e'), '{"n":2}')
  await space.ok(['run'], { exitCode: 1 })
  assert.match((await space.ok(['query', 'FROM mart.n', '--json'])).stdout, '{"n":3}')
  await space.write('models/raw/e.sql', raw('-- @keep: 60 hours\n-- @check: id < 4\n'))
  await space.ok(['run'])
  assert.match((await space.ok(['query', 'FROM mart.n', '--json'])).stdout, '{"n":2}')
})

test.run()
