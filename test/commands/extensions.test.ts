// Extensions as a project asks for them, on the command line.
// Its commands are processes: an extension stays loaded in one, and its file may not be cut short then.

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { extensionFile } from '../../src/duckdb/extension-files.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const project = (directory: string) => ({
  'eider.yml': `name: t\nextensions:\n  directory: ${directory}\n  load: [excel]\n`,
  'models/a/priced.sql': "-- @expose id\nSELECT 1 AS id, excel_text(1234.5, '#,##0.00') AS price\n",
  'models/raw/e.sql': '-- @kind: events\nid bigint not null\n',
})

const missing = (path: string) => `error: the extension excel is not installed
hint: eider extension install excel; on a machine without a network put the file there: ${path}
`

test('without it every command that needs it says the command and the file, and writes nothing', async () => {
  await using space = await workspace(project('ext'))
  const path = extensionFile(space.path('ext'), 'excel')
  for (const command of ['run', 'plan', 'ls', 'check', 'query "select 1"']) {
    const { stderr, stdout } = await space.ok(words(command), { exitCode: 3 })
    assert.is(stderr, missing(path), command)
    assert.is(stdout, '')
  }
  const { stdout } = await space.ok(['run', '--json'], { exitCode: 3 })
  assert.is((JSON.parse(stdout) as { code: string }).code, 'extension-missing')
  const doctor = await space.ok(['doctor'], { exitCode: 1 })
  assert.match(doctor.stdout, /fail {2}project {4}the extension excel is not installed/)
  const list = await space.ok(['extension', 'list'])
  assert.match(
    list.stdout,
    /^missing +excel +needed by extensions of eider\.yml\n +next: eider ext/,
  )
})

test('the door takes events in all the same', async () => {
  await using space = await workspace(project('ext'))
  await using daemon = await startDaemon(space)
  const { status } = await fetch(`${daemon.url}/collect/raw/e`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"id":1}',
  })
  assert.is(status, 202)
})

test('a list is short for extensions.load; a name that the repository does not have is refused', async () => {
  await using space = await workspace({ 'eider.yml': 'name: t\nextensions: [exel]\n' })
  const wrong = await space.ok(['ls'], { exitCode: 1 })
  assert.match(wrong.stderr, /"extensions\.load" must be a list of extensions of DuckDB's own repo/)
  assert.match(wrong.stderr, /did you mean "excel"\?/)
  await space.write('eider.yml', 'name: t\nextensions: [json]\n')
  const within = await space.ok(['ls'], { exitCode: 1 })
  assert.match(within.stderr, /hint: json is built into DuckDB: leave it out/)
  await space.write('eider.yml', 'name: t\nextensions: [h3]\n')
  assert.match((await space.ok(['ls'], { exitCode: 1 })).stderr, /known: avro, aws, /)
  const install = await space.ok(['extension', 'install', 'h3'], { exitCode: 2 })
  assert.match(install.stderr, /DuckDB's own repository has no extension "h3"/)
})

withExtensions(
  test,
  ['excel'],
  'installed from a directory, it works in every command',
  async () => {
    await using space = await workspace(project('ext'))
    const install = ['extension', 'install', '--from', extensionCache]
    const { stdout } = await space.ok(install)
    assert.match(
      stdout,
      /^installed {2}excel +[0-9a-f]{7,} +\S+excel\.duckdb_extension\nwrote {6}eider\.lock\n$/,
    )
    assert.match((await space.ok(install)).stdout, /^present {4}excel/)
    await space.ok(['run'])
    assert.is((await space.ok(['run'])).stdout.includes('built'), false)
    const asked = ["SELECT excel_text(price::INT, '0.0') AS p FROM (SELECT 7 AS price)"]
    assert.match((await space.ok(['query', ...asked])).stdout, /7\.0/)
    await space.ok(['plan', '--diff'])
    const again = await space.ok(['extension', 'list', '--json'])
    const [line = ''] = again.stdout.split('\n')
    const listed = JSON.parse(line) as Readonly<Record<string, unknown>>
    assert.equal([listed['name'], listed['status']], ['excel', 'installed'])
    assert.equal(listed['needed_by'], ['extensions of eider.yml'])
  },
)

test('an extension that is missing costs the tables of a source that need it, and no other', async () => {
  await using space = await workspace({
    'eider.yml':
      'name: shop\nsources:\n  f:\n    tables:\n      good:\n        file: data/a.csv\n      sheet:\n        file: data/b.xlsx\n',
    'data/a.csv': 'n\n7\n',
    'data/b.xlsx': '',
    'models/mart/good.sql': 'SELECT n FROM f.good\n',
    'models/mart/sheet.sql': 'SELECT * FROM f.sheet\n',
  })
  const env = { EIDER_EXTENSIONS: space.path('none') }
  const { stdout, stderr } = await space.ok(['run'], { env, exitCode: 1 })
  assert.match(stdout + stderr, /needs the extension excel, which is not installed/)
  assert.match((await space.ok(['query', 'FROM mart.good'], { env })).stdout, /^7$/m)
})

withExtensions(
  test,
  ['excel'],
  'it is installed as packages of PyPI have it, and from its file alone',
  async () => {
    const version = basename(dirname(dirname(extensionFile(extensionCache, 'excel'))))
    const inPackage = join('extensions', version, 'excel.duckdb_extension')
    const layouts = [inPackage, join('duckdb_extension_excel', inPackage), 'excel.duckdb_extension']
    for (const layout of layouts) {
      await using space = await workspace(project('ext'))
      const path = space.path('wheel', layout)
      await mkdir(dirname(path), { recursive: true })
      await cp(extensionFile(extensionCache, 'excel'), path)
      const { stdout } = await space.ok(['extension', 'install', '--from', 'wheel'])
      assert.match(stdout, /^installed {2}excel /, layout)
      await space.ok(['run'])
    }
  },
)

withExtensions(test, ['excel'], 'outside of a project, EIDER_EXTENSIONS says where', async () => {
  await using space = await workspace()
  const env = { EIDER_EXTENSIONS: space.path('mine') }
  const args = ['extension', 'install', 'excel', '--from', extensionCache]
  const { stdout } = await space.ok(args, { env })
  assert.ok(stdout.includes(extensionFile(space.path('mine'), 'excel')), stdout)
  assert.match((await space.ok(['extension', 'list'], { env })).stdout, /^installed {2}excel/)
})

withExtensions(
  test,
  ['excel'],
  'the version of an extension is part of what makes a compile fresh',
  async () => {
    await using space = await workspace(project('ext'))
    await put(space)
    await space.ok(['run'])
    const saved = await compiledKey(space)
    await space.ok(['run'])
    assert.is(await compiledKey(space), saved)
    await writeFile(extensionFile(space.path('ext'), 'excel'), 'x'.repeat(1024))
    const { stderr } = await space.ok(['run'], { exitCode: 3 })
    assert.match(stderr, /the extension excel cannot be loaded: the file is incomplete/)
  },
)

withExtensions(test, ['excel'], 'the engine of the service has none', async () => {
  await using space = await workspace(project('ext'))
  await put(space)
  await space.ok(['run'])
  await using service = await space.start(['serve', '--port', '0'], {
    env: { EIDER_EXTENSIONS: '/nowhere' },
  })
  const answer = await fetch(`${service.url}/a_priced`)
  assert.is(answer.status, 200)
  assert.match(await answer.text(), /1,234\.50/)
})

const words = (command: string) =>
  Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word ?? '')

async function put(space: Workspace): Promise<void> {
  const to = extensionFile(space.path('ext'), 'excel')
  await mkdir(dirname(to), { recursive: true })
  await cp(extensionFile(extensionCache, 'excel'), to)
}

async function compiledKey(space: Workspace): Promise<string> {
  const [first = ''] = (await readFile(space.path('.eider/compiled.json'), 'utf8')).split('\n')
  return (JSON.parse(first) as { key: string }).key
}

test('a target that is a lake needs its extensions', async () => {
  await using space = await workspace({
    'eider.yml':
      'name: t\nlake: { catalog: "postgres://u@db.example/lake", data: "s3://bucket/p/" }\nextensions: { directory: none }\n',
  })
  const { stdout } = await space.ok(['extension', 'list'])
  for (const name of ['ducklake', 'postgres_scanner', 'httpfs'])
    assert.match(stdout, new RegExp(`^missing +${name} +needed by lake of the target$`, 'm'))
})

test.run()
