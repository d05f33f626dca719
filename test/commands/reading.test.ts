import { chmod, readdir, readFile, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/a.sql': '-- @tags: nightly\nselect 1 as id, \'x, "y"\' as v, null as n\n',
  'models/mart/c.sql': '-- @description: All\n-- @expose id\nselect id, v from raw.a\n',
}

const isRoot = process.getuid?.() === 0
/** A user without rights, as whom root can run what it tests. */
const NOBODY = 65_534

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('ls shows each model with its state', async () => {
  await using space = await workspace(files)
  assert.match((await space.ok(['ls'])).stdout, /mart\.c +table +mart_c +first build/)
  await space.ok(['run'])
  assert.equal(jsonLines((await space.ok(['pipeline', 'ls', 'tag:nightly', '--json'])).stdout), [
    {
      event: 'model',
      model: 'raw.a',
      kind: 'table',
      tags: ['nightly'],
      entity_set: null,
      state: 'nothing changed',
      way: 'rebuilt: nothing that a run builds is read',
    },
    { event: 'ls-finished', models: 1 },
  ])
  assert.match(
    (await space.ok(['ls'])).stdout,
    /mart\.c +table +mart_c +nothing changed +updated\n/,
  )
  await space.ok(['ls', 'mart.d'], { exitCode: 2 })
})

test('ls keeps what it compiled for the next command, and nothing else', async () => {
  await using space = await workspace(files)
  await space.ok(['ls'])
  assert.equal(await readdir(space.path('.eider')), ['compiled.json'])
  const saved = await readFile(space.path('.eider/compiled.json'), 'utf8')
  await space.ok(['run'])
  assert.is(await readFile(space.path('.eider/compiled.json'), 'utf8'), saved)
})

test('show lists hierarchies as they are written', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/hr/people.sql':
      '-- @expose id\n-- @hierarchy org: id parent boss\n-- @hierarchy geo: land > city\nselect 1 as id, null::int as boss, 1 as land, 2 as city\n',
  })
  const { stdout } = await space.ok(['show', 'hr.people'])
  assert.match(stdout, /\nhierarchy +org: id parent boss\nhierarchy +geo: land > city\n/)
})

test('ls lists the models of a directory that it may not write to', async () => {
  await using space = await workspace(files)
  await chmod(space.dir, 0o555)
  const { stdout } = await space.ok(['ls'], isRoot ? { uid: NOBODY, gid: NOBODY } : {})
  assert.match(stdout, /mart\.c +table/)
  await chmod(space.dir, 0o755)
  assert.not.ok((await readdir(space.dir)).includes('.eider'))
})

test('show describes a model, and suggests one when there is none', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['show', 'MART.C'])
  assert.match(stdout, /mart\.c +table +models\/mart\/c\.sql/)
  assert.match(stdout, /entity set +mart_c \(id\)[^]*reads +raw\.a[^]*id +INTEGER/)
  const [raw] = jsonLines((await space.ok(['show', 'raw.a', '--json'])).stdout)
  assert.equal(raw?.['downstream'], ['mart.c'])
  assert.match((await space.ok(['show', 'mart.cc'], { exitCode: 2 })).stderr, /mart\.c"/)
})

test('query prints rows in each format and never writes', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const query = async (format: string, text = 'select * from raw.a -- all') =>
    (await space.ok(['query', text, '--format', format])).stdout
  assert.is(await query('csv'), 'id,v,n\r\n1,"x, ""y""",\r\n')
  assert.equal(JSON.parse(await query('json')), [{ id: 1, v: 'x, "y"', n: null }])
  assert.equal(jsonLines(await query('ndjson')), [{ id: 1, v: 'x, "y"', n: null }])
  assert.is(await query('table'), 'id  v       n\n--  ------  ----\n 1  x, "y"  NULL\n')
  const limited = await space.ok(['query', 'from range(5)', '--limit', '2', '--json'])
  assert.equal(jsonLines(limited.stdout), [{ range: '0' }, { range: '1' }])
  assert.match(limited.stderr, /first 2 rows/)
  const many = await space.ok(['query', 'from range(150_000)', '--limit', '150000'])
  assert.is(many.stdout.split('\n').length, 150_003)
  for (const text of ['drop table raw.a', 'select 1; select 2', "copy raw.a to 'x.csv'"])
    await space.ok(['query', text], { exitCode: 2 })
  const wrong = await space.ok(['query', 'select idd from raw.a'], { exitCode: 1 })
  assert.match(wrong.stderr, /query:1:8 [^]*did you mean "id"/)
})

test('a query of a project that never ran says what to do', async () => {
  await using space = await workspace(files)
  const { stderr } = await space.ok(['query', 'FROM mart.c'], { exitCode: 1 })
  assert.match(stderr, 'hint: nothing is built yet: "eider run" builds the models')
  assert.match((await space.ok(['query', 'SELECT 7 AS n', '--format', 'csv'])).stdout, /7/)
  await space.ok(['run'])
  const after = await space.ok(['query', 'FROM mart.d'], { exitCode: 1 })
  assert.not.match(after.stderr, 'nothing is built yet')
})

test('a run names the models whose files are gone', async () => {
  await using space = await workspace({ ...files, 'models/mart/d.sql': 'select 1 as one\n' })
  await space.ok(['run'])
  await rm(space.path('models/mart/d.sql'))
  const { stdout } = await space.ok(['run', '--json'])
  assert.match(stdout, '{"event":"model-removed","model":"mart.d"}')
  assert.not.match((await space.ok(['run', '--json'])).stdout, 'model-removed')
  assert.match(
    (await space.ok(['run'])).stdout,
    /Z orphan +mart\.d +1 row, and no file defines it/m,
  )
  assert.match((await space.ok(['plan', '--diff'])).stdout, /^orphan +mart\.d +1 row/m)
})

test.run()
