// Defects that were found once, each as its finder met it: through the built command line.

import { spawn } from 'node:child_process'
import { readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseManifest } from '../../src/core/snapshot.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const manifestOf = async (space: Workspace) =>
  parseManifest(await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'))

async function served(space: Workspace, path: string): Promise<string> {
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const answer = await fetch(`${service.url}/${path}`)
  return `${answer.status} ${await answer.text()}`
}

test('a run from another directory reads the files of the project', async () => {
  await using space = await workspace({
    'project/eider.yml': 'name: files\n',
    'project/data/r.csv': 'x\n1\n',
    'project/models/mart/t.sql': `-- @expose x\nSELECT x FROM read_csv('data/r.csv')`,
    'elsewhere/data/r.csv': 'x\n666\n',
  })
  await space.ok(['run', '--project', '../project'], { cwd: space.path('elsewhere') })
  await using service = await space.start(['serve', '--port', '0', '--project', 'project'])
  assert.match(await (await fetch(`${service.url}/mart_t`)).text(), /"value":\[\{"x":1\}\]/)
})

test('a key column that changed its letter case keeps the sets readable', async () => {
  const merge = (column: string) =>
    `-- @kind: merge\n-- @unique_key: ${column}\n-- @expose ${column}\nSELECT 1 AS ${column}, 'a' AS v`
  await using space = await workspace({
    'eider.yml': 'name: k\n',
    'models/core/o.sql': merge('id'),
  })
  await space.ok(['run'])
  await space.write('models/core/o.sql', merge('Id'))
  await space.ok(['run'])
  const [relation] = (await manifestOf(space)).relations
  assert.ok(relation!.columns.some(({ name }) => name === relation!.key[0]))
  assert.match(await served(space, 'core_o(1)'), /^200 /)
})

test('a macro that is gone from the project hides nothing any more', async () => {
  await using space = await workspace({
    'eider.yml': 'name: m\n',
    'macros/m.sql': `CREATE MACRO upper(t) AS 'shadowed'`,
    'models/mart/t.sql': `-- @expose x\nSELECT upper('a') AS x`,
  })
  await space.ok(['run'])
  await rm(space.path('macros/m.sql'))
  await space.ok(['run'])
  assert.match(await served(space, 'mart_t'), /"x":"A"/)
})

test('two sets whose names differ by letter case only are refused', async () => {
  await using space = await workspace({
    'eider.yml': 'name: c\n',
    'models/A/b_c.sql': '-- @expose x\nSELECT 1 AS x',
    'models/a_b/c.sql': '-- @expose x\nSELECT 1 AS x',
  })
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stderr, /exposed-set-clash/)
})

test('a NOT NULL column that older events lack is published as nullable', async () => {
  const model = (columns: string) => `-- @kind: events\n-- @expose id\nid BIGINT NOT NULL${columns}`
  await using space = await workspace({ 'eider.yml': 'name: e\n', 'models/raw/e.sql': model('') })
  const post = async (event: object) => {
    await using daemon = await startDaemon(space, '--quiet')
    const headers = { 'Content-Type': 'application/json' }
    const url = `${daemon.url}/collect/raw/e`
    assert.is(
      (await fetch(url, { method: 'POST', headers, body: JSON.stringify(event) })).status,
      202,
    )
    assert.is(await daemon.stop(), 0)
    await space.ok(['run'])
  }
  await post({ id: 1 })
  await space.write('models/raw/e.sql', model(', name VARCHAR NOT NULL'))
  await post({ id: 2, name: 'b' })
  const [relation] = (await manifestOf(space)).relations
  assert.equal(
    relation!.columns.map(({ name, nullable }) => [name, nullable]),
    [
      ['id', false],
      ['name', true],
    ],
  )
})

test('a damaged manifest costs no published set, and a lost current.sql comes back', async () => {
  await using space = await workspace({
    'eider.yml': 'name: d\n',
    'models/mart/a.sql': '-- @expose x\nSELECT 1 AS x',
    'models/mart/b.sql': '-- @expose x\nSELECT 1 AS x',
  })
  await space.ok(['run'])
  await writeFile(space.path('.eider/snapshots/manifest.json'), '{"format":')
  await rm(space.path('.eider/snapshots/current.sql'))
  await space.write('models/mart/b.sql', `-- @expose x\nSELECT 'no number'::INTEGER AS x`)
  await space.ok(['run'], { exitCode: 1 })
  assert.equal(
    (await manifestOf(space)).relations.map(({ model }) => model),
    ['mart.a', 'mart.b'],
  )
  assert.match(await readFile(space.path('.eider/snapshots/current.sql'), 'utf8'), /"mart"\."b"/)
})

test('columns of every nested and named type are served', async () => {
  await using space = await workspace({
    'eider.yml': 'name: j\n',
    'models/mart/t.sql': `-- @expose id
SELECT 1 AS id, '{"a": 1.50}'::JSON AS j, ['{}']::JSON[] AS jl, {'a': 1} AS s, [{'a': 1}] AS sl,
  union_value(n := 1) AS u, MAP {'k': 1} AS m, [1, 2] AS l, 'a'::ENUM('a', 'b') AS e`,
  })
  await space.ok(['run'])
  assert.match(await served(space, 'mart_t'), /^200 .*"j":"\{\\"a\\": 1.50\}"/)
})

test('a published file that was cut short is written anew', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'models/mart/a.sql': '-- @expose x\nSELECT 1 AS x',
  })
  await space.ok(['run'])
  const [relation] = (await manifestOf(space)).relations
  await truncate(space.path('.eider/snapshots', relation!.file), 100)
  {
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    assert.is((await fetch(service.url.replace('/odata', '/health'))).status, 503)
  }
  await space.ok(['run'])
  assert.match(await served(space, 'mart_a'), /^200 /)
})

test('files and links in the place of folders and models are mistakes of the project, not bugs', async () => {
  await using space = await workspace({
    'eider.yml': 'name: f\n',
    models: 'no folder',
    'seeds/x.md': '',
  })
  assert.match(
    (await space.ok(['run'], { exitCode: 1 })).stderr,
    /models:1:1 error unreadable-file/,
  )
  await rm(space.path('models'))
  await space.write('models/a/ok.sql', 'SELECT 1 AS x')
  await symlink('nowhere', space.path('models/a/l.sql'))
  assert.match(
    (await space.ok(['run'], { exitCode: 1 })).stderr,
    /models\/a\/l\.sql:1:1 error unreadable-file/,
  )
})

test('a size that is none is a mistake in eider.yml with its place', async () => {
  await using space = await workspace({ 'eider.yml': 'name: s\nmemory_limit: banana\n' })
  assert.match(
    (await space.ok(['run'], { exitCode: 1 })).stderr,
    /eider\.yml:2:15 error config-invalid-value/,
  )
})

test('a service whose log is no longer read goes on', async () => {
  await using space = await workspace({
    'eider.yml': 'name: p\n',
    'models/mart/a.sql': '-- @expose x\nSELECT 1 AS x',
  })
  await space.ok(['run'])
  const { command, args, env } = eiderProcess(['serve', '--port', '0', '--json'])
  const child = spawn(command, args, { cwd: space.dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    const line = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data: Buffer) => resolve(data.toString())),
    )
    child.stderr.destroy()
    child.stdout.destroy()
    const { url } = JSON.parse(line.split('\n').find((text) => text.includes('listening'))!) as {
      url: string
    }
    for (let i = 0; i < 5; i++) assert.is((await fetch(`${url}/mart_a`)).status, 200)
    assert.is(child.exitCode, null)
  } finally {
    child.kill('SIGKILL')
  }
})

test.run()
