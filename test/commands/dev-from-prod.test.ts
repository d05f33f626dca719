import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': [
    'name: shop',
    'vars: {factor: 1}',
    'targets:',
    '  dev: {vars: {factor: 100}, allow_sample: true}',
    '  prod:',
    '  other:',
    'sources: {crm: {tables: {people: {file: people.csv}, kinds: {file: kinds.csv}}}}',
    '',
  ].join('\n'),
  'people.csv': ['id,kind', ...Array.from({ length: 20_000 }, (_, i) => `${i},${i % 3}`), ''].join(
    '\n',
  ),
  'kinds.csv': 'kind,name\n0,a\n1,b\n2,c\n',
  'seeds/ref/countries.csv': 'id,name\nNO,Norway\nSE,Sweden\n',
  'models/raw/events.sql': '-- @kind: events\nid INTEGER\n',
  'models/staging/orders.sql':
    "-- @kind: view\nSELECT 1 AS id, 'NO' AS country_id, ${factor} AS amount\n",
  'models/mart/orders.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nFROM staging.orders\n',
  'models/mart/sales.sql':
    '-- @expose country_id\nSELECT country_id, sum(amount)::BIGINT AS total FROM mart.orders GROUP BY ALL\n',
  'models/mart/names.sql':
    'SELECT o.id, c.name FROM staging.orders o JOIN ref.countries c ON c.id = o.country_id\n',
  'models/mart/counted.sql': 'SELECT count(*) AS n FROM raw.events\n',
  'models/crm_copy/people.sql':
    '-- @expose id\nSELECT p.id, k.name FROM crm.people p JOIN crm.kinds k USING (kind)\n',
  'models/crm_copy/joined.sql': 'SELECT a.id FROM crm_copy.people a JOIN crm.people b USING (id)\n',
}

async function published(): Promise<Workspace> {
  const space = await workspace(files)
  await space.ok(['run', '--target', 'prod', '--quiet'])
  return space
}

async function value(space: Workspace, select: string, target = 'dev'): Promise<string> {
  const { stdout } = await space.ok(['query', select, '--target', target, '--format', 'csv'])
  return stdout.trim().split('\n').slice(1).join(' ')
}

const borrow = (...selectors: readonly string[]) => [
  'run',
  ...selectors,
  '--target',
  'dev',
  '--from',
  'prod',
]

test('what is not selected is read from the other target, also where this one has it, and nothing of it is touched', async () => {
  await using space = await published()
  const manifest = () => readFile(space.path('.eider/targets/prod/snapshots/manifest.json'), 'utf8')
  const before = await manifest()
  // Its warehouse is not opened, so nobody waits for a run of it.
  const warehouse = space.path('.eider/targets/prod/warehouse.duckdb')
  const whole = await readFile(warehouse)
  await writeFile(warehouse, 'not a database')

  const first = await space.ok(borrow('mart.sales'))
  assert.match(first.stdout, /reading +prod +1 set published /)
  assert.match(first.stdout, /built +mart\.sales/)
  assert.is(await value(space, 'SELECT total FROM mart.sales'), '1')
  assert.is(
    await value(space, "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'mart'"),
    '1',
  )
  const again = await space.ok(borrow('mart.sales'))
  assert.match(again.stdout, /1 unchanged/)

  await space.ok(['run', '--target', 'dev', '--quiet'])
  assert.is(await value(space, 'SELECT total FROM mart.sales'), '100')
  await space.ok(borrow('mart.sales'))
  assert.is(await value(space, 'SELECT total FROM mart.sales'), '1')
  assert.is(await value(space, 'SELECT amount FROM mart.orders'), '100')

  assert.is(await manifest(), before)
  await writeFile(warehouse, whole)
  await space.ok(['run', '--target', 'prod', '--vars', 'factor=7', '--quiet'])
  const newer = await space.ok(borrow('mart.sales'))
  assert.match(newer.stdout, 'upstream mart.orders changed')
  assert.is(await value(space, 'SELECT total FROM mart.sales'), '7')
})

test('what the other target does not publish is built too; events are refused with the way out', async () => {
  await using space = await published()
  const along = await space.ok(borrow('mart.names', '--json'))
  const told = along.stdout.split('\n').find((line) => line.includes('rows-borrowed'))
  const { models, along: built } = JSON.parse(told!) as Record<string, readonly string[]>
  assert.equal(models, [])
  assert.equal([...built!].toSorted(), ['ref.countries', 'staging.orders'])
  assert.is(await value(space, 'SELECT name FROM mart.names'), 'Norway')

  const refused = await space.ok(borrow('mart.counted'), { exitCode: 1 })
  assert.match(
    refused.stdout + refused.stderr,
    'it reads raw.events, whose events prod does not publish',
  )
  assert.match(refused.stderr, '--select mart.counted --select raw.events')
  await space.ok(borrow('--select', 'mart.counted', '--select', 'raw.events'))
  assert.is(await value(space, 'SELECT n FROM mart.counted'), '0')

  // A model that is not selected has the columns that are published.
  await space.write(
    'models/mart/orders.sql',
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT *, 1 AS more FROM staging.orders\n',
  )
  await space.write('models/mart/more.sql', 'SELECT more FROM mart.orders\n')
  const old = await space.ok(borrow('mart.more'), { exitCode: 1 })
  assert.match(old.stderr, 'possibly out of date: mart.orders; select the upstream models too')
})

test('a sample takes the same share of long tables each time, and leaves short ones whole', async () => {
  await using space = await published()
  const counted = async (...args: readonly string[]) => {
    await space.ok(['run', 'crm_copy.people', '--target', 'dev', '--quiet', ...args])
    return value(space, 'SELECT count(*), count(DISTINCT name), sum(id) FROM crm_copy.people')
  }
  const sample = await counted('--sample', '10%')
  const [rows = 0, names] = sample.split(',').map(Number)
  assert.ok(rows > 1800 && rows < 2200, sample)
  assert.is(names, 3)
  assert.is(await counted('--sample', '10', '--full-refresh'), sample)
  assert.is(await counted(), '20000,3,199990000')

  // Chosen by one column, tables that have it keep what joins on it.
  await space.ok([...borrow('crm_copy.joined'), '--sample', '5%', '--sample-by', 'ID', '--quiet'])
  const joined = Number(await value(space, 'SELECT count(*) FROM crm_copy.joined'))
  assert.ok(joined > 800 && joined < 1200, String(joined))
})

test('a run that cannot read from another target, or must not take a sample, says why and changes nothing', async () => {
  await using space = await workspace(files)
  const refused = async (args: readonly string[], exitCode: number, text: string) => {
    const { stderr } = await space.ok(['run', ...args], { exitCode })
    assert.match(stderr, text)
  }
  await refused(
    ['mart.sales', '--target', 'dev', '--from', 'prod'],
    3,
    'prod has published nothing',
  )
  await refused(
    ['mart.sales', '--target', 'dev', '--from', 'dev'],
    2,
    'is the target of the run itself',
  )
  await refused(['mart.sales', '--from', 'default'], 2, 'is the target of the run itself')
  await refused(['mart.sales', '--target', 'dev', '--from', 'prd'], 2, 'has no target "prd"')
  await refused(['--target', 'dev', '--from', 'prod'], 2, 'not selected, and all are')
  await refused(['--sample', '10%'], 2, 'give the run its own target')
  await refused(
    ['--target', 'other', '--sample', '10%'],
    2,
    'under targets.other in eider.yml: allow_sample: true',
  )
  for (const share of ['0%', '101%', 'ten', '-1%'])
    await refused(['--target', 'dev', `--sample=${share}`], 2, 'at most 100%')
  await refused(['--target', 'dev', '--sample-by', 'id'], 2, '--sample')
  assert.not(await readFile(space.path('.eider/targets/dev/warehouse.duckdb')).catch(() => null))

  await space.ok(['run', '--target', 'prod', '--quiet'])
  await appendFile(space.path('.eider/targets/prod/snapshots/manifest.json'), 'x')
  await refused(['mart.sales', '--target', 'dev', '--from', 'prod'], 3, 'cannot be read')
})

test.run()
