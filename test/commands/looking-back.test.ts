import { spawnSync } from 'node:child_process'
import { chmod, readFile, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { eiderProcess, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/a.sql': '-- @tags: nightly\nselect 1 as id, \'x, "y"\' as v, null as n\n',
  'models/mart/c.sql': '-- @description: All\n-- @expose id\nselect id, v from raw.a\n',
}

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('history lists runs, and what they did to a model', async () => {
  await using space = await workspace(files)
  assert.match((await space.ok(['history'])).stdout, /no run is recorded/)
  await space.ok(['run'])
  await space.write('models/raw/a.sql', "select error('no') as id, 'v' as v\n")
  await space.ok(['run'], { exitCode: 1 })
  const runs = jsonLines((await space.ok(['history', '--json'])).stdout)
  assert.equal(
    runs.slice(0, -1).map(({ ok, built, failed, skipped }) => [ok, built, failed, skipped]),
    [
      [false, 0, 1, 1],
      [true, 2, 0, 0],
    ],
  )
  const model = jsonLines((await space.ok(['history', 'MART.c', '--json'])).stdout)
  assert.equal(
    model.slice(0, -1).map(({ status, rows, because }) => [status, rows, because]),
    [
      ['skipped', null, 'raw.a failed'],
      ['built', 1, 'first build'],
    ],
  )
  assert.match((await space.ok(['history', 'mart_c'])).stdout, /raw\.a failed/)
  const unknown = await space.ok(['history', 'mart.cc'], { exitCode: 2 })
  assert.match(unknown.stderr, /no model or entity set "mart\.cc"\nhint: did you mean "mart\.c"\?/)
  await rm(space.path('models/mart/c.sql'))
  assert.match((await space.ok(['history', 'mart.c'])).stdout, /first build/)
})

test('a result is found behind many runs that were about other models', async () => {
  await using space = await workspace(files)
  await space.ok(['run', 'raw.a'])
  await space.ok(['run', 'mart.c'])
  const runs = 2 * limits.runsPerModelResult
  {
    await using database = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
    await using connection = await database.connect()
    await connection.run(sql`
      INSERT INTO _eider.runs SELECT run_id || '-' || i, started_at + to_seconds(i), finished_at + to_seconds(i), ok, summary
      FROM _eider.runs, range(1, ${sql.value(runs)}) AS r(i)
      WHERE started_at = (SELECT max(started_at) FROM _eider.runs)`)
  }
  const found = async (model: string) =>
    jsonLines((await space.ok(['history', model, '--limit', '1', '--json'])).stdout).slice(0, -1)
  const [first, latest] = [await found('raw.a'), await found('mart.c')]
  assert.equal([first.length, first[0]?.['because']], [1, 'first build'])
  assert.match(String(latest[0]?.['run_id']), new RegExp(`-${runs - 1}$`))
})

test('doctor says what is amiss and what to do', async () => {
  await using space = await workspace(files)
  const ports = { env: { COLLECT_PORT: '0', ODATA_PORT: '0' } }
  const fresh = await space.ok(['doctor'], ports)
  assert.match(fresh.stdout, /warn +warehouse .*not exist yet\n +next: eider run/)
  await space.ok(['run'])
  const well = jsonLines((await space.ok(['doctor', '--json'], ports)).stdout)
  assert.equal(well.pop(), { event: 'doctor-finished', ok: true })
  assert.equal([...new Set(well.map(({ status }) => status))], ['ok'])

  await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
  const port = new URL(daemon.url).port
  const busy = await space.ok(['doctor'], { env: { COLLECT_PORT: port, ODATA_PORT: '0' } })
  assert.match(busy.stdout, new RegExp(`ok +buffer +held by process ${daemon.pid}`))
  assert.match(busy.stdout, new RegExp(`ok +collect +eider answers on port ${port}`))

  await space.write('.env', 'ODATA_TOKEN=secret\n')
  await chmod(space.path('.env'), 0o644)
  const exposed = await space.ok(['doctor'], ports)
  assert.match(exposed.stdout, /warn +secrets +.*\.env\n +next: chmod o-r \.env/)
  await chmod(space.path('.env'), 0o640)
  await space.write('prod.env', 'LAKE_S3_SECRET=secret\n')
  await chmod(space.path('prod.env'), 0o604)
  const others = await space.ok(['doctor'], ports)
  assert.match(others.stdout, /warn +secrets +.*prod\.env\n +next: chmod o-r prod\.env/)
  await rm(space.path('prod.env'))

  await space.write('.eider/warehouse.duckdb', 'this is no database')
  await rm(space.path('.eider', 'warehouse.duckdb.wal'), { force: true })
  const broken = await space.ok(['doctor'], { ...ports, exitCode: 1 })
  assert.match(broken.stdout, /fail +warehouse .*damaged[^]*next: restore it from a backup/)
})

// A superuser may write everywhere, so another user is asked, who must be able to start this Node.
const isRoot = process.getuid?.() === 0
const user = isRoot ? { uid: 65_534, gid: 65_534 } : {}
const canBeUser = spawnSync(process.execPath, ['--version'], user).status === 0
const asUser = (name: string, run: () => Promise<void>) =>
  canBeUser ? test(name, run) : test.skip(name, run)

asUser('doctor says what the user who runs eider cannot write or read', async () => {
  await using space = await workspace(files)
  await space.write('eider.yml', 'name: shop\ndatabase: shop.duckdb\n')
  await space.ok(['run'])
  const [mine, shut] = isRoot ? [0o755, 0o755] : [0o755, 0o555]
  const as = (...args: readonly string[]) => {
    const { command, args: all, env } = eiderProcess(args, { COLLECT_PORT: '0', ODATA_PORT: '0' })
    return spawnSync(command, all, { cwd: space.dir, env, encoding: 'utf8', ...user })
  }
  for (const path of ['.', '.eider', 'target']) await chmod(space.path(path), shut)
  const doctor = as('doctor')
  assert.is(doctor.status, 1, doctor.stderr)
  assert.match(
    doctor.stdout,
    /fail +files +cannot be written: \.eider,.* \., target.*\n +next: .*chown/,
  )
  await space.write('eider.yml', files['eider.yml'])
  await chmod(space.path('.eider'), 0)
  await chmod(space.path('models'), 0)
  const blind = as('doctor')
  assert.is(blind.status, 1, blind.stderr)
  assert.match(blind.stdout, /fail +project +1 mistake: models .*cannot be read by user/)
  assert.match(
    blind.stdout,
    /fail +warehouse +the warehouse cannot be read: .*cannot be read by user/,
  )
  for (const check of ['run lock', 'events'])
    assert.match(blind.stdout, new RegExp(`fail +${check} +\\.eider .*cannot be read by user`))
  await chmod(space.path('models'), mine)
  const plan = as('plan', '--json')
  assert.is(plan.status, 3, plan.stderr)
  assert.match(
    plan.stdout,
    /"code":"warehouse-unusable","message":"the warehouse cannot be read: \.eider .*cannot be read by user/,
  )
  for (const path of ['.', '.eider', 'target']) await chmod(space.path(path), mine)
})

test('who only reads is told to try again while the warehouse is held, and a run of --wait', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await using _held = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
  const plan = await space.ok(['plan'], { exitCode: 3 })
  assert.match(plan.stderr, /hint: try again when it has ended; readers use .*current\.sql\n$/)
  await space.write('models/raw/more.sql', 'select 1 as id\n') // with nothing to do it would not need the warehouse
  const run = await space.ok(['run', '--wait', '0'], { exitCode: 3 })
  assert.match(run.stderr, /hint: .*--wait SECONDS; readers use .*current\.sql\n$/)
})

test('a file where .eider belongs is no project that was never built', async () => {
  await using space = await workspace({ ...files, '.eider': '' })
  for (const command of [
    ['ls'],
    ['history'],
    ['plan'],
    ['query', 'select 1'],
    ['show', 'mart.c'],
  ]) {
    const { stderr } = await space.ok(command, { exitCode: 3 })
    assert.match(
      stderr,
      /^error: the warehouse cannot be read: \.eider is a file and must be a directory\nhint: move it away/,
    )
  }
  await rm(space.path('.eider'))
  assert.match((await space.ok(['ls'])).stdout, /first build/)
  const retry = await space.ok(['run', '--retry'])
  assert.match(
    retry.stderr,
    /^nothing to retry: the last run that ended left no model failed or sk/,
  )
})

test('a retry of models that did not fail leaves those that did to the next one', async () => {
  await using space = await workspace({ ...files, 'models/mart/bad.sql': "SELECT error('x') AS a" })
  await space.ok(['run'], { exitCode: 1 })
  const { stderr } = await space.ok(['run', 'mart.c', '--retry'])
  assert.is(
    stderr,
    'nothing to retry: the last run that ended left none of the selected models failed or skipped\n',
  )
  assert.match((await space.ok(['run', '--retry'], { exitCode: 1 })).stdout, / failed +mart\.bad/)
})

test('each line of csv ends alike', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['query', "select 1 as a, 'x\ny' as b", '--format', 'csv'])
  assert.is(stdout, 'a,b\r\n1,"x\ny"\r\n')
})

test('a .env that cannot be read is told as such', async () => {
  await using space = await workspace({ ...files, '.env/file': '' })
  const { stderr } = await space.ok(['ls'], { exitCode: 1 })
  assert.match(stderr, /^\.env:1:1 error unreadable-file: \.env is a directory and must be a file/)
})

test('lineage from the field of an event to the property that clients see', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/raw/o.sql': '-- @kind: events\nid integer, day date, amount integer\n',
    'seeds/ref/rate.csv': 'year,rate\n2026,2\n',
    'models/core/o.sql':
      '-- @kind: view\nselect id, amount * rate as euros, year(day) as year from raw.o left join ref.rate r on r.year = year(day)\n',
    'models/mart/y.sql':
      '-- @expose year\nselect year, sum(euros) as total, sum(euros) + max(euros) as twice, count(*) as n from core.o group by year\n',
    'models/mart/p.sql': 'pivot core.o on year in (2026) using sum(euros)\n',
  })
  const { stdout } = await space.ok(['show', 'mart.y', '--lineage'])
  const expected = [
    'mart.y, served as mart_y',
    'year',
    '  core.o.year',
    '    raw.o.day  (field of the events)',
    'total',
    '  core.o.euros',
    '    raw.o.amount  (field of the events)',
    '    ref.rate.rate  (column of the seed)',
    'twice',
    '  core.o.euros',
    '    raw.o.amount  (field of the events)',
    '    ref.rate.rate  (column of the seed)',
    'n  (not computed from a column)',
  ]
  assert.equal(stdout.trimEnd().split('\n'), expected)
  const [shown] = jsonLines((await space.ok(['show', 'mart.y', '--lineage', '--json'])).stdout)
  assert.equal((shown?.['columns'] as readonly object[] | undefined)?.[1], {
    column: 'total',
    from: [{ model: 'core.o', column: 'euros' }],
    sources: [
      { model: 'raw.o', column: 'amount' },
      { model: 'ref.rate', column: 'rate' },
    ],
  })
  assert.match((await space.ok(['show', 'mart.p', '--lineage'])).stdout, /2026 {2}\(not known\)/)
  await space.ok(['run'])
  const manifest = JSON.parse(await readFile(space.path('target/manifest.json'), 'utf8')) as {
    readonly models: readonly {
      readonly name: string
      readonly columns: readonly { readonly name: string; readonly lineage: unknown }[]
    }[]
  }
  const year = manifest.models.find(({ name }) => name === 'mart.y')
  assert.equal(
    year?.columns.map(({ name, lineage }) => [name, lineage]),
    [
      ['year', [{ model: 'core.o', column: 'year' }]],
      ['total', [{ model: 'core.o', column: 'euros' }]],
      ['twice', [{ model: 'core.o', column: 'euros' }]],
      ['n', []],
    ],
  )
  const pivot = manifest.models.find(({ name }) => name === 'mart.p')
  assert.ok(pivot?.columns.every(({ lineage }) => lineage === null))
})

test.run()
