// What stands in the folders of a project may be anything: a pipe, a device, a link to itself, a directory that nobody may
// read. Each is a mistake with a message, ends no process and holds none up.

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/orders.sql': '-- @kind: events\nid INTEGER NOT NULL',
  'models/mart/orders.sql': '-- @expose id\nSELECT 1 AS id',
}
const QUICK = { timeoutMs: 40_000 }
const hash = (digit: string) => `sha256:${digit.repeat(64)}`

const makeFifo = (space: Workspace, path: string) => execFileSync('mkfifo', [space.path(path)])

test('a pipe or a device where a file is read is said, at once', async () => {
  for (const path of [
    'models/mart/x.sql',
    'macros/x.sql',
    'checks/x.sql',
    'seeds/ref/x.csv',
    '.env',
  ])
    for (const make of [makeFifo, linkToZero]) {
      await using space = await workspace(files)
      mkdirSync(space.path(path, '..'), { recursive: true })
      make(space, path)
      const { stdout, exitCode } = await space.eider(['check'], QUICK)
      assert.is(exitCode, 1, path)
      assert.match(stdout, `${path}:1:1 error unreadable-file`, path)
      assert.match(stdout, 'is a pipe, a socket or a device', path)
      for (const command of [['ls'], ['fmt', '--check'], ['doctor']])
        if (path === 'models/mart/x.sql')
          assert.is.not((await space.eider(command, QUICK)).exitCode, null, command[0])
    }
  for (const make of [makeFifo, linkToZero]) {
    await using space = await workspace(files)
    rmSync(space.path('eider.yml'))
    make(space, 'eider.yml')
    for (const command of ['check', 'run', 'ls'])
      assert.match(
        (await space.eider([command], QUICK)).stderr + (await space.eider([command], QUICK)).stdout,
        'unreadable-file',
      )
  }
})

const linkToZero = (space: Workspace, path: string) => symlinkSync('/dev/zero', space.path(path))

test('a pipe in the place of what eider keeps for itself holds up no run', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  for (const path of ['idle.json', 'compiled.json', 'last/state.json']) {
    rmSync(space.path('.eider', path), { force: true })
    makeFifo(space, `.eider/${path}`)
    assert.is((await space.eider(['run'], QUICK)).exitCode, 0, path)
    rmSync(space.path('.eider', path), { force: true })
  }
  mkdirSync(space.path('tests/mart/orders/one'), { recursive: true })
  writeFileSync(space.path('tests/mart/orders/one/expect.csv'), 'id\n1\n')
  makeFifo(space, 'tests/mart/orders/one/test.yml')
  assert.is.not((await space.eider(['test'], QUICK)).exitCode, null)
})

test('a pipe that a model, a source or a test of a model names is said, at once', async () => {
  const csv = "SELECT * FROM read_csv('data/x.csv')"
  const rows: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ['run', 'models/mart/t.sql:1:24 error unreadable-file', { 'models/mart/t.sql': csv }],
    ['run', 'checks/t.sql:1:24 error unreadable-file', { 'checks/t.sql': csv }],
    [
      'run',
      'models/mart/t.sql:1:25 error unreadable-file',
      { 'models/mart/t.sql': "SELECT * FROM read_text('data/x.csv')" },
    ],
    [
      'run',
      'data/x.csv is a pipe',
      { 'eider.yml': sourceOf('tables:\n      x:\n        file: data/x.csv') },
    ],
    [
      'run',
      'data/x.csv is a pipe',
      { 'eider.yml': sourceOf('database: data/x.csv\n    tables:\n      x:') },
    ],
    [
      'test',
      'tests/mart/orders/one/expect.csv: a pipe',
      { 'tests/mart/orders/one/about.md': 'One.\n' },
    ],
  ]
  for (const [command, says, more] of rows)
    for (const make of [makeFifo, linkToZero]) {
      await using space = await workspace({ ...files, ...more, 'data/about.md': '' })
      make(space, command === 'test' ? 'tests/mart/orders/one/expect.csv' : 'data/x.csv')
      const { stdout, stderr, exitCode } = await space.eider([command], QUICK)
      assert.is(exitCode, 1, `${says}: ${stdout}${stderr}`)
      assert.match(stdout + stderr, says)
    }
})

const sourceOf = (text: string) => `name: shop\nsources:\n  f:\n    ${text}\n`

test('what no row of a list can say is said beside it', async () => {
  for (const [path, to] of [
    ['models', 'models'],
    ['models/up', '..'],
  ] as const) {
    await using space = await workspace(files)
    if (path === 'models') rmSync(space.path(path), { recursive: true })
    symlinkSync(to, space.path(path))
    const { stdout, stderr, exitCode } = await space.eider(['ls', '--json'], QUICK)
    assert.is(exitCode, 1, path)
    assert.match(stderr, `${path}:1:1 error unreadable-file`)
    assert.match(stdout, '{"event":"ls-finished"')
    assert.is((await space.eider(['ls', 'raw.orders'], QUICK)).exitCode, path === 'models' ? 2 : 0)
  }
})

test('a file that becomes a pipe after a run is said by the next one', async () => {
  await using space = await workspace({
    ...files,
    'models/mart/t.sql': "SELECT * FROM read_csv('data/x.csv')",
    'data/x.csv': 'a\n1\n',
  })
  await space.ok(['run'])
  rmSync(space.path('data/x.csv'))
  makeFifo(space, 'data/x.csv')
  assert.match((await space.ok(['run'], { ...QUICK, exitCode: 1 })).stderr, 'is a pipe, a socket')
})

test('query --file takes a pipe, and no more of a device than a query may have', async () => {
  await using space = await workspace(files)
  linkToZero(space, 'zero.sql')
  const { stderr } = await space.ok(['query', '--file', 'zero.sql'], { ...QUICK, exitCode: 2 })
  assert.match(stderr, 'zero.sql is larger than 4 MiB')
  makeFifo(space, 'pipe.sql')
  const reading = space.eider(['query', '--file', 'pipe.sql'], QUICK)
  const written = writeFile(space.path('pipe.sql'), 'SELECT 42 AS n')
  assert.match((await reading).stdout, '42')
  await written
})

test('brackets without end are refused before they are parsed', async () => {
  await using space = await workspace(files)
  for (const text of ['['.repeat(200_000), '{'.repeat(200_000), '- '.repeat(100_000)]) {
    await space.write('eider.yml', `name: shop\nvars: ${text}\n`)
    const { exitCode, stdout } = await space.eider(['check'], QUICK)
    assert.is(exitCode, 1)
    assert.match(stdout, /config-syntax.*more than 100 deep/)
  }
})

test('anchors without end are refused, and many keys are read', async () => {
  await using space = await workspace(files)
  const many = (count: number, one: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => one(i)).join(', ')
  const aliases = `[${many(20_000, (i) => `&a${i} x`)}, ${many(20_000, (i) => `*a${i}`)}]`
  for (const text of [aliases, `[&b x, ${many(100_000, () => '*b')}]`]) {
    await space.write('eider.yml', `name: shop\nvars: ${text}\n`)
    const { stdout } = await space.ok(['check'], { ...QUICK, exitCode: 1 })
    assert.match(stdout, /config-syntax: .*there are more than 1000 anchors and aliases/)
  }
  await space.write('eider.yml', `name: shop\nvars: {${many(60_000, (i) => `v${i}: 1`)}}\n`)
  await space.ok(['check'], QUICK)
})

test('a pipe that stands for a moment where settings are read leaves no revoked token valid', async () => {
  for (const path of ['.env', 'eider.yml']) {
    const tokens = (digit: string) => `[{name: a, hash: '${hash(digit)}'}]`
    const yml = (digit: string) =>
      `name: shop\nodata: {tokens: ${tokens(digit)}}\ncollect: {tokens: ${tokens(digit)}}\n`
    await using space = await workspace({ ...files, 'eider.yml': yml('0') })
    await space.ok(['run'])
    const service = await space.start(['serve', '--port', '0'])
    const daemon = await space.start(['collect', 'daemon', '--port', '0'])
    rmSync(space.path(path), { force: true })
    makeFifo(space, path)
    await until(() => daemon.stderr().includes('models-stale'), Boolean, 20_000)
    await until(() => service.stderr().includes('tokens-stale'), Boolean, 20_000)
    rmSync(space.path(path))
    await space.write('eider.yml', yml('1'))
    await until(() => service.stderr().includes('tokens-reloaded'), Boolean, 20_000)
    await until(() => daemon.stderr().includes('models-reloaded'), Boolean, 20_000)
    makeFifo(space, path === '.env' ? path : 'models/mart/x.sql')
    assert.equal([await service.stop(), await daemon.stop()], [0, 0])
  }
})

test('a daemon lives with a link to itself and with a pipe among the models', async () => {
  await using space = await workspace(files)
  const running = await space.start(['collect', 'daemon', '--port', '0'])
  symlinkSync('loop', space.path('models/loop'))
  symlinkSync('loop.sql', space.path('models/mart/loop.sql'))
  makeFifo(space, 'models/mart/pipe.sql')
  await until(() => running.stderr().includes('unreadable-file'), Boolean, 20_000)
  assert.is((await fetch(`${running.url}/health`)).status, 200)
  assert.is(await running.stop(), 0)
  // At the start it says so and ends, or listens.
  const { exitCode } = await space.eider(['collect', 'daemon', '--port', '0'], QUICK)
  assert.is.not(exitCode, null)
})

test.run()
