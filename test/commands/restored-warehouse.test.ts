// The warehouse alone comes from a backup, and the rest of the project does not: that is said.

import { cp, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const seed = (rows: number) =>
  `id\n${Array.from({ length: rows }, (_, i) => String(i + 1)).join('\n')}\n`

test('a plan and a run on a warehouse that is older than what is published say so, the run once', async () => {
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
  assert.not.match((await space.ok(['plan'])).stderr, 'warehouse-older-than-published')
  await rm(`${file}.wal`, { force: true })
  await cp(space.path('backup.duckdb'), file)
  const { stderr: planned } = await space.ok(['plan'])
  assert.match(planned, /warehouse-older-than-published.*published_run.*restored from a backup/)
  const { stderr } = await space.ok(['run'])
  assert.match(stderr, /warehouse-older-than-published.*published_run.*restored from a backup/)
  for (const command of ['plan', 'run']) {
    const { stderr: again } = await space.ok([command])
    assert.not.match(again, 'warehouse-older-than-published')
  }
})

test('a plan where the warehouse was deleted says nothing of an older one', async () => {
  await using space = await workspace({
    'eider.yml': 'name: k\n',
    'models/core/a.sql': '-- @expose id\nSELECT 1 AS id\n',
  })
  await space.ok(['run'])
  await rm(space.path('.eider/warehouse.duckdb'))
  await rm(space.path('.eider/warehouse.duckdb.wal'), { force: true })
  const { stderr } = await space.ok(['plan'])
  assert.not.match(stderr, 'warehouse-older-than-published')
})

test.run()
