// A table that somebody dropped by hand held rows that no run can make again: the model fails until somebody decides.

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { postJson } from '../support/json-requests.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: s\n',
  'models/raw/e.sql': '-- @kind: events\n-- @expose id\nid BIGINT NOT NULL\n',
  'models/a/source.sql': "SELECT 1 AS id, 10 AS v, TIMESTAMP '2026-01-01' AS at\n",
  'models/a/merged.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT * FROM a.source\n',
  'models/a/hist.sql': '-- @kind: scd2\n-- @unique_key: id\nSELECT * FROM a.source\n',
  'models/a/added.sql': '-- @kind: append\n-- @incremental: at\nSELECT * FROM a.source\n',
  'models/a/made.sql': 'SELECT * FROM a.source\n',
  'models/a/reader.sql': '-- @expose id\nSELECT id FROM raw.e\n',
}

async function dropByHand(space: Workspace, ...names: readonly [string, string][]): Promise<void> {
  await using database = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
  await using connection = await database.connect()
  for (const name of names) await connection.run(sql`DROP TABLE ${sql.ident(...name)}`)
}

async function post(space: Workspace, id: number): Promise<void> {
  await using daemon = await startDaemon(space)
  assert.is((await postJson(`${daemon.url}/collect/raw/e`, { id })).status, 202)
}

const countOf = async (space: Workspace, set: string) =>
  (await space.ok(['odata', 'preview', `${set}/$count`])).stdout.trim()

test('merge, scd2, append: the model fails in plan and run, and its own full refresh builds it again', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await dropByHand(space, ['a', 'merged'], ['a', 'hist'], ['a', 'added'], ['a', 'made'])
  await space.write(
    'models/a/source.sql',
    "SELECT 2 AS id, 20 AS v, TIMESTAMP '2026-01-02' AS at\n",
  )
  const plan = await space.ok(['plan'], { exitCode: 1 })
  const run = await space.ok(['run'], { exitCode: 1 })
  for (const name of ['merged', 'hist', 'added']) {
    const says = new RegExp(
      ` +a\\.${name} +models/a/${name}\\.sql:.*the table a\\.${name} is gone from the warehouse.*eider run a\\.${name} --full-refresh\\n`,
    )
    assert.match(plan.stdout, says)
    assert.match(run.stdout, says)
  }
  assert.match(run.stdout, /built +a\.made/)
  assert.match((await space.ok(['odata', 'preview', 'a_merged'])).stdout, '"id":1')
  await space.ok(['run', 'a.merged', 'a.hist', '--full-refresh'])
  await space.ok(['run', 'a.added', '--allow-empty'])
  assert.match((await space.ok(['odata', 'preview', 'a_merged'])).stdout, '"id":2')
  await space.ok(['run'])
})

test('events: nothing is flushed into an empty table unless told so, and then the set is empty', async () => {
  await using space = await workspace(files)
  await post(space, 1)
  await space.ok(['run'])
  await dropByHand(space, ['raw', 'e'])
  for (const more of [[], ['--full-refresh', '--drop-history']]) {
    const run = await space.ok(['run', ...more], { exitCode: 1 })
    assert.match(
      run.stdout,
      /failed +raw\.e +.*the table raw\.e is gone from the warehouse, and with it the events in it; .*eider run raw\.e --allow-empty\n/,
    )
    assert.match(run.stdout, /skipped +a\.reader/)
  }
  assert.is(await countOf(space, 'raw_e'), '1')
  await post(space, 2)
  await space.ok(['run'], { exitCode: 1 })
  assert.is(await countOf(space, 'raw_e'), '1')
  await space.ok(['run', '--allow-empty'])
  assert.is(await countOf(space, 'raw_e'), '1')
  assert.match((await space.ok(['odata', 'preview', 'a_reader'])).stdout, '"value":[{"id":2}]')
  await dropByHand(space, ['raw', 'e'])
  assert.match(
    (await space.ok(['run', '--allow-empty'])).stdout,
    /built +raw\.e .*missing in the warehouse/,
  )
  assert.is(await countOf(space, 'raw_e'), '0')
  assert.is(await countOf(space, 'a_reader'), '0')
  assert.match((await space.ok(['run'])).stdout, /^.*7 unchanged in/m)
})

test('a warehouse without the state of what is served is taken for a lost one, model by model', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await rm(space.path('.eider/warehouse.duckdb'))
  await (
    await Database.open({ path: space.path('.eider/warehouse.duckdb') })
  )[Symbol.asyncDispose]()
  const run = await space.ok(['run'], { exitCode: 1 })
  assert.match(run.stdout, /failed +a\.merged .* is gone from the warehouse/)
  assert.match(run.stdout, /built +a\.hist/)
  assert.is(await countOf(space, 'a_merged'), '1')
  await space.ok(['run', '--allow-empty'])
})

test.run()
