// `eider move` between two targets that are files: what it copies, what it refuses, what it leaves as it was.

import { cp, rename, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { mistakes, schemaOf } from '../support/json-schema.ts'
import { contentsOf, type Workspace, workspace } from '../support/workspace.ts'

const config = 'name: shop\ntargets:\n  dev: {}\n  prod: {}\n'

const files = {
  'eider.yml': config,
  'seeds/core/countries.csv': 'code,name\nch,Switzerland\njp,Japan\n',
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null,\namount decimal(18,2)\n',
  'models/core/versions.sql':
    '-- @kind: scd2\n-- @unique_key: code\nSELECT code, name FROM core.countries\n',
  'models/core/names.sql': '-- @kind: view\nSELECT name FROM core.countries\n',
  'models/mart/sales.sql':
    '-- @expose id\nSELECT id, amount, (SELECT count(*) FROM core.names) AS n FROM raw.orders\n',
}

async function collect(space: Workspace, target: string, ids: readonly unknown[]): Promise<void> {
  await using daemon = await space.start([
    'collect',
    'daemon',
    '--target',
    target,
    '--port',
    '0',
    '--admin-port',
    '0',
  ])
  const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: ids.map((id) => `{"id":${JSON.stringify(id)},"amount":"1.50"}\n`).join(''),
  })
  assert.is(answer.status, 202)
}

const all = async (space: Workspace, target: string, table: string): Promise<string> =>
  (await space.ok(['query', `FROM ${table} ORDER BY ALL`, '--json', '--target', target])).stdout

const { $defs: events = {} } = schemaOf('events')

function eventsOf(stdout: string): readonly Record<string, unknown>[] {
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const one of found) assert.equal(mistakes(events[String(one['event'])]!, one), [])
  return found
}

test('tables, history and state go over, and the next run builds views alone', async () => {
  await using space = await workspace(files)
  await collect(space, 'dev', [1, 2, 3])
  await space.ok(['run', '--target', 'dev'])
  await space.write('seeds/core/countries.csv', 'code,name\nch,Suisse\njp,Japan\n')
  await space.ok(['run', '--target', 'dev'])
  const before = await contentsOf(space)

  const { stdout } = await space.ok(['move', '--from', 'dev', '--to', 'prod', '--json'])
  const after = await contentsOf(space)
  assert.equal(
    after.filter((line) => line.includes('/targets/dev/')),
    before.filter((line) => line.includes('/targets/dev/')),
  )
  const said = eventsOf(stdout)
  const last = said.at(-1)!
  assert.equal(
    [last['event'], last['from'], last['to'], last['tables'], last['rows'], last['runs']],
    ['target-moved', 'dev', 'prod', 4, 11, 2],
  )
  assert.equal([last['left'], last['waiting']], [['core.names'], []])

  for (const table of ['raw.orders', 'core.countries', 'core.versions', 'mart.sales'])
    assert.is(await all(space, 'prod', table), await all(space, 'dev', table))
  const runs = 'SELECT run_id, ok, summary FROM _eider.runs'
  const runsOf = async (target: string) =>
    (await space.ok(['query', runs, '--json', '--target', target])).stdout
  assert.is(await runsOf('prod'), await runsOf('dev'))

  const run = await space.ok(['run', '--target', 'prod', '--json'])
  const built = eventsOf(run.stdout).filter(
    ({ event, status }) => event === 'model-finished' && status === 'built',
  )
  assert.equal(
    built.map(({ model }) => model),
    ['core.names'],
  )
  const preview = await space.ok(['odata', 'preview', 'mart_sales', '--target', 'prod'])
  assert.is((JSON.parse(preview.stdout) as { value: unknown[] }).value.length, 3)
})

test('a buffer that comes along gives each event once', async () => {
  await using space = await workspace(files)
  await collect(space, 'dev', [1, 2])
  await space.ok(['run', '--target', 'dev'])
  await space.ok(['move', '--from', 'dev', '--to', 'prod'])
  // The segments that are in the table already come back with the buffer of a backup.
  await collect(space, 'dev', [3])
  const [dev, prod] = [
    space.path('.eider', 'targets', 'dev', 'buffer'),
    space.path('.eider', 'targets', 'prod', 'buffer'),
  ]
  await cp(dev, space.path('copy'), { recursive: true })
  await rename(dev, prod)
  await space.ok(['run', '--target', 'prod'])
  assert.match(await all(space, 'prod', 'raw.orders'), /"id":"3"/)
  await rm(prod, { recursive: true })
  await rename(space.path('copy'), prod)
  await space.ok(['run', '--target', 'prod'])
  const ids = (await all(space, 'prod', 'raw.orders')).match(/"id":"\d"/g)
  assert.equal(ids, ['"id":"1"', '"id":"2"', '"id":"3"'])
})

test('what cannot be moved is refused before anything is copied', async () => {
  await using space = await workspace(files)
  const refused = async (args: readonly string[], exitCode: number, says: RegExp) =>
    assert.match((await space.ok(['move', ...args], { exitCode })).stderr, says)
  await refused([], 2, /eider move --from dev --to prod/)
  await refused(['--from', 'dev', '--to', 'dev'], 2, /dev cannot be moved into itself/)
  await refused(['--from', 'dev', '--to', 'prodd'], 2, /no target "prodd"/)
  await refused(['--from', 'dev', '--to', 'prod'], 3, /dev has no tables yet/)
  await space.ok(['run', '--target', 'dev'])

  await collect(space, 'dev', [1])
  await refused(
    ['--from', 'dev', '--to', 'prod'],
    3,
    /raw\.orders wait in .*eider flush --target dev/s,
  )
  await space.ok(['flush', '--target', 'dev'])

  await space.ok(['run', '--target', 'prod'])
  await refused(['--from', 'dev', '--to', 'prod'], 3, /prod already has tables: /)
  await space.write('eider.yml', `${config}  other: {}\n`)
  await space.ok(['move', '--from', 'dev', '--to', 'other'])
  await refused(['--from', 'dev', '--to', 'other'], 3, /other already has tables/)
  // The default target is one too.
  await space.ok(['move', '--from', 'other'])
  assert.match((await space.ok(['query', 'FROM core.countries'])).stdout, /Japan/)
})

test('what was built of ranges is known there', async () => {
  await using space = await workspace({
    'eider.yml': config,
    'models/core/days.sql':
      "-- @kind: append\n-- @incremental: day\nSELECT day FROM (VALUES (DATE '2026-01-01'), (DATE '2026-01-02')) t(day)\n",
  })
  await space.ok(['run', '--target', 'dev'])
  const range = ['--start', '2026-01-01', '--end', '2026-01-02']
  await space.ok(['run', '--target', 'dev', ...range])
  await space.ok(['move', '--from', 'dev', '--to', 'prod'])
  const slices = await all(space, 'prod', '_eider.slices')
  assert.match(slices, /"range_start":"2026-01-01","range_end":"2026-01-02"/)
  assert.is(slices, await all(space, 'dev', '_eider.slices'))
})

test.run()
