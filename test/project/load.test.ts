import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { showDiagnostic } from '../../src/cli/show-diagnostic.ts'
import { compile } from '../../src/compiler/compile.ts'
import { DiagnosticsError } from '../../src/core/diagnostics.ts'
import { UsageError } from '../../src/core/failures.ts'
import { limits } from '../../src/core/limits.ts'
import { Resources } from '../../src/core/resources.ts'
import { FOLDER_FILES } from '../../src/project/file-limits.ts'
import { type LoadOptions, findProjectDir, loadProject } from '../../src/project/load.ts'
import { readModelTests } from '../../src/project/model-tests.ts'
import { failure } from '../support/failure.ts'

async function directory(files: Readonly<Record<string, string>>) {
  const resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-load-'))
  resources.defer(() => rm(dir, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(dir, path, '..'), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  return Object.assign(resources, { dir })
}

async function settingsOf(
  files: Readonly<Record<string, string>>,
  options: Partial<LoadOptions> = {},
) {
  await using project = await directory({ 'eider.yml': 'name: shop\n', ...files })
  return (await loadProject(project.dir, { env: {}, flags: {}, ...options })).settings
}

async function refusal(
  files: Readonly<Record<string, string>>,
  options: Partial<LoadOptions> = {},
): Promise<string> {
  try {
    await settingsOf(files, options)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

test('flag, environment, .env, eider.yml, default: the first that has it', async () => {
  const yml = { 'eider.yml': 'name: shop\ncollect:\n  port: 7001\n' }
  const dotEnv = { '.env': 'export COLLECT_PORT="7002" # public\nODATA_TOKEN=\'a b\'\n' }
  const env = { COLLECT_PORT: '7003' }
  const flags = { 'collect.port': 7004 }
  const port = async (...args: Parameters<typeof settingsOf>) =>
    (await settingsOf(...args))['collect.port']
  assert.is(await port({}), 8080)
  assert.is(await port(yml), 7001)
  assert.is(await port({ ...yml, ...dotEnv }), 7002)
  assert.is(await port({ ...yml, ...dotEnv }, { env }), 7003)
  assert.is(await port({ ...yml, ...dotEnv }, { env, flags }), 7004)
  assert.is((await settingsOf(dotEnv))['odata.token'], 'a b')
  assert.is((await settingsOf(dotEnv, { env: { ODATA_TOKEN: '' } }))['odata.token'], 'a b')
})

test('the admin port is the next one', async () => {
  const admin = async (env: Readonly<Record<string, string>>) =>
    (await settingsOf({}, { env }))['collect.admin_port']
  assert.is(await admin({}), 8081)
  assert.is(await admin({ COLLECT_PORT: '9000' }), 9001)
  assert.is(await admin({ COLLECT_PORT: '9000', COLLECT_ADMIN_PORT: '7' }), 7)
  assert.is(await admin({ COLLECT_PORT: '0' }), 0)
  assert.is(await admin({ COLLECT_PORT: '65535', COLLECT_ADMIN_PORT: '1' }), 1)
  assert.match(await refusal({}, { env: { COLLECT_PORT: '65535' } }), 'no port for the flush API')
  const equal = { COLLECT_PORT: '9000', COLLECT_ADMIN_PORT: '9000' }
  assert.match(await refusal({}, { env: equal }), 'both 9000')
})

test('a wrong value is refused with the name of its source', async () => {
  for (const text of ['x', '-1', '65536', '1.5', '80 80', '0x50', ' 80'])
    assert.match(await refusal({}, { env: { COLLECT_PORT: text } }), 'the variable COLLECT_PORT')
  assert.match(await refusal({ '.env': 'ODATA_PORT=x' }), 'ODATA_PORT in .env')
  assert.match(await refusal({}, { flags: { 'odata.page_size': 0 } }), '--page-size must be')
})

test('.env: each line that is no assignment is refused, and none of them is shown', async () => {
  const mistakes = async (text: string) => {
    try {
      await settingsOf({ '.env': text })
      return []
    } catch (error) {
      assert.instance(error, DiagnosticsError)
      return (error as DiagnosticsError).diagnostics.map((mistake) => showDiagnostic(mistake))
    }
  }
  const other =
    'write NAME=value, begin a comment with #, and put quotes around a value of several lines'
  const shown = (line: number, hint = other) =>
    `.env:${line}:1 error dotenv-syntax: expected NAME=value\n  hint: ${hint}`
  assert.equal(await mistakes('A=1\r\nCOLLECT_PORT 18301\r\n  s3cret\r\n'), [
    shown(2, 'write COLLECT_PORT=value'),
    shown(3),
  ])
  for (const text of ['=1', 'a b=1', 'a # b=1', 'export a', '; a', 'a: 1', '"a=1"'])
    assert.equal(await mistakes(`A=1\n${text}\nB=2`), [shown(2)], text)
  assert.equal(await mistakes('A="open\nrest'), [shown(2)])
  for (const text of ['', '\ufeffA=1', ' \n\t# a b\n\n#', 'A=\nexport  b.c-d = 1', 'A="b" # c'])
    assert.equal(await mistakes(text), [], text)
  for (const quote of ['"', "'", '`'])
    assert.equal(await mistakes(`A= ${quote}b\nc d\n\n=e${quote} # f\nB=1`), [], quote)
  assert.is((await settingsOf({ '.env': '\ufeffCOLLECT_PORT=7' }))['collect.port'], 7)
})

test('.env: a name that is nearly a known one is a warning of the compiler', async () => {
  await using project = await directory({
    'eider.yml': 'name: shop\n',
    '.env': 'SMTP_HOST=x\nCOLECT_PORT=7\nEIDER_VAR_A=1\nODATA_TOKEN=t\nOTEL_PORT=1\n',
  })
  const { files } = await loadProject(project.dir, { env: {}, flags: {} })
  const { warnings } = await compile(files, { dir: project.dir })
  assert.equal(
    warnings.map((found) => showDiagnostic(found)),
    [
      '.env:2:1 warning dotenv-unknown-name: no setting has the variable "COLECT_PORT"\n  hint: did you mean COLLECT_PORT?',
    ],
  )
})

test('a project is found from below', async () => {
  await using project = await directory({ 'eider.yml': 'name: shop\n', 'models/raw/x.sql': '' })
  assert.is(await findProjectDir(join(project.dir, 'models/raw')), project.dir)
  assert.is(await findProjectDir(project.dir), project.dir)
  await using empty = await directory({})
  assert.is(await findProjectDir(empty.dir), null)
  const options = { env: {}, flags: {} }
  const refused = await loadProject(empty.dir, options).catch((error: unknown) => error)
  assert.instance(refused, UsageError)
})

test('mistakes in eider.yml come all at once', async () => {
  await using project = await directory({ 'eider.yml': 'nmae: shop\ncollect:\n  port: "80"\n' })
  try {
    await loadProject(project.dir, { env: {}, flags: {} })
    assert.unreachable()
  } catch (error) {
    assert.instance(error, DiagnosticsError)
    const { diagnostics } = error as DiagnosticsError
    assert.equal(
      diagnostics.map(({ code }) => code),
      ['config-unknown-key', 'config-invalid-value'],
    )
  }
})

test('files: what is taken, what is passed over, what is reported', async () => {
  await using project = await directory({
    'eider.yml': '\ufeffname: shop\ndatabase: data/store.duckdb\n',
    'models/raw/b.sql': '\ufeffselect 1',
    'models/raw/a.sql': 'select 2',
    'models/raw/schema.yml': 'not ours',
    'models/raw/.#a.sql': 'of an editor',
    'models/README.md': 'words',
    'models/store/x.sql': 'select 3',
    'models/lost.sql': 'select 4',
    'seeds/ref/c.csv': 'x\n1\n',
    'seeds/ref/d.parquet': '',
    'seeds/ref/notes.md': 'words',
    'seeds/ref/e.xlsx': '',
    'macros/m.sql': 'create macro m() as 1',
  })
  await symlink(join(project.dir, 'models/raw'), join(project.dir, 'models/linked'))
  const { files, paths, name } = await loadProject(project.dir, { env: {}, flags: {} })
  assert.is(name, 'shop')
  assert.is(paths.database, join(project.dir, 'data/store.duckdb'))
  assert.equal(
    files.models.map((model) => [model.name, model.source.text]),
    [
      ['linked.a', 'select 2'],
      ['linked.b', 'select 1'],
      ['raw.a', 'select 2'],
      ['raw.b', 'select 1'],
    ],
  )
  assert.equal(files.seeds, [
    { name: 'ref.c', path: 'seeds/ref/c.csv', format: 'csv', types: [] },
    { name: 'ref.d', path: 'seeds/ref/d.parquet', format: 'parquet', types: [] },
  ])
  assert.equal(
    files.macros.map(({ path }) => path),
    ['macros/m.sql'],
  )
  assert.equal(
    files.problems?.map(({ source, code }) => `${source.path} ${code}`),
    [
      'models/linked/schema.yml ignored-file',
      'models/raw/schema.yml ignored-file',
      'models/lost.sql invalid-model-path',
      'models/store/x.sql invalid-model-path',
      'seeds/ref/e.xlsx invalid-model-path',
    ],
  )
})

test('a target has settings, a database and a state of its own', async () => {
  await using space = await directory({
    'eider.yml':
      'name: t\nmemory_limit: 1GB\ntargets:\n  dev:\n  prod:\n    database: p.duckdb\n    memory_limit: 2GB\n    odata:\n      port: 7000\n',
    '.env': 'EIDER_TARGET=dev\n',
  })
  const load = (target?: string, env = {}) => loadProject(space.dir, { env, flags: {}, target })
  const prod = await load('prod')
  assert.is(prod.paths.database, join(space.dir, 'p.duckdb'))
  assert.is(prod.paths.snapshots, join(space.dir, '.eider', 'targets', 'prod', 'snapshots'))
  assert.is(prod.paths.target, join(space.dir, 'target', 'prod'))
  assert.equal([prod.settings.memory_limit, prod.settings['odata.port']], ['2GB', 7000])
  const dev = await load()
  assert.is(dev.paths.database, join(space.dir, '.eider', 'targets', 'dev', 'warehouse.duckdb'))
  assert.is(dev.settings.memory_limit, '1GB')
  assert.is((await load(undefined, { EIDER_TARGET: 'prod' })).settings.memory_limit, '2GB')
  assert.is((await load('prod', { ODATA_PORT: '7001' })).settings['odata.port'], 7001)
  try {
    await load('prd')
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, /no target "prd"/)
    assert.match((error as { hint?: string }).hint ?? '', /prod/)
  }
})

test('a link that leads back to itself is named, in each folder, and what else is there is read', async () => {
  await using project = await directory({
    'eider.yml': 'name: loops\n',
    'models/core/a.sql': 'select 1',
  })
  const folders = ['boards', 'checks', 'macros', 'models', 'seeds']
  for (const folder of folders) {
    await mkdir(join(project.dir, folder), { recursive: true })
    await symlink('loop', join(project.dir, folder, 'loop'))
  }
  await symlink('..', join(project.dir, 'models/core/up'))
  await mkdir(join(project.dir, 'models/mart'))
  await symlink('../mart', join(project.dir, 'models/core/mart'))
  await symlink('../core', join(project.dir, 'models/mart/core'))
  const { files } = await loadProject(project.dir, { env: {}, flags: {} })
  assert.equal(
    files.models.map(({ name }) => name),
    ['core.a'],
  )
  const loops = (files.problems ?? []).map((problem) => showDiagnostic(problem))
  for (const folder of folders)
    assert.ok(
      loops.some((shown) => shown.includes(`${folder}/loop is a symbolic link to itself`)),
      loops.join('\n'),
    )
  assert.match(
    loops.join('\n'),
    /models\/core\/up is a symbolic link to a folder that it is in\n.*remove the link/,
  )
  for (const there of ['core/mart/core', 'mart/core/mart'])
    assert.match(loops.join('\n'), `models/${there} is a symbolic link to a folder that it is in`)
  assert.is(loops.filter((shown) => shown.includes('is a symbolic link')).length, 9)
})

test('a folder that is a link to itself, or has too many files, is named, and the others are read', async () => {
  await using project = await directory({
    'eider.yml': 'name: loops\n',
    'models/core/a.sql': 'select 1',
  })
  for (const folder of ['boards', 'checks', 'macros'])
    await symlink(folder, join(project.dir, folder))
  await mkdir(join(project.dir, 'seeds/core'), { recursive: true })
  for (let i = 0; i <= FOLDER_FILES; i++)
    writeFileSync(join(project.dir, `seeds/core/s${i}.csv`), '')
  const { files } = await loadProject(project.dir, { env: {}, flags: {} })
  assert.equal([files.models.length, files.seeds?.length], [1, 0])
  const shown = (files.problems ?? []).map((problem) => showDiagnostic(problem))
  for (const folder of ['boards', 'checks', 'macros'])
    assert.match(shown.join('\n'), `${folder} is a symbolic link to itself`)
  assert.match(
    shown.join('\n'),
    /seeds:1:1 error unreadable-file: the folder has 20,001 files or more, and at most 20,000 are read\n.*source/,
  )
})

test('boards beyond those that are shown are said', async () => {
  const names = Array.from({ length: limits.boards + 2 }, (_, i) => `boards/b${1000 + i}.yml`)
  await using project = await directory({
    'eider.yml': 'name: boards\n',
    ...Object.fromEntries(names.map((name) => [name, 'title: A board\n'])),
  })
  const { files } = await loadProject(project.dir, { env: {}, flags: {} })
  assert.is(files.boards?.length, limits.boards)
  assert.equal(
    (files.problems ?? []).map((problem) => showDiagnostic(problem).split('\n')[0]),
    [
      `${names[limits.boards]}:1:1 warning ignored-file: this file is not read: of more than ${limits.boards} boards, the first ${limits.boards} by name are shown`,
    ],
  )
})

test('a folder of tests that cannot be read is named; links to others are followed', async () => {
  await using project = await directory({ 'shared/one/expect.csv': 'id\n1\n' })
  const problem = async () => {
    const error = await failure(() => readModelTests(project.dir))
    return showDiagnostic((error as DiagnosticsError).diagnostics[0]!)
  }
  assert.equal(await readModelTests(project.dir), [])
  await symlink('tests', join(project.dir, 'tests'))
  assert.match(
    await problem(),
    /^tests:1:1 error unreadable-file: .*tests is a symbolic link to itself/,
  )
  await rm(join(project.dir, 'tests'))
  await writeFile(join(project.dir, 'tests'), '')
  assert.match(await problem(), 'tests is a file and must be a directory')
  await rm(join(project.dir, 'tests'))
  await mkdir(join(project.dir, 'tests/core'), { recursive: true })
  await symlink('orders', join(project.dir, 'tests/core/orders'))
  assert.match(await problem(), 'tests/core/orders is a symbolic link to itself')
  await rm(join(project.dir, 'tests/core/orders'))
  await symlink('../../shared', join(project.dir, 'tests/core/orders'))
  assert.equal(
    (await readModelTests(project.dir)).map(({ path, problem }) => [path, problem]),
    [['tests/core/orders/one', null]],
  )
})

test.run()
