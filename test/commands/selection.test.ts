import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: chain\n',
  'models/raw/a.sql': '-- @kind: table\nselect 1 as x\n',
  'models/mid/b.sql': '-- @kind: table\n-- @tags: core\nselect x + 1 as x from raw.a\n',
  'models/mart/c.sql': '-- @kind: table\nselect x + 1 as x from mid.b\n',
  'models/mart/z.sql': '-- @kind: table\nselect 0 as x\n',
}

test('arguments and --select add up, --exclude takes away', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(
    [
      'run',
      '+tag:core',
      '--exclude',
      'raw.*',
      '-s',
      'raw.a',
      '-s',
      'mart.z',
      '--json',
      '--threads',
      '2',
    ],
    { exitCode: 1 },
  )
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const of = (event: string) => events.filter((line) => line['event'] === event)
  assert.equal(
    of('models-selected').map(({ models }) => models),
    [2],
  )
  assert.equal(
    of('model-finished')
      .map(({ model, status }) => `${String(status)} ${String(model)}`)
      .toSorted(),
    ['built mart.z', 'failed mid.b'],
  )
})

test('a selector that matches nothing is a usage error with the nearest name', async () => {
  await using space = await workspace(files)
  const { stderr } = await space.ok(['pipeline', 'run', '--select', 'mid.bb'], { exitCode: 2 })
  assert.match(stderr, /mid\.bb[^]*did you mean "mid\.b"/)
})

test('an unbuilt input outside the selection fails with the way to add it', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['pipeline', 'run', '--select', 'mart.c'], { exitCode: 1 })
  assert.match(stdout, /failed .*mart\.c .*mid\.b.*\+mart\.c/)
  await space.ok(['run', '+mart.c'])
})

test('a number that is none is a usage error, also with --json', async () => {
  await using space = await workspace(files)
  await space.ok(['pipeline', 'run', '--json', '--threads', 'x'], { exitCode: 2 })
})

test.run()
