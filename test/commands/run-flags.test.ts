// Flags of a run that replace or empty what a table holds, seen from outside.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const source = (rows: string) =>
  `select * from (values ${rows}) t(id, day, v)\n`.replaceAll("d'", "date '2026-01-")

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/s.sql': source("(1, d'01', 'a'), (2, d'02', 'a'), (3, d'03', 'a')"),
  'models/mart/log.sql': '-- @kind: append\n-- @incremental: day\nselect * from raw.s\n',
  'models/mart/now.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\nselect id, v from raw.s\n',
}

async function rowsOf(space: Workspace, query: string): Promise<readonly string[]> {
  const { stdout } = await space.ok(['query', query, '--format', 'csv'])
  return stdout.trim().split(/\r?\n/).slice(1)
}

test('--start and --end replace the rows of a range, its end left out, and nothing else', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write(
    'models/raw/s.sql',
    source("(1, d'01', 'b'), (2, d'02', 'b'), (9, d'02', 'b'), (3, d'03', 'b')"),
  )
  const log = 'select id, v from mart.log order by id'
  const range = ['--start', '2026-01-02', '--end', '2026-01-03']
  const planned = await space.ok(['plan', '+mart.log', ...range])
  assert.match(
    planned.stdout,
    /mart\.log +backfill\n +\d of \d rows were made by an older rule of raw\.s: [^\n]*\n +replaces 1 row whose day is at least 2026-01-02 and below 2026-01-03\n/,
  )
  const { stdout } = await space.ok(['run', '+mart.log', ...range])
  assert.match(stdout, /built +mart\.log +\d+ rows? in, \d+ out.*\(backfill\)/)
  assert.equal(await rowsOf(space, log), ['1,a', '2,b', '3,a', '9,b'])
  const half = await space.ok(['run', '--start', '2026-01-02'], { exitCode: 2 })
  assert.match(half.stderr, /--end/)
  const wrong = await space.ok(['run', '--start', 'x', '--end', 'y'], { exitCode: 2 })
  assert.match(wrong.stderr, /--start x is not a valid value for "day" \(DATE\)/)
  assert.equal(await rowsOf(space, log), ['1,a', '2,b', '3,a', '9,b'])
})

test('an empty source empties its mirror only with --allow-empty', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write('models/raw/s.sql', `${files['models/raw/s.sql'].trim()} where id > 5\n`)
  const refused = await space.ok(['run'], { exitCode: 1 })
  const says =
    /models\/mart\/now\.sql:3:4: the SELECT gives no rows.*all 3 of the table.*--allow-empty/
  assert.match(refused.stdout, says)
  assert.equal(await rowsOf(space, 'select id from mart.now order by id'), ['1', '2', '3'])
  assert.match((await space.ok(['plan', '--diff'], { exitCode: 1 })).stdout, says)
  for (const command of ['plan --diff', 'run'])
    assert.match(
      (await space.ok([...command.split(' '), '--full-refresh', '--drop-history'], { exitCode: 1 }))
        .stdout,
      says,
    )
  assert.equal(await rowsOf(space, 'select count(*) from mart.now'), ['3'])
  const planned = await space.ok(['plan', '--diff', '--allow-empty'])
  assert.match(
    planned.stdout,
    /mart\.now +upstream[^\n]*\n +3 -> 0 rows: 0 inserted, 0 changed, 3 removed/,
  )
  await space.ok(['run', '--allow-empty'])
  assert.equal(await rowsOf(space, 'select count(*) from mart.now'), ['0'])
})

test('interrupted again and again, a run leaves its tables as they were', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write(
    'models/raw/s.sql',
    "select i as id, date '2026-01-01' as day, 'c' as v from range(20000) t(i), range(200000) u(j) where i + j < 0\n",
  )
  const { command, args, env } = eiderProcess(['run', '--json'])
  const child = spawn(command, args, { cwd: space.dir, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  let timer: NodeJS.Timeout | undefined
  for await (const line of createInterface({ input: child.stdout }))
    if (line.includes('"model-started"')) timer ??= setInterval(() => child.kill('SIGINT'), 20)
  const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null]
  clearInterval(timer)
  // The last interrupt may meet a process that has done all and listens to none any more; a shell shows 130 for both.
  assert.ok(code === 130 || signal === 'SIGINT', `${code} ${signal}`)
  assert.equal(await rowsOf(space, 'select id, v from mart.now order by id'), ['1,a', '2,a', '3,a'])
  await space.write('models/raw/s.sql', files['models/raw/s.sql'])
  await space.ok(['run'])
})

test('--start and --end name a range, in values of the watermark as they are', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  for (const [start, end, problem] of [
    ['2026-01-02', '2026-01-01', '--end 2026-01-01 is not after --start 2026-01-02'],
    ['2026-01-02', '2026-01-02', '--end 2026-01-02 is not after --start 2026-01-02'],
    [
      '2026-01-01 12:00',
      '2026-01-03',
      '--start 2026-01-01 12:00 is not a valid value for "day" (DATE)',
    ],
    [
      '2026-01-01',
      '2026-01-02 00:00:01',
      '--end 2026-01-02 00:00:01 is not a valid value for "day"',
    ],
    ['2026-01-01T12', '2026-01-03', '--start 2026-01-01T12 is not a valid value for "day"'],
    ['2026-01-01', '2026-01-02 noon', '--end 2026-01-02 noon is not a valid value for "day"'],
  ] as const)
    for (const command of ['plan', 'run']) {
      const { stderr } = await space.ok([command, '--start', start, '--end', end], { exitCode: 2 })
      assert.ok(stderr.includes(problem), stderr)
    }
  await space.ok(['run', '--start', '2026-01-01 00:00:00', '--end', '2026-01-02'])
  await space.ok(['run', '--start', '2026-01-01', '--end', '5000000-01-01'])
  const numbered = '-- @kind: append\n-- @incremental: n\nselect id::INTEGER as n from raw.s\n'
  await space.write('models/mart/n.sql', numbered)
  const rounded = await space.ok(['run', 'mart.n', '--start', '1.5', '--end', '3'], { exitCode: 2 })
  assert.match(rounded.stderr, /--start 1\.5 is not a valid value for "n" \(INTEGER\)/)
})

test('a mirror that is rebuilt for its columns is not emptied by an empty SELECT either', async () => {
  const mirror = (rest: string) =>
    `-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\n-- @on_schema_change: rebuild\n${rest}\n`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/a/m.sql': mirror('select 1 as id, 2 as v'),
  })
  await space.ok(['run'])
  await space.write('models/a/m.sql', mirror("select 1 as id, 'x' as v where false"))
  for (const command of [['plan', '--diff'], ['run']]) {
    const { stdout } = await space.ok(command, { exitCode: 1 })
    assert.match(stdout, /would delete all 1 of the table; .* --allow-empty/)
  }
  assert.equal(await rowsOf(space, 'from a.m'), ['1,2'])
  await space.ok(['run', '--allow-empty'])
  assert.equal(await rowsOf(space, 'from a.m'), [])
})

test('--quiet leaves of the summary what somebody may have to look at, and its last line', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\nvars:\n  day: 1\n',
    'models/a/fine.sql': "select '${day}' as id\n",
    'models/a/odd.sql': '-- @warn: v > 1\nselect 1 as v\n',
  })
  const first = await space.ok(['run', '--quiet'])
  assert.match(
    first.stdout,
    /^\S+Z built +a\.odd +1 row.*\n\S+Z warning +.*v > 1.*\n\S+Z 2 built, 1 warning, published \w+ in .*\n$/,
  )
  assert.match(first.stderr, /warning .*day/)
  await space.write('models/a/odd.sql', "select error('no') as v\n")
  await space.write('models/a/next.sql', 'select v from a.odd\n')
  const failed = await space.ok(['run', '--quiet'], { exitCode: 1 })
  assert.match(
    failed.stdout,
    /^\S+Z failed +a\.odd .*no\n\S+Z skipped +a\.next .*\n\S+Z 1 failed, 1 skipped, 1 unchanged in .* {8}eider run --retry\n$/,
  )
  await space.write('models/a/odd.sql', 'select 2 as v\n')
  assert.match((await space.ok(['run', '--quiet'])).stdout, /^\S+Z 2 built, 1 unchanged in .*\n$/)
})

test.run()
