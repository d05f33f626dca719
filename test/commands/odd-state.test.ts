// What stands at the paths of a project's own state may be anything. Each is named, with what to do, and when it is gone a
// run goes on.

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/mart/one.sql': '-- @expose id\nSELECT 1 AS id\n',
}

test('a directory in the place of the lock of runs', async () => {
  await using space = await workspace(files)
  mkdirSync(space.path('.eider/run.lock'), { recursive: true })
  const { stderr } = await space.ok(['run'], { exitCode: 3 })
  assert.match(stderr, 'error: .eider/run.lock is a directory and must be a file')
  assert.match(stderr, 'hint: move it away')
  rmSync(space.path('.eider/run.lock'), { recursive: true })
  await space.ok(['run'])
})

test('a directory in the place of a published state', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const [manifest = ''] = readdirSync(space.path('.eider/snapshots')).filter((name) =>
    name.startsWith('manifest-'),
  )
  const path = `.eider/snapshots/${manifest}`
  rmSync(space.path(path))
  mkdirSync(space.path(path))
  await space.write('models/mart/one.sql', '-- @expose id\nSELECT 2 AS id\n')
  const { stderr } = await space.ok(['run'], { exitCode: 3 })
  assert.match(stderr, `error: ${path} is a directory and must be a file`)
  rmSync(space.path(path), { recursive: true })
  await space.ok(['run'])
})

test.run()
