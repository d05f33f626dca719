// Files that --out names.

import { stat } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/mart/days.sql': '-- @expose id\nSELECT 1 AS id\n',
}

test('directories are made, a file with the same text keeps its time, and what stands in the way is named', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  for (const command of [['client', 'typescript'], ['export', 'odcs'], ['docs']]) {
    const file = space.path('new', command[0]!, 'file')
    await space.ok([...command, '--out', file])
    const { mtimeMs } = await stat(file)
    if (command[0] !== 'docs') {
      await space.ok([...command, '--out', file])
      assert.is((await stat(file)).mtimeMs, mtimeMs)
    }
    const below = `${file}/below`
    const { stderr } = await space.ok([...command, '--out', below], { exitCode: 2 })
    assert.match(stderr, /--out cannot be written: .*file is a file and must be a directory/)
  }
})

test('the password in a URL of a service is not shown', async () => {
  await using space = await workspace(files)
  const url = 'http://u:geheim@127.0.0.1:1/odata'
  const { stdout, stderr } = await space.ok(['client', 'python', '--url', url], { exitCode: 2 })
  assert.match(stderr, '--url is no URL of a service, or has a user in it')
  assert.not.match(stdout + stderr, 'geheim')
})

test.run()
