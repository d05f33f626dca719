import { spawnSync } from 'node:child_process'
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError, UsageError } from '../../src/core/failures.ts'
import { initProject, projectName, type TemplateName } from '../../src/project/init.ts'
import { workspace } from '../support/workspace.ts'

const templatesDir = fileURLToPath(new URL('../../../templates', import.meta.url))

async function temporaryDir() {
  const path = await mkdtemp(join(tmpdir(), 'eider-init-'))
  return {
    path,
    init: (dir: string, template: TemplateName = 'events') =>
      initProject({ dir: join(path, dir), template, templatesDir }),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

async function filesIn(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .toSorted()
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable('nothing was thrown'),
    (error: unknown) => error,
  )
}

test('writes the files that it reports, with .gitignore under its own name', async () => {
  await using at = await temporaryDir()
  const { written } = await at.init('a/b/demo')
  assert.equal(await filesIn(join(at.path, 'a/b/demo')), written)
  for (const path of ['.gitignore', 'eider.yml', 'events.ndjson', 'models/raw/orders.sql'])
    assert.ok(written.includes(path), path)
  const ignored = await readFile(join(at.path, 'a/b/demo/.gitignore'), 'utf8')
  assert.match(ignored, /^\.eider\/$/m)
})

test('the name of the directory becomes the name of the project', async () => {
  await using at = await temporaryDir()
  for (const template of ['events', 'blank'] as const) {
    await at.init(`Été ${template}!`, template)
    const config = await readFile(join(at.path, `Été ${template}!`, 'eider.yml'), 'utf8')
    assert.match(config, `name: 'Ete_${template}'\n`)
  }
  const readme = await readFile(join(at.path, 'Été events!', 'README.md'), 'utf8')
  assert.match(readme, /^# Ete_events\n/)
})

test('a name is made of any directory name', () => {
  const names = { shop: 'shop', 'my shop': 'my_shop', '2026-sales_': 'sales', 東京: 'project' }
  for (const [dir, name] of Object.entries({ ...names, "a'b: #": 'a_b', _x: 'x' }))
    assert.is(projectName(`/somewhere/${dir}`), name, dir)
  assert.is(projectName('/'), 'project')
})

test('other files of the directory stay', async () => {
  await using at = await temporaryDir()
  await mkdir(join(at.path, 'demo'))
  await writeFile(join(at.path, 'demo/notes.txt'), 'mine')
  const { written } = await at.init('demo', 'blank')
  assert.equal(await filesIn(join(at.path, 'demo')), [...written, 'notes.txt'].toSorted())
  assert.is(await readFile(join(at.path, 'demo/notes.txt'), 'utf8'), 'mine')
})

test('a directory with a project is refused and left as it was', async () => {
  await using at = await temporaryDir()
  await at.init('demo', 'blank')
  const before = await filesIn(join(at.path, 'demo'))
  const error = await failureOf(at.init('demo', 'events'))
  assert.instance(error, UsageError)
  assert.match((error as UsageError).message, 'has an eider.yml')
  assert.equal(await filesIn(join(at.path, 'demo')), before)
})

test('nothing is written when one file is in the way, a broken link too', async () => {
  await using at = await temporaryDir()
  for (const [dir, path] of [
    ['one', 'events.ndjson'],
    ['two', '.gitignore'],
  ] as const) {
    await mkdir(join(at.path, dir))
    if (dir === 'one') await writeFile(join(at.path, dir, path), 'mine')
    else await symlink('/nowhere/at/all', join(at.path, dir, path))
    const error = await failureOf(at.init(dir))
    assert.instance(error, UsageError)
    assert.match((error as UsageError).message, `would be overwritten: ${path}`)
    assert.equal(await filesIn(join(at.path, dir)), [path])
  }
})

test('what a clone has stays: README.md, LICENSE, .git, and .gitignore with what it lacks', async () => {
  await using space = await workspace({
    'README.md': '# Mine\n',
    LICENSE: 'mine',
    '.git/config': '[core]\n',
    '.gitignore': 'node_modules/\n/target',
  })
  const { stdout } = await space.ok(['init'])
  assert.match(stdout, /^created the project here: 7 files\n/)
  assert.match(stdout, 'kept README.md as it was\nadded to .gitignore: .eider/, .env\n')
  const text = (path: string) => readFile(space.path(path), 'utf8')
  assert.is(await text('README.md'), '# Mine\n')
  assert.is(await text('LICENSE'), 'mine')
  assert.is(await text('.git/config'), '[core]\n')
  assert.is(await text('.gitignore'), 'node_modules/\n/target\n.eider/\n.env\n')
  await space.ok(['run'])
})

test('a .gitignore that knows it all is left alone', async () => {
  await using space = await workspace({ '.gitignore': 'target\r\n.eider\r\n.env\r\n' })
  const { stdout } = await space.ok(['init', '--json'])
  const { kept, ignored } = JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>
  assert.equal([kept, ignored], [[], []])
  assert.is(await readFile(space.path('.gitignore'), 'utf8'), 'target\r\n.eider\r\n.env\r\n')
})

test('a file is no directory', async () => {
  await using at = await temporaryDir()
  await writeFile(join(at.path, 'demo'), 'mine')
  const error = await failureOf(at.init('demo'))
  assert.instance(error, UsageError)
  assert.match((error as UsageError).message, 'is not a directory')
})

test('what was written is taken back when the disk refuses the rest', async () => {
  await using at = await temporaryDir()
  // Linux takes paths of up to 4095 bytes: room for /.gitignore and /eider.yml here, not for /models/README.md.
  const room = 4095 - '/.gitignore'.length - at.path.length
  const dir = 'd/'.repeat(room).slice(0, room - 2) + 'd'
  const error = await failureOf(at.init(dir, 'blank'))
  assert.instance(error, EnvironmentError)
  assert.is((error as EnvironmentError).code, 'cannot-write')
  assert.equal(await readdir(at.path), [])
})

test('what to type next can be typed, whatever the directory is called', async () => {
  await using space = await workspace()
  for (const name of ['demo', 'my shop', "it's $HOME", '-x', 'Läden/süd']) {
    const { stdout } = await space.ok(['init', '--template', 'blank', '--', name])
    const next = /^ {2}(cd .*)$/m.exec(stdout)?.[1]
    const typed = spawnSync('sh', ['-c', `${next} && pwd`], { cwd: space.dir, encoding: 'utf8' })
    assert.is(typed.stdout.trimEnd(), await realpath(space.path(name)), stdout)
  }
})

test('the steps lead from events to answers, and name npx where that started it', async () => {
  await using space = await workspace()
  const { stdout } = await space.ok(['init', 'demo', '--quiet'], { env: { npm_command: '' } })
  const [first, daemon, post, run, serve] = stdout.trimEnd().split('\n')
  assert.is(first, '  cd demo')
  assert.match(daemon!, /^ {2}eider collect daemon & +takes events on http:\/\/127\.0\.0\.1:8080$/)
  assert.match(post!, /^ {2}curl .*@events\.ndjson http.*\/collect\/raw\/orders\/batch$/)
  assert.match(run!, /^ {2}eider run +builds 5 models$/)
  assert.match(serve!, /^ {2}eider serve +http:\/\/127\.0\.0\.1:8090\/odata, also for Excel$/)
  const { stdout: started } = await space.ok(['init', 'other'], { env: { npm_command: 'exec' } })
  assert.match(started, /^ {2}npx eider run +builds 5 models$/m)
})

test('--verbose lists the files', async () => {
  await using space = await workspace()
  const { stdout } = await space.ok(['init', '--verbose'])
  assert.match(stdout, /^wrote \.gitignore$/m)
})

const stories = ['web-analytics', 'shop', 'app-database', 'files'] as const

for (const template of stories)
  test(`${template}: passes its tests and builds without a network, and its README is short and right`, async () => {
    await using space = await workspace({})
    await space.ok(['init', '--template', template])
    const checked = await space.ok(['check'])
    assert.match(checked.stdout, /^ok: \d+ models, 0 errors, 0 warnings\n$/)
    const tested = await space.ok(['test'])
    assert.match(tested.stdout, /\n\d+ ok in /)
    await space.ok(['run'])
    assert.match((await space.ok(['run'])).stdout, /unchanged/)
    const readme = await readFile(space.path('README.md'), 'utf8')
    assert.ok(readme.split(/\s+/).length < 350, 'read in two minutes')
    const named = [...readme.matchAll(/^\| `([^`*]+)`/gm)].map(([, path]) => path!)
    for (const path of named) assert.ok((await stat(space.path(path))).size > 0, path)
    const config = await readFile(space.path('eider.yml'), 'utf8')
    assert.match(config, /\nschedule:\n {2}runs:\n/)
  })

test('what the READMEs of stories say of their rows', async () => {
  const rowsOf = async (template: string, sql: string) => {
    await using space = await workspace({})
    await space.ok(['init', '--template', template])
    await space.ok(['run'])
    return (await space.ok(['query', sql, '--format', 'csv'])).stdout
  }
  const january = `SELECT orders, revenue FROM mart.monthly_sales WHERE month = '2026-01-01' AND country = 'NO'`
  assert.is(await rowsOf('shop', january), 'orders,revenue\r\n2,103.00\r\n')
  const open = 'SELECT payout, expected - booked AS short FROM mart.open_payouts ORDER BY payout'
  assert.is(await rowsOf('files', open), 'payout,short\r\n7003,1.00\r\n7004,\r\n')
  const views = `SELECT sum(subscriptions) AS n FROM mart.monthly_revenue WHERE month = '2026-02-01'`
  assert.is(await rowsOf('app-database', views), 'n\r\n4\r\n')
})

test.run()
