// Tables that another tool has made in the warehouse, and models that continue them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const FILE = 'made.duckdb'

const files = {
  'eider.yml': `name: s\ndatabase: ${FILE}\n`,
  'seeds/raw/s.csv': 'id,status\n2,paid\n3,open\n',
  'models/core/m.sql': '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nFROM raw.s\n',
  'models/core/h.sql': '-- @kind: scd2\n-- @unique_key: id\n-- @deletes: keep\nFROM raw.s\n',
  'models/core/t.sql': 'FROM raw.s\n',
}

async function asOtherTool(space: Workspace, statement: Sql): Promise<void> {
  await using database = await Database.open({ path: space.path(FILE) })
  await using connection = await database.connect()
  await connection.run(statement)
}

const rows = async (space: Workspace, query: string) =>
  (await space.ok(['query', '--format', 'csv', query])).stdout.replaceAll('\r', '')

const SCHEMA = sql`CREATE SCHEMA core;`

test('of a model whose input does not compile, the mistake is said', async () => {
  await using space = await workspace({
    ...files,
    'models/core/bad.sql': 'SELECT idd FROM raw.s\n',
    'models/core/m.sql': '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nFROM core.bad\n',
  })
  await asOtherTool(space, sql`${SCHEMA} CREATE TABLE core.m AS SELECT 1::INTEGER AS id`)
  const { stderr } = await space.ok(['adopt', 'core.m'], { exitCode: 1 })
  assert.match(stderr, /models\/core\/bad\.sql:1:8 error sql-binding: .*"idd"/)
  assert.match(stderr, '\n1 error\n')
  // The same mistake, for whoever runs or tests the reader alone.
  const ran = await space.ok(['run', 'core.m'], { exitCode: 1 })
  assert.match(ran.stderr, /models\/core\/bad\.sql:1:8 error sql-binding/)
})

test('a merge continues the rows of the table', async () => {
  await using space = await workspace(files)
  await asOtherTool(
    space,
    sql`${SCHEMA} CREATE TABLE core.m AS
    SELECT * FROM (VALUES ('shipped', 1::INTEGER), ('open', 2)) t(status, id)`,
  )
  assert.match(
    (await space.ok(['run'], { exitCode: 1 })).stderr.replaceAll(/\s+/g, ' '),
    'that no run created; to keep its rows: eider adopt core.m; otherwise rename it',
  )
  const dry = await space.ok(['adopt', 'core.m', '--dry-run'])
  assert.is(dry.stdout, 'would adopt core.m (merge, 2 rows)\n')
  assert.match((await space.ok(['run'], { exitCode: 1 })).stderr, 'that no run created')
  assert.is((await space.ok(['adopt', 'core.m'])).stdout, 'adopted core.m (merge, 2 rows)\n')
  assert.match((await space.ok(['run'])).stdout, /built +core\.m .*\(rows were adopted\)/)
  assert.is(
    await rows(space, 'SELECT id, status FROM core.m ORDER BY id'),
    'id,status\n1,shipped\n2,paid\n3,open\n',
  )
  assert.match(
    (await space.ok(['odata', 'preview', 'core_m?$count=true'])).stdout,
    '"@odata.count":3',
  )
  const again = await space.ok(['adopt', 'core.m'], { exitCode: 2 })
  assert.match(again.stderr, 'a run has made core.m already')
})

test('a snapshot of dbt keeps its history, and goes on', async () => {
  await using space = await workspace(files)
  await asOtherTool(
    space,
    sql`${SCHEMA} CREATE TABLE core.h AS SELECT * FROM (VALUES
    (1::BIGINT, 'open', 'a', TIMESTAMP '2026-01-02', TIMESTAMP '2026-01-02', TIMESTAMP '2026-01-05'),
    (1, 'gone', 'b', TIMESTAMP '2026-01-05', TIMESTAMP '2026-01-05', NULL),
    (2, 'open', 'c', TIMESTAMP '2026-01-02', TIMESTAMP '2026-01-02', NULL)
    ) t(id, status, dbt_scd_id, dbt_updated_at, dbt_valid_from, dbt_valid_to)`,
  )
  const { stdout } = await space.ok(['adopt', 'core.h', '--json'])
  assert.equal(JSON.parse(stdout), {
    event: 'adopted',
    model: 'core.h',
    kind: 'scd2',
    rows: 3,
    changes: [
      'valid_from is dbt_valid_from',
      'valid_from becomes TIMESTAMP WITH TIME ZONE, read as UTC',
      'valid_to is dbt_valid_to',
      'valid_to becomes TIMESTAMP WITH TIME ZONE, read as UTC',
      'dbt_scd_id is left out',
      'dbt_updated_at is left out',
      'is_current is true where valid_to is NULL',
    ],
    dry_run: false,
  })
  await space.ok(['run'])
  const history = await rows(
    space,
    `SELECT id, status, valid_from < '2026-01-06' AS old, is_current FROM core.h ORDER BY id, valid_from`,
  )
  assert.is(
    history,
    [
      'id,status,old,is_current',
      '1,open,true,false',
      '1,gone,true,true',
      '2,open,true,false',
      '2,paid,false,true',
      '3,open,false,true',
      '',
    ].join('\n'),
  )
})

for (const [end, ended] of [
  [sql`TIMESTAMP '9999-12-31'`, sql`TIMESTAMP '2026-01-05'`],
  // Rows from before the setting have NULL.
  [sql`TIMESTAMP '9999-12-31'`, sql`NULL`],
  [sql`TIMESTAMP 'infinity'`, sql`TIMESTAMP '2026-01-05'`],
] as const)
  test(`a far date is no end of a version: ${end.inline()}, ${ended.inline()}`, async () => {
    await using space = await workspace(files)
    await asOtherTool(
      space,
      sql`${SCHEMA} CREATE TABLE core.h AS SELECT * FROM (VALUES
      (2::BIGINT, 'open', 'a', TIMESTAMP '2026-01-02', ${end}),
      (3, 'open', 'b', TIMESTAMP '2026-01-03', ${ended}),
      (4, 'gone', 'c', TIMESTAMP '2026-01-03', TIMESTAMP '2026-01-04')
      ) t(id, status, dbt_scd_id, dbt_valid_from, dbt_valid_to)`,
    )
    const { stdout } = await space.ok(['adopt', 'core.h'])
    assert.match(stdout, /valid_to \S+( \S+)? stands for no end, and becomes NULL/)
    await space.ok(['run'])
    const isEnded = ended.inline() !== 'NULL'
    assert.is(
      await rows(
        space,
        `SELECT id, status, is_current, valid_to IS NULL AS open, count(*) AS n FROM core.h GROUP BY ALL ORDER BY ALL`,
      ),
      [
        'id,status,is_current,open,n',
        '2,open,false,false,1',
        '2,paid,true,true,1',
        ...(isEnded ? ['3,open,false,false,1'] : []),
        '3,open,true,true,1',
        '4,gone,false,false,1',
        '',
      ].join('\n'),
    )
  })

test('a version that ended before now has an end, whatever it is', async () => {
  await using space = await workspace(files)
  await asOtherTool(
    space,
    sql`${SCHEMA} CREATE TABLE core.h AS SELECT 7::BIGINT AS id, 'gone' AS status,
      TIMESTAMP '2026-01-02' AS dbt_valid_from, TIMESTAMP '2026-01-05' AS dbt_valid_to`,
  )
  assert.not.match((await space.ok(['adopt', 'core.h'])).stdout, 'no end')
  assert.is(await rows(space, 'SELECT is_current FROM core.h'), 'is_current\nfalse\n')
})

test('a period model continues its table: only the lookback is rebuilt, and its rows count as its own', async () => {
  await using space = await workspace({
    ...files,
    'seeds/raw/o.csv': 'day,v\n2026-03-01,1\n2026-03-09,2\n2026-03-10,3\n',
    'models/core/p.sql':
      '-- @kind: period\n-- @period: day of day lookback 1 day\nSELECT day, sum(v)::INTEGER AS v FROM raw.o GROUP BY ALL\n',
  })
  const table = sql`SELECT * FROM (VALUES
    (DATE '2026-02-01', 70), (DATE '2026-03-01', 80), (DATE '2026-03-10', 90)) t(day, v)`
  await asOtherTool(
    space,
    sql`${SCHEMA} CREATE TABLE core.p AS FROM (${table}) UNION ALL SELECT NULL, 1`,
  )
  const refused = await space.ok(['adopt', 'core.p'], { exitCode: 2 })
  assert.match(refused.stderr, 'core.p: "day" is NULL in 1 row of the table')
  await asOtherTool(space, sql`CREATE OR REPLACE TABLE core.p AS ${table}`)
  assert.is((await space.ok(['adopt', 'core.p'])).stdout, 'adopted core.p (period, 3 rows)\n')
  const plan = await space.ok(['plan'])
  assert.match(plan.stdout, 'rebuilds 2026-03-09 and later: lookback 1 day')
  const run = await space.ok(['run'])
  assert.not.match(run.stdout + run.stderr, 'older rule|made before')
  const days = () => rows(space, 'SELECT day::VARCHAR AS day, v FROM core.p ORDER BY day')
  // The first of February is no longer in the source, that of March is other there.
  const after = 'day,v\n2026-02-01,70\n2026-03-01,80\n2026-03-09,2\n2026-03-10,3\n'
  assert.is(await days(), after)
  assert.match((await space.ok(['run'])).stdout, 'unchanged')
  await space.ok(['run', 'core.p', '--start', '2026-03-01', '--end', '2026-03-02'])
  assert.is(await days(), after.replace(',80', ',1'))
})

test('rows that another tool made count as those of the model', async () => {
  await using space = await workspace(files)
  await asOtherTool(
    space,
    sql`${SCHEMA} CREATE TABLE core.m AS SELECT 1::BIGINT AS id, 'shipped' AS status`,
  )
  await space.ok(['adopt', 'core.m'])
  const { stdout, stderr } = await space.ok(['run'])
  assert.not.match(stdout + stderr, 'made before the rule')
})

test('what does not fit is named, and the table stays as it was', async () => {
  await using space = await workspace(files)
  const refused = async (name: string) => (await space.ok(['adopt', name], { exitCode: 2 })).stderr
  await asOtherTool(
    space,
    sql`${SCHEMA} CREATE TABLE core.m AS
    SELECT 1.5::DOUBLE AS id, 'x' AS note, 'y' AS state`,
  )
  const columns = await refused('core.m')
  assert.match(columns, 'the table has no "status" (VARCHAR)')
  assert.match(columns, '"id" is DOUBLE in the table and BIGINT in the model')
  assert.match(columns, 'the model has no "note" (VARCHAR)')
  await asOtherTool(
    space,
    sql`CREATE OR REPLACE TABLE core.m AS
    SELECT * FROM (VALUES (1::BIGINT, 'a'), (1, 'b'), (NULL, 'c')) t(id, status)`,
  )
  const keys = await refused('core.m')
  assert.match(keys, 'NULL or duplicate keys: id = NULL (1 rows); id = 1 (2 rows)')
  await asOtherTool(space, sql`CREATE TABLE core.h AS SELECT 1::BIGINT AS id, 'a' AS status`)
  assert.match(await refused('core.h'), 'neither a column valid_from nor dbt_valid_from')
  await asOtherTool(
    space,
    sql`CREATE OR REPLACE TABLE core.h AS SELECT 1::BIGINT AS id, 'a' AS status, 'True' AS dbt_is_deleted,
      TIMESTAMP '2026-01-02' AS dbt_valid_from, NULL::TIMESTAMP AS dbt_valid_to`,
  )
  const deleted = await refused('core.h')
  assert.match(deleted, 'the model has no "dbt_is_deleted" (VARCHAR)')
  assert.match(deleted, "DELETE FROM core.h WHERE dbt_is_deleted = 'True'; ALTER TABLE core.h DROP")
  assert.match(await refused('core.t'), 'is of kind table')
  assert.match(await refused('core.n'), 'the project has no model "core.n"')
  assert.is(await rows(space, 'SELECT count(*) AS n FROM core.m'), 'n\n3\n')
})

test.run()
