// A run opens its warehouse while it compiles what has changed. One that is refused then has changed nothing.

import { readdir, readFile, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { holdDatabase } from '../support/hold-database.ts'
import { workspace } from '../support/workspace.ts'

test('a run that is refused after a change leaves the warehouse and its log as they are, and no lock', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/mart/a.sql': 'select 1 as id\n',
  })
  await space.ok(['run'])
  await rm(space.path('.eider/idle.json'))
  await space.ok(['run']) // with the engine and without work: its record stays in the log
  const read = () =>
    Promise.all(
      ['warehouse.duckdb', 'warehouse.duckdb.wal'].map((name) =>
        readFile(space.path('.eider', name)),
      ),
    )
  const before = await read()
  await space.write('models/mart/a.sql', 'select 2 as id\n')
  const { stderr } = await space.ok(['run', 'mart.b'], { exitCode: 2 })
  assert.match(stderr, 'mart.b')
  assert.equal(await read(), before)
  const names = await readdir(space.path('.eider'))
  assert.equal(
    names.filter((name) => name.startsWith('run.lock')),
    [],
  )
  assert.match((await space.ok(['run'])).stdout, 'built')
})

test('a run that is refused does not wait for a program that holds the warehouse', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/mart/a.sql': 'select 1 as id\n',
  })
  await space.ok(['run'])
  await using _held = await holdDatabase(space.path('.eider/warehouse.duckdb'))
  await space.write('models/mart/a.sql', 'select 2 as id\n')
  const { stderr } = await space.ok(['run', '--wait', '600', 'mart.b'], { exitCode: 2 })
  assert.match(stderr, 'mart.b')
})

test.run()
