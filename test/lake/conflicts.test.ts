// What DuckLake does with two transactions at once, on which the correctness of runs and flushes rests. Each row: what
// both do after both have begun, then the first commits, then the second.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { openRawEngine } from '../support/lake/raw-engine.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { testsSharing } from '../support/shared.ts'

interface Row {
  readonly title: string
  /** `t` stands for a name that is of this row alone. */
  readonly given: readonly string[]
  readonly first: string
  readonly second: string
  /** What the second is refused with; null: both stand. */
  readonly refusal: RegExp | null
  /** A query, and its rows afterwards. */
  readonly after: readonly [string, readonly (readonly unknown[])[]]
}

const table = 'CREATE TABLE t (id INTEGER, n INTEGER)'
const filled = [table, 'INSERT INTO t VALUES (1, 1)', 'INSERT INTO t VALUES (2, 2)']
const all = 'SELECT id, n FROM t ORDER BY ALL'

const rows: readonly Row[] = [
  {
    title: 'nothing guards against inserting the same thing twice',
    given: [table],
    first: 'INSERT INTO t VALUES (1, 1)',
    second: 'INSERT INTO t VALUES (1, 1)',
    refusal: null,
    after: [
      all,
      [
        [1, 1],
        [1, 1],
      ],
    ],
  },
  {
    title: 'an insert after a delete of another row is refused',
    given: filled,
    first: 'DELETE FROM t WHERE id = 1',
    second: 'INSERT INTO t VALUES (3, 3)',
    refusal:
      /attempting to insert into table with index "\d+" - but another transaction has deleted from it/,
    after: [all, [[2, 2]]],
  },
  {
    title: 'an update after an insert of another row is refused',
    given: filled,
    first: 'INSERT INTO t VALUES (3, 3)',
    second: 'UPDATE t SET n = 9 WHERE id = 1',
    refusal:
      /attempting to delete from table with index "\d+" - but another transaction has inserted into it/,
    after: [
      all,
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    ],
  },
  {
    title: 'two updates of one row',
    given: filled,
    first: 'UPDATE t SET n = 8 WHERE id = 1',
    second: 'UPDATE t SET n = 9 WHERE id = 1',
    refusal: /attempting to (delete from|insert into) table with index "\d+"/,
    after: [
      all,
      [
        [1, 8],
        [2, 2],
      ],
    ],
  },
  {
    title: 'both replace one table',
    given: [table],
    first: 'CREATE OR REPLACE TABLE t AS SELECT 1 AS id, 1 AS n',
    second: 'CREATE OR REPLACE TABLE t AS SELECT 2 AS id, 2 AS n',
    refusal:
      /attempting to drop table with index "\d+" - but another transaction has dropped it already/,
    after: [all, [[1, 1]]],
  },
  {
    title: 'both replace one view',
    given: ['CREATE VIEW t AS SELECT 0 AS id, 0 AS n'],
    first: 'CREATE OR REPLACE VIEW t AS SELECT 1 AS id, 1 AS n',
    second: 'CREATE OR REPLACE VIEW t AS SELECT 2 AS id, 2 AS n',
    refusal:
      /attempting to drop view with index "\d+" - but another transaction has dropped it already/,
    after: [all, [[1, 1]]],
  },
  {
    title: 'both make one table',
    given: [],
    first: table,
    second: table,
    refusal:
      /attempting to create table "t" in schema "main" - but this table has been created by another transaction already/,
    after: [all, []],
  },
  {
    title: 'both make one table unless it exists',
    given: [],
    first: 'CREATE TABLE IF NOT EXISTS t (id INTEGER, n INTEGER)',
    second: 'CREATE TABLE IF NOT EXISTS t (id INTEGER, n INTEGER)',
    refusal: /has been created by another transaction already/,
    after: [all, []],
  },
  {
    title: 'both make one schema unless it exists',
    given: [],
    first: 'CREATE SCHEMA IF NOT EXISTS t',
    second: 'CREATE SCHEMA IF NOT EXISTS t',
    refusal:
      /attempting to create schema with name "t" - but another transaction has created a schema with this name already/,
    after: [`SELECT count(*)::INTEGER FROM duckdb_schemas() WHERE schema_name = 't'`, [[1]]],
  },
  {
    title: 'both make one macro',
    given: [],
    first: 'CREATE MACRO t() AS 1',
    second: 'CREATE MACRO t() AS 2',
    refusal: /has been created by another transaction already/,
    after: ['SELECT t()', [[1]]],
  },
  {
    title: 'one alters the table, the other inserts into it',
    given: [table],
    first: 'ALTER TABLE t ADD COLUMN further INTEGER',
    second: 'INSERT INTO t VALUES (1, 1)',
    refusal:
      /attempting to insert into table with index "\d+" - but another transaction has altered it/,
    after: [all, []],
  },
  {
    title: 'one merges the files of a table, the other deletes from it',
    given: filled,
    first: `CALL ducklake_merge_adjacent_files('lake', 't')`,
    second: 'DELETE FROM t WHERE id = 1',
    refusal:
      /attempting to delete from table with index "\d+" - but another transaction has compacted it/,
    after: [
      all,
      [
        [1, 1],
        [2, 2],
      ],
    ],
  },
  {
    title: 'an insert beside a merge of files',
    given: filled,
    first: `CALL ducklake_merge_adjacent_files('lake', 't')`,
    second: 'INSERT INTO t VALUES (3, 3)',
    refusal: null,
    after: [
      all,
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    ],
  },
  {
    title: 'builds of two tables',
    given: [],
    first: 'CREATE OR REPLACE TABLE t AS SELECT 1 AS id, 1 AS n',
    second: 'CREATE OR REPLACE TABLE t_other AS SELECT 2 AS id, 2 AS n',
    refusal: null,
    after: [
      'FROM t UNION ALL FROM t_other',
      [
        [1, 1],
        [2, 2],
      ],
    ],
  },
  {
    title: 'reading what the other writes',
    given: [...filled, 'CREATE TABLE t_other (id INTEGER, n INTEGER)'],
    first: 'DELETE FROM t',
    second: 'INSERT INTO t_other FROM t',
    refusal: null,
    after: [
      'FROM t_other ORDER BY ALL',
      [
        [1, 1],
        [2, 2],
      ],
    ],
  },
]

const onLake = testsSharing(async () => {
  await using resources = new Resources()
  const lake = resources.use(await withLake())
  const engines = [
    resources.use(await openRawEngine(lake)),
    resources.use(await openRawEngine(lake)),
  ]
  const [one, other] = await Promise.all(engines.map((engine) => engine.connect()))
  const all = resources.move()
  return { one: one!, other: other!, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() }
}, lakeTest)

for (const [i, { title, given, first, second, refusal, after }] of rows.entries())
  onLake(title, async ({ one, other }) => {
    const own = (text: string) =>
      text.replaceAll(/\bt(?=\b|_)|'t'/g, (found) => found.replace('t', `t${i}`))
    for (const statement of given) await one.run(own(statement))
    for (const [connection, statement] of [
      [one, first],
      [other, second],
    ] as const) {
      await connection.run('BEGIN')
      await connection.run(own(statement))
    }
    await one.run('COMMIT')
    if (refusal === null) await other.run('COMMIT')
    else {
      const message = await other.refusal('COMMIT')
      assert.match(
        message,
        /^TransactionContext Error: Failed to commit: .*Transaction conflict - /s,
      )
      const expected = new RegExp(refusal.source.replaceAll('"t"', `"t${i}"`))
      assert.match(message, expected, message)
    }
    const [query, expected] = after
    assert.equal(await other.rows(own(query)), expected)
  })

lakeTest(
  'of three that swap one row beside inserts, none loses a swap or makes one twice',
  async () => {
    await using lake = await withLake()
    await using engine = await openRawEngine(lake)
    const first = await engine.connect()
    await first.run('CREATE TABLE head (seq INTEGER)')
    await first.run('INSERT INTO head VALUES (0)')
    await first.run('CREATE TABLE log (seq INTEGER)')
    const work = async () => {
      const connection = await engine.connect()
      let done = 0
      while (done < 5) {
        try {
          await connection.run('BEGIN')
          const [[seq]] = (await connection.rows('SELECT seq FROM head')) as [[number]]
          await connection.run(`UPDATE head SET seq = ${seq + 1} WHERE seq = ${seq}`)
          await connection.run(`INSERT INTO log VALUES (${seq + 1})`)
          await connection.run('COMMIT')
          done += 1
        } catch (error) {
          if (!/Transaction conflict - /.test(String(error))) throw error
          // A COMMIT that failed has ended the transaction.
          await connection.run('ROLLBACK').catch(() => undefined)
        }
      }
    }
    await Promise.all([work(), work(), work()])
    assert.equal(await first.rows('SELECT seq FROM head'), [[15]])
    assert.equal(
      await first.rows('SELECT seq FROM log ORDER BY seq'),
      Array.from({ length: 15 }, (_, i) => [i + 1]),
    )
  },
)

test.run()
