// A model that is renamed keeps its history; what no file makes any more is named, and can be removed.

import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const project = {
  'eider.yml': 'name: s\n',
  'models/a/source.sql': 'SELECT 1 AS id\n',
  'models/a/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT * FROM a.source\n',
  'models/a/reader.sql': 'SELECT count(*) AS n FROM a.kept\n',
}

test('eider mv keeps rows that the source no longer gives, in another schema too', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  await space.write('models/a/source.sql', 'SELECT 2 AS id\n')
  await space.ok(['run'])
  const { stdout, stderr } = await space.ok(['mv', 'a.kept', 'core.kept_rows'])
  assert.match(stdout, 'moved models/a/kept.sql to models/core/kept_rows.sql\n')
  assert.match(stdout, 'moved a.kept to core.kept_rows in the warehouse: 2 rows\n')
  assert.match(stderr, 'these files still refer to a.kept: models/a/reader.sql')
  await space.write('models/a/reader.sql', 'SELECT count(*) AS n FROM core.kept_rows\n')
  const run = await space.ok(['run', '--verbose'])
  assert.match(run.stdout, /unchanged +core\.kept_rows/)
  assert.not.match(run.stdout, 'orphan')
  assert.is((await space.ok(['odata', 'preview', 'core_kept_rows/$count'])).stdout.trim(), '2')
})

test('eider mv names all files that have the old name, or that of its set', async () => {
  await using space = await workspace({
    ...project,
    'eider.yml': 'name: s\nschedule:\n  runs:\n    - every: 1 day\n      select: [a.kept]\n',
    'models/a/kept.sql':
      '-- @kind: merge\n-- @unique_key: id\n-- @expose id\n-- @check: references(id, a.kept.id)\nSELECT id FROM a.source\n',
    'models/a/other.sql': 'SELECT 1 AS a_kept, 2 AS keptx\n',
    'macros/kept.sql': '-- of a.kept\nCREATE MACRO kept_id(id) AS id + 1;\n',
    'checks/kept.sql': 'SELECT id FROM a.kept WHERE id < 0\n',
    'boards/kept.yml': 'charts:\n  - chart: /sets/a_kept/chart?x=id\n',
    'tests/a/kept/one/expect.csv': 'id\n1\n',
    'tests/a/reader/one/given/a.kept.csv': 'id\n1\n',
    'tests/a/other/one/expect.csv': 'keptx\n2\n',
  })
  await space.ok(['run'])
  const { stderr } = await space.ok(['mv', 'a.kept', 'a.held'])
  const files = [
    'models/a/held.sql',
    'models/a/reader.sql',
    'macros/kept.sql',
    'checks/kept.sql',
    'boards/kept.yml',
    'eider.yml',
    'tests/a/kept/one',
    'tests/a/reader/one',
  ]
  assert.match(stderr, `these files still refer to a.kept: ${files.join(', ')}\n`)
})

test('a file that was moved by hand leaves an orphan, which mv takes up and drop removes', async () => {
  await using space = await workspace(project)
  await rm(space.path('models/a/reader.sql'))
  await space.ok(['run'])
  await rename(space.path('models/a/kept.sql'), space.path('models/a/moved.sql'))
  const orphan = (way: string) =>
    new RegExp(`orphan +a\\.kept +1 row, and no file defines it: ${way} .* eider drop a\\.kept`)
  const heir = 'a\\.moved has the same SQL, and eider mv a\\.kept a\\.moved --replace'
  assert.match((await space.ok(['run'])).stdout, orphan(heir))
  assert.match((await space.ok(['plan'])).stdout, orphan('eider mv a\\.kept NEW'))
  assert.match((await space.ok(['ls'])).stdout, /a\.kept +merge +1 row, and no file defines it/)
  assert.match((await space.ok(['mv', 'a.kept', 'a.moved'], { exitCode: 2 })).stderr, '--replace')
  await space.ok(['mv', 'a.kept', 'a.moved', '--replace'])
  await rm(space.path('models/a/moved.sql'))
  await space.write('models/a/source.sql', '-- @expose\nSELECT 2 AS id\n')
  assert.match((await space.ok(['run'])).stdout, /orphan +a\.moved +1 row/)
  assert.match(
    (await space.ok(['drop', 'a.source'], { exitCode: 2 })).stderr,
    'models/a/source.sql',
  )
  assert.is((await space.ok(['drop', 'a.moved'])).stdout, 'dropped a.moved (merge, 1 row)\n')
  assert.not.match((await space.ok(['run'])).stdout, 'orphan')
  assert.match((await space.ok(['drop', 'a.moved'], { exitCode: 2 })).stderr, 'no run created')
})

const rowsOf = async (space: Workspace, name: string) => {
  const { stdout } = await space.ok(['query', '--format', 'csv', `SELECT count(*) FROM ${name}`])
  return stdout.trim().split(/\r?\n/)[1]
}

async function refused(space: Workspace, args: readonly string[], message: RegExp, exitCode = 2) {
  const { stderr } = await space.ok(args, { exitCode })
  assert.match(stderr.replaceAll(/\s+/g, ' '), message)
}

test('mv --replace drops no collected events, and gives none of other rows to a model of events', async () => {
  await using space = await workspace({
    ...project,
    'models/raw/e.sql': '-- @kind: events\nid INTEGER\n',
  })
  const daemon = await space.start(['collect', 'daemon', '--port', '0'])
  const body = JSON.stringify({ id: 1 })
  const headers = { 'Content-Type': 'application/json' }
  await fetch(`${daemon.url}/collect/raw/e`, { method: 'POST', headers, body })
  await daemon.stop()
  await space.ok(['run'])
  await refused(
    space,
    ['mv', 'a.kept', 'raw.e', '--replace'],
    /models\/raw\/e\.sql already defines raw\.e/,
  )
  await rm(space.path('models/raw/e.sql'))
  const orphan = (await space.ok(['plan', '--allow-breaking'])).stdout
  assert.match(orphan, /raw\.e +1 row, and no file defines it: models\/raw\/e\.sql of kind events/)
  assert.not.match(orphan, 'eider mv')
  const inTheWay = /already has raw\.e \(events, 1 row\), which cannot be rebuilt/
  await refused(space, ['mv', 'a.kept', 'raw.e', '--replace'], inTheWay)
  await refused(space, ['mv', 'a.kept', 'raw.e'], inTheWay)
  assert.is(await rowsOf(space, 'raw.e'), '1')
  await rename(space.path('models/a/kept.sql'), space.path('kept.sql'))
  await space.write('models/raw/f.sql', '-- @kind: events\nid INTEGER\n')
  await refused(space, ['mv', 'a.kept', 'raw.f', '--replace'], /raw\/f\.sql is of kind events/)
  assert.is(await rowsOf(space, 'a.kept'), '1')
})

test('drop says when events still wait for what it drops', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'models/raw/e.sql': '-- @kind: events\nid INTEGER\n',
  })
  await space.ok(['run'])
  const daemon = await space.start(['collect', 'daemon', '--port', '0'])
  const headers = { 'Content-Type': 'application/json' }
  await fetch(`${daemon.url}/collect/raw/e`, { method: 'POST', headers, body: '{"id":1}' })
  await daemon.stop()
  await rm(space.path('models/raw/e.sql'))
  const { stdout, stderr } = await space.ok(['drop', 'raw.e'])
  assert.is(stdout, 'dropped raw.e (events, 0 rows)\n')
  assert.match(stderr, /^events sent to raw\.e still wait in the buffer \(\d+ bytes\)/)
})

test('mv and drop refuse reserved schemas', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  const reserved = /the schema "\w+" is reserved/
  await refused(space, ['mv', 'a.kept', '_eider.models', '--replace'], reserved)
  await refused(space, ['mv', 'a.kept', 'Warehouse.kept'], reserved)
  await refused(space, ['mv', '_eider.models', 'a.kept'], reserved)
  await refused(space, ['drop', '_eider.models'], reserved)
  assert.match((await space.ok(['run'])).stdout, 'unchanged')
})

test('mv changes nothing where the file cannot be moved or its name is taken', async () => {
  await using space = await workspace({
    ...project,
    'models/taken': '',
    'seeds/a/seeded.csv': 'id\n1\n',
  })
  await mkdir(space.path('models/b/dir.sql'), { recursive: true })
  await space.ok(['run'])
  const move = (to: string) => ['mv', 'a.kept', to, '--replace']
  await refused(
    space,
    move('taken.kept'),
    /kept\.sql: models\/taken is a file and must be a dir/,
    3,
  )
  await refused(space, move('b.dir'), /models\/b\/dir\.sql already exists/)
  await refused(space, move('a.SEEDED'), /seeds\/a\/seeded\.csv already defines a\.seeded/)
  await refused(space, move('a.Kept'), /case does not distinguish models/)
  await space.write('models/a/binary.sql', new Uint8Array([0xff, 0xfe, 0x00, 0xd8]))
  await refused(
    space,
    move('a.Binary'),
    /models\/a\/binary\.sql makes a\.binary, and cannot be read/,
  )
  assert.is(await rowsOf(space, 'a.kept'), '1')
  assert.ok((await stat(space.path('models/a/kept.sql'))).isFile())
  await refused(
    space,
    ['mv', 'a.reader', 'a.source'],
    /models\/a\/source\.sql already defines a\.source/,
  )
})

test.run()
