// The warehouse made again: what is in the old file is in the new one, and what fails leaves nothing.

import { existsSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { rewrite } from '../../../src/store/files/rewrite.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

const made = [
  sql`CREATE SCHEMA other`,
  sql`CREATE TABLE other.orders AS SELECT i AS id, 'order ' || i AS name FROM range(1000) AS r(i)`,
  sql`CREATE UNIQUE INDEX by_id ON other.orders (id)`,
  sql`CREATE VIEW other.few AS FROM other.orders WHERE id < 10`,
  sql`CREATE SEQUENCE other.numbers START 7`,
  sql`CREATE MACRO other.twice(x) AS x * 2`,
]

test('tables, views, indexes, sequences and macros are in the new file', async () => {
  await using space = await openProject()
  await space.ok([])
  for (const statement of made) await space.alter(statement)
  const { store, ...options } = runDefaults(space.paths)
  await rewrite(space.paths, store.warehouse, options)
  const [row] = await space.rows(sql`
    SELECT count(*)::INTEGER AS few, other.twice(3) AS twice, (SELECT sum(id)::INTEGER FROM other.orders) AS sum,
      (SELECT count(*)::INTEGER FROM duckdb_indexes()) AS indexes,
      (SELECT start_value::INTEGER FROM duckdb_sequences()) AS first FROM other.few`)
  assert.equal(row, { few: 10, twice: 6, sum: 499_500, indexes: 1, first: 7 })
})

test('a copy that is not finished leaves no file', async () => {
  await using space = await openProject()
  await space.ok([])
  const { store, ...options } = runDefaults(space.paths)
  const next = `${space.paths.database}.rewritten`
  let wasThere = false
  const onStep = () => {
    wasThere = existsSync(next)
    throw new Error('no more')
  }
  let message = ''
  await rewrite(space.paths, store.warehouse, { ...options, onStep }).catch(
    (error: Error) => (message = error.message),
  )
  assert.is(message, 'no more')
  assert.ok(wasThere)
  assert.not.ok(existsSync(next))
})

test.run()
