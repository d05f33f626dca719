// The warehouse alone comes from a backup, and the rest of the project does not: that is said.

import { cp, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const seed = (rows: number) =>
  `id\n${Array.from({ length: rows }, (_, i) => String(i + 1)).join('\n')}\n`

test('a run on a warehouse that is older than what is published says so, once', async () => {
  await using space = await workspace({
    'eider.yml': 'name: k\n',
    'seeds/ref/s.csv': seed(2),
    'models/core/kept.sql':
      '-- @kind: merge\n-- @unique_key: id\n-- @deletes: keep\n-- @expose id\nSELECT id FROM ref.s\n',
  })
  await space.ok(['run'])
  const file = space.path('.eider/warehouse.duckdb')
  await cp(file, space.path('backup.duckdb'))
  await new Promise((resolve) => setTimeout(resolve, 1100)) // ids of runs have seconds
  await space.write('seeds/ref/s.csv', seed(4))
  const { stderr: before } = await space.ok(['run'])
  assert.not.match(before, 'warehouse-older-than-published')
  await rm(`${file}.wal`, { force: true })
  await cp(space.path('backup.duckdb'), file)
  const { stderr } = await space.ok(['run'])
  assert.match(stderr, /warehouse-older-than-published.*published_run.*restored from a backup/)
  const { stderr: again } = await space.ok(['run'])
  assert.not.match(again, 'warehouse-older-than-published')
})

test.run()
