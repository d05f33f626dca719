// --vars on the commands that go on, and on those that look: a project that compiles only with another value than its own.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: v\nvars:\n  input: nowhere\n  top: 2\n',
  'models/raw/events.sql': '-- @kind: events\nn INTEGER NOT NULL\n',
  'models/raw/numbers.sql': 'SELECT i AS n FROM range(${top}) t(i)\n',
  'models/mart/rows.sql': '-- @expose n\nFROM raw.${input:identifier}\n',
  'models/mart/hidden.sql': 'FROM mart.rows\n',
}
const vars = ['--vars', 'input=numbers']

test('odata preview compiles with the values that are given', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet', ...vars])
  const refused = await space.ok(['odata', 'preview', 'mart.hidden'], { exitCode: 1 })
  assert.match(refused.stderr, /models\/mart\/rows\.sql:2:\d+ error unknown-model/)
  const { stdout } = await space.ok(['odata', 'preview', 'mart.hidden', ...vars])
  assert.is((JSON.parse(stdout) as { value: unknown[] }).value.length, 2)
})

test('collect daemon and serve --watch start with the values that are given', async () => {
  await using space = await workspace(files)
  const ports = ['--port', '0', '--admin-port', '0']
  const wrong = await space.ok(['collect', 'daemon', ...ports, '--vars', 'top=many'], {
    exitCode: 2,
  })
  assert.match(wrong.stderr, '--vars top must be a number')
  {
    await using daemon = await space.start(['collect', 'daemon', ...ports, ...vars])
    const answer = await fetch(`${daemon.url}/collect/raw/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"n":1}',
    })
    assert.is(answer.status, 202)
    assert.is(await daemon.stop(), 0)
  }
  await using service = await space.start(
    ['serve', '--watch', '--port', '0', '--vars', 'top=5'].concat(vars),
  )
  assert.is(await (await fetch(`${service.url}/mart_rows/$count`)).text(), '5')
  assert.is(await service.stop(), 0)
})

test('serve takes --vars only where it compiles', async () => {
  await using space = await workspace(files)
  const { stderr } = await space.ok(['serve', '--port', '0', ...vars], { exitCode: 2 })
  assert.match(stderr, '--watch')
})

test.run()
