import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { contentsOf, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: chain\n',
  'models/raw/a.sql': 'select 1 as x\n',
  'models/mid/b.sql': '-- @kind: view\nselect x + 1 as x from raw.a\n',
  'models/mart/c.sql':
    '-- @kind: merge\n-- @unique_key: x\n-- @expose x\nselect x, 2 as y from mid.b\n',
  'models/mart/z.sql':
    "-- @expose id\nselect 1 as id, '{}'::json as j, 'a'::enum('a') as e, {'b': [1.5]} as s, now() as t\n",
}

test('before the first run a plan builds everything and leaves no file behind', async () => {
  await using space = await workspace(files)
  const before = await contentsOf(space)
  const { stdout } = await space.ok(['plan'])
  assert.match(stdout, /build +raw\.a +first build/)
  assert.match(stdout, /contract +mart_c +entity set added/)
  assert.match(stdout, /plan: 4 to build, 0 unchanged; contract: 2 changed, 0 breaking/)
  assert.equal(await contentsOf(space), before)
})

test('a plan says what the next run then does, and changes nothing', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write('models/raw/a.sql', 'select 5 as x\n')
  const before = await contentsOf(space)
  const planned = (await space.ok(['pipeline', 'plan', '--json'])).stdout.trim().split('\n')
  assert.equal(await contentsOf(space), before)
  const steps = planned
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === 'step')
  const ran = (await space.ok(['run', '--json'])).stdout.trim().split('\n')
  const results = ran
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === 'model-finished')
  const reasons = (rows: readonly Record<string, unknown>[]) =>
    rows.map(({ model, because }) => `${String(model)}: ${String(because)}`).toSorted()
  assert.equal(reasons(steps), reasons(results))
  assert.ok(reasons(steps).includes('mart.c: upstream mid.b changed'))
})

test('columns that change and a broken contract are shown; the exit code is 1 unless it is allowed', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write('models/mart/c.sql', '-- @expose x\nselect x::bigint as x, 3 as w from mid.b\n')
  const refused = await space.ok(['plan', 'mart.c'], { exitCode: 1 })
  assert.match(refused.stdout, /fails +mart\.c +models\/mart\/c\.sql:2:1: .*--full-refresh/)
  const planned = ['plan', 'mart.c', '--full-refresh']
  const { stdout, stderr } = await space.ok(planned, { exitCode: 1 })
  assert.match(stdout, /mart\.c +kind changed from merge to table/)
  assert.match(stdout, /--full-refresh drops 1 row of the table/)
  assert.match(stdout, /~ x INTEGER -> BIGINT[^]*\+ w INTEGER[^]*- y INTEGER/)
  assert.match(stdout, /breaking +mart_c +property x retyped from INTEGER to BIGINT/)
  assert.match(stdout, /breaking +mart_c +property y removed/)
  assert.match(stdout, /contract +mart_c +property w added/)
  assert.match(stderr, /--allow-breaking/)
  await space.ok([...planned, '--allow-breaking'])
  assert.match((await space.ok(['plan', 'raw.a'])).stdout, /plan: 0 to build, 1 unchanged\n/)
})

test('a plan prints the warnings of the project, as a run does', async () => {
  await using space = await workspace({ ...files, 'seeds/ref/empty.csv': 'id,qty\n' })
  for (const command of ['plan', 'run'])
    assert.match((await space.ok([command])).stderr, /warning untyped-empty-seed/)
})

test('an unbuilt input outside the selection shows in the plan too', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['plan', 'mart.c'], { exitCode: 1 })
  assert.match(stdout, /fails +mart\.c +models\/mart\/c\.sql:1:4: it reads mid\.b.*\+mart\.c/)
})

test('what fails is counted as failing, and breaks no contract, since what is published of it stays', async () => {
  await using space = await workspace({
    'eider.yml': 'name: few\n',
    'models/a/typo.sql': '-- @expose id\nselect 1 as id, 2 as v\n',
    'models/a/reader.sql': '-- @expose id\nselect id, v from a.typo\n',
    'models/a/refused.sql':
      '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nselect 1 as id, 2 as v\n',
    'models/a/skipped.sql': '-- @expose id\nselect id, v from a.refused\n',
    'models/a/checked.sql': '-- @expose id\nselect 1 as id, 2 as v\n',
    'models/a/after.sql': '-- @expose id\nselect id, v from a.checked\n',
  })
  await space.ok(['run'])
  await space.write('models/a/typo.sql', '-- @expose id\nselect 1 as id, 2 as v, no\n')
  await space.write('models/a/refused.sql', '-- @expose id\nselect 1 as id\n')
  await space.write('models/a/skipped.sql', '-- @expose id\nselect id from a.refused\n')
  await space.write('models/a/checked.sql', '-- @expose id\n-- @check: id > 1\nselect 1 as id\n')
  await space.write('models/a/after.sql', '-- @expose id\nselect id from a.checked\n')
  const full = await space.ok(['plan', '--diff'], { exitCode: 1 })
  assert.match(full.stdout, /^plan: 0 to build, 0 unchanged, 3 failing, 3 skipped$/m)
  assert.not.match(full.stdout, 'breaking')
  const plain = await space.ok(['plan', '--json'], { exitCode: 1 })
  const counts = '"build":2,"unchanged":0,"skip":2,"failing":2,"breaking":2'
  assert.match(plain.stdout, `{"event":"plan-finished","ok":false,${counts}}`)
  const published = async () => await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  const before = await published()
  const ran = await space.ok(['run'], { exitCode: 1 })
  assert.match(ran.stdout, /3 failed, 3 skipped in/)
  assert.is(await published(), before)
})

test('events that wait are a reason, and a service that runs does not mind', async () => {
  await using space = await workspace({
    ...files,
    'models/raw/e.sql': '-- @kind: events\nid bigint\n',
  })
  await space.ok(['run'])
  await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
  await using service = await space.start(['serve', '--port', '0'])
  assert.match((await space.ok(['plan', 'raw.e'])).stdout, /unchanged +raw\.e +no new events/)
  const body = JSON.stringify({ id: 1 })
  const answer = await fetch(`${daemon.url}/collect/raw/e`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  assert.is(answer.status, 202)
  assert.match((await space.ok(['plan', 'raw.e'])).stdout, /build +raw\.e +new events/)
  assert.is(await service.stop(), 0)
})

test.run()
