// A run that takes long holds the warehouse; whoever looks meanwhile is answered, and never makes a run fail.

import { readdir, rm, stat } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { workspace, type Workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/a.sql': 'select 1 as id\n',
  'models/mart/c.sql': '-- @description: All\n-- @expose id\nselect id from raw.a\n',
}

/** Takes minutes; what asks it is ended before. */
const slow =
  'select sum(hash(a.range + b.range))::double as n from range(200000) a, range(1000000) b'

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

async function startSlowRun(space: Workspace) {
  await space.write('models/core/slow.sql', `${slow}\n`)
  return await space.start(['run'], { ready: 'model-started' })
}

test('ls, show, history and a plan that reads no rows answer while a run works, from what it began with', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.ok(['run'])
  await using run = await startSlowRun(space)
  const note = /^a run is in progress \(.*\); this is the state after the last one\n$/
  const history = await space.ok(['history', '--json'])
  assert.match(history.stderr, note)
  assert.equal(
    lines(history.stdout).map(({ built, unchanged, runs }) => built ?? unchanged ?? runs),
    [0, 2, 2],
  )
  const ofModel = await space.ok(['history', 'mart.c'])
  assert.match(ofModel.stdout, /unchanged[^]*built +rebuild +1 +1 +\w+ [^\n]*first build/)
  const ls = await space.ok(['ls'])
  assert.match(ls.stderr, note)
  assert.match(ls.stdout, /mart\.c +table +mart_c +nothing changed/)
  assert.match(ls.stdout, /core\.slow +table +first build/)
  const plan = await space.ok(['plan'])
  assert.match(plan.stderr, note)
  assert.match(plan.stdout, /build +core\.slow +first build[^]*unchanged +mart\.c +nothing changed/)
  for (const flag of ['--diff', '--full-refresh']) {
    const { stderr } = await space.ok(['plan', flag], { exitCode: 3 })
    assert.match(stderr, /holds the warehouse[^]*hint: try again when it has ended; without --diff/)
  }
  const show = await space.ok(['show', 'mart.c'])
  assert.match(show.stdout, /entity set +mart_c \(id\)/)
  assert.is(show.stderr, '')
  const query = await space.ok(['query', 'FROM mart.c', '--format', 'csv'])
  assert.is(query.stdout, 'id\r\n1\r\n')
  assert.match(
    query.stderr,
    /^the warehouse is in use; reading snapshot \w+, published 20[\d-]+T[\d:.]+Z, which holds exposed models only\n$/,
  )
  assert.match((await space.ok(['query', 'FROM raw.a'], { exitCode: 1 })).stderr, /raw\.a|"a"/)
  await run.stop('SIGINT')
  assert.is((await space.ok(['history'])).stderr, '')
})

test('the first run of a project can be looked at too', async () => {
  await using space = await workspace(files)
  await using run = await startSlowRun(space)
  assert.match((await space.ok(['history'])).stdout, /no run is recorded/)
  assert.match((await space.ok(['ls'])).stdout, /mart\.c +table +mart_c +first build/)
  await run.stop('SIGINT')
})

test('a run with nothing to do adds one small file for readers', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.ok(['run'])
  const state = space.path('.eider/last/state.json')
  const before = await stat(state)
  const runs = await readdir(space.path('.eider/last/runs'))
  await space.ok(['run'])
  assert.is((await stat(state)).ino, before.ino)
  assert.is((await stat(state)).mtimeMs, before.mtimeMs)
  const after = await readdir(space.path('.eider/last/runs'))
  assert.is(after.length, runs.length + 1)
  await rm(space.path('.eider/last'), { recursive: true })
  await space.ok(['run'])
  assert.is((await readdir(space.path('.eider/last/runs'))).length, 4)
})

test('a query that a run waits for gives way', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  let id = 1
  // Where the run is the first of the two, the query reads the snapshot at once, and they are started again.
  const attempt = async () => {
    const query = space.eider(['query', `select count(*) as n from (${slow}), raw.a`])
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await space.write('models/raw/a.sql', `select ${++id} as id\n`)
    assert.match((await space.ok(['run'])).stdout, /built +mart\.c/)
    return await query
  }
  const isLate = (stderr: string) =>
    stderr.startsWith('a run was waiting for this query; reading snapshot')
  const ended = await until(attempt, ({ stderr }) => isLate(stderr), 180_000)
  assert.is(ended.exitCode, 1)
  assert.match(ended.stderr, /raw\.a|"a"/)
})

test.run()
