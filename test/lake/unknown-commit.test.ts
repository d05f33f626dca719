// When the answer to a COMMIT is lost, DuckLake takes the commit for failed and deletes what it had written, though the
// catalog names it by then: committed rows are gone. That the keys of the store belong to connections, and the database
// has none, is all that prevents it (src/duckdb/open-lake.ts). The first test here shows the loss. When it begins to
// fail, the engine has mended it, and the way around may go.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeTest } from '../support/lake/lake-test.ts'
import { openRawEngine, type RawOptions } from '../support/lake/raw-engine.ts'
import { withLake } from '../support/lake/with-lake.ts'

lakeTest('with keys in a secret of the database, committed rows are deleted for good', async () => {
  const { answers, deletions } = await readAfterLostCommit({ keys: 'secret' })
  assert.equal(answers, ['HTTP 404', 'HTTP 404', 'HTTP 404'])
  assert.ok(deletions > 0)
})

lakeTest('with keys of connections, nothing is deleted and all is read back', async () => {
  const { answers, deletions } = await readAfterLostCommit({ keys: 'connection' })
  assert.equal(answers, ['1, 2', '2', '1'])
  assert.is(deletions, 0)
})

/** An insert, a delete and a new table, each with a COMMIT whose answer is lost, and what another machine reads then. */
async function readAfterLostCommit(options: RawOptions) {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake, options)
  const connection = await engine.connect()
  await connection.run('CREATE TABLE inserted AS SELECT 1 AS n')
  await connection.run('CREATE TABLE deleted AS SELECT unnest([1, 2]) AS n')
  lake.store.forget()
  for (const statement of [
    'INSERT INTO inserted VALUES (2)',
    'DELETE FROM deleted WHERE n = 1',
    'CREATE TABLE made AS SELECT 1 AS n',
  ]) {
    const lost = lake.catalog.loseNextCommit()
    assert.match(await connection.refusal(statement), /Failed to commit/)
    await lost
  }
  const deletions = lake.store.deletions.length

  await using other = await openRawEngine(lake, options)
  const reader = await other.connect()
  const answers: string[] = []
  for (const table of ['inserted', 'deleted', 'made'])
    answers.push(
      await reader.rows(`SELECT n FROM ${table} ORDER BY n`).then(
        (rows) => rows.map(([n]) => String(n)).join(', '),
        (error: unknown) => /HTTP 404/.exec(String(error))?.[0] ?? String(error),
      ),
    )
  return { answers, deletions }
}

lakeTest('what was rolled back stays in the store, since nobody may delete it', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  await connection.run('CREATE TABLE t (n INTEGER)')
  await connection.run('BEGIN')
  await connection.run('INSERT INTO t VALUES (1)')
  await connection.run('ROLLBACK')
  assert.is(lake.store.deletions.length, 0)
  assert.equal(await connection.rows(`SELECT count(*)::INTEGER FROM glob('${lake.data}**')`), [[1]])
})

lakeTest('httpfs takes the keys of the environment as settings of the database', async () => {
  await using lake = await withLake()
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const
  for (const name of names) process.env[name] = 'of-the-environment'
  try {
    await using engine = await openRawEngine(lake, { keepsEnvironment: true })
    const connection = await engine.connectWithoutKeys()
    assert.equal(await connection.rows(`SELECT current_setting('s3_access_key_id')`), [
      ['of-the-environment'],
    ])
    await using safe = await openRawEngine(lake)
    const other = await safe.connectWithoutKeys()
    assert.equal(await other.rows(`SELECT current_setting('s3_access_key_id')`), [['']])
  } finally {
    for (const name of names) delete process.env[name]
  }
})

test.run()
