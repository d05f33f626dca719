// Every refusal of a run: its words with file, line and column, the tables as they were, and the same words from a plan.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Model } from '../../../src/core/model.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import {
  runDefaults,
  type TestProject,
  openProject,
  resultOf,
} from '../../support/pipeline-project.ts'
import { type PlanGiven, planned, stepOf } from '../../support/plans.ts'

interface Refusal {
  readonly before: Texts
  /** Laid over `before`. */
  readonly after: Texts
  readonly given?: PlanGiven
  /** What is said of mart.t. */
  readonly says: string
  /** Only the rows tell, so a plan without a diff does not. */
  readonly shownBy?: 'rows'
}

const source = "select 1 as id, 2::integer as v, timestamp '2026-01-01' as ts"
const kept = (header: string, columns = 'id, v, ts') => `${header}\nselect ${columns} from raw.s`
const append = '-- @kind: append\n-- @incremental: ts'
const merge = '-- @kind: merge\n-- @unique_key: id'
const mirror = `${merge}\n-- @deletes: mirror`
const scd2 = '-- @kind: scd2\n-- @unique_key: id'
const table = (header = '') => `${header}select id, v, ts from raw.s`

const given = (target: string): Texts => ({ 'raw.s': source, 'mart.t': target })
const twice = `${source} union all select 1, 3, timestamp '2026-01-02'`
const lost =
  'mart.t holds rows that its source may no longer have; as kind table it would lose them; to drop them: eider run mart.t --full-refresh'
const inSelect =
  'filter them in the SELECT, or keep one row of each key with @on_duplicate: latest(column)'

const refusals: Readonly<Record<string, Refusal>> = {
  'a NULL in the watermark': {
    before: given(kept(append)),
    after: { 'raw.s': 'select 2 as id, 2::integer as v, null::timestamp as ts' },
    says: 'models/mart/t.sql:2:4: 1 row has NULL in the watermark column "ts"; filter or fill them in the SELECT',
    shownBy: 'rows',
  },
  'two rows with one key of a merge': {
    before: given(kept(merge)),
    after: { 'raw.s': twice },
    says: `models/mart/t.sql:2:4: duplicate keys: id = 1 (2 rows); ${inSelect}`,
    shownBy: 'rows',
  },
  'two rows with one key of an append': {
    before: given(kept(`${append}\n-- @unique_key: id`)),
    after: { 'raw.s': twice.replaceAll('1 as id', '2 as id').replace('select 1,', 'select 2,') },
    says: 'models/mart/t.sql:3:4: duplicate keys: id = 2 (2 rows); filter them in the SELECT',
    shownBy: 'rows',
  },
  'a NULL key of scd2': {
    before: given(kept(scd2)),
    after: { 'raw.s': source.replace('1 as id', 'null::integer as id') },
    says: `models/mart/t.sql:2:4: NULL or duplicate keys: id = NULL (1 rows); ${inSelect}`,
    shownBy: 'rows',
  },
  'two rows with one exposed key': {
    before: given(table('-- @expose: id\n')),
    after: { 'raw.s': twice },
    says: 'models/mart/t.sql:1:4: duplicate keys: id = 1 (2 rows); expose a key that is unique for each row, or none: @expose',
    shownBy: 'rows',
  },
  'an empty source of a mirror': {
    before: given(kept(mirror)),
    after: { 'raw.s': `${source} where false` },
    says: 'models/mart/t.sql:3:4: the SELECT gives no rows, so @deletes: mirror would delete all 1 of the table; if that is meant, run with --allow-empty',
    shownBy: 'rows',
  },
  'a column that is gone': {
    before: given(kept(append)),
    after: given(kept(append, 'id, ts')),
    says: 'models/mart/t.sql:1:4: the model no longer has "v", which the table holds; if "v" has another name now, write -- @renamed_from NEW: v, or run eider mv mart.t.v mart.t.NEW; to keep it in the rows that have it, write -- @on_schema_change: keep; otherwise rebuild the table: eider run mart.t --full-refresh',
  },
  'a narrower column': {
    before: given(kept(merge)),
    after: given(kept(merge, 'id, v::smallint as v, ts')),
    says: 'models/mart/t.sql:3:12: column "v" cannot change from INTEGER to SMALLINT without losing values; to keep the rows, keep the type of the table: CAST(v AS INTEGER); to take the new type, rebuild the table, which keeps only rows that the SELECT still gives: eider run mart.t --full-refresh',
  },
  'a DECIMAL that does not hold all integers': {
    before: given(kept(scd2)),
    after: given(kept(scd2, 'id, v::decimal(8,2) as v, ts')),
    says: 'models/mart/t.sql:3:12: column "v" cannot change from INTEGER to DECIMAL(8,2) without losing values; to keep the rows, take a type that holds both: CAST(v AS DECIMAL(12,2)); otherwise rebuild the table, which ends its history: eider run mart.t --full-refresh',
  },
  'a new column under @on_schema_change: fail': {
    before: given(kept(`${scd2}\n-- @on_schema_change: fail`)),
    after: given(kept(`${scd2}\n-- @on_schema_change: fail`, '*, 1 as w')),
    says: 'models/mart/t.sql:3:4: the columns changed (new "w") and @on_schema_change is fail; rebuild the table: eider run mart.t --full-refresh',
  },
  'a rebuild that would lose rows': {
    before: given(kept(`${append}\n-- @on_schema_change: rebuild`)),
    after: given(kept(`${append}\n-- @on_schema_change: rebuild`, '*, 1 as w')),
    says: 'models/mart/t.sql:3:4: the columns changed (new "w"); the table holds rows that its source may no longer have, so it is rebuilt only when asked: eider run mart.t --full-refresh',
  },
  'a watermark that the table does not have': {
    before: given(kept(append)),
    after: given(kept('-- @kind: append\n-- @incremental: day', '*, ts::date as day')),
    says: 'models/mart/t.sql:2:4: the table has no column "day" to continue from; rebuild it: eider run mart.t --full-refresh',
  },
  'an append that becomes a table': {
    before: given(kept(append)),
    after: given(table()),
    says: `models/mart/t.sql:1:1: ${lost}`,
  },
  'a merge that becomes a table': {
    before: given(kept(merge)),
    after: given(table('-- @kind: table\n')),
    says: `models/mart/t.sql:1:4: ${lost}`,
  },
  'a scd2 that becomes a table': {
    before: given(kept(scd2)),
    after: given(table('-- @kind: table\n')),
    says: 'models/mart/t.sql:1:4: mart.t holds the history of its rows; as kind table it would lose them; to drop them: eider run mart.t --full-refresh',
  },
  'events that become a table': {
    before: given('-- @kind: events\nid integer'),
    after: given(table('-- @kind: table\n')),
    says: 'models/mart/t.sql:1:4: mart.t holds events that were collected, and no flag drops them; give the model another name, or drop the table yourself',
  },
  'a type that a seed without rows would have': {
    before: given(kept(merge)),
    after: { 'raw.s': source.replace('2::integer', "'2'") },
    says: 'models/mart/t.sql:3:12: column "v" cannot change from INTEGER to VARCHAR without losing values; if it comes from a seed without rows, declare its type in the .yml next to the seed; otherwise rebuild the table: eider run mart.t --full-refresh',
  },
  'a narrower field of events': {
    before: given('-- @kind: events\nid integer'),
    after: given('-- @kind: events\nid smallint'),
    says: 'models/mart/t.sql:2:4: column "id" cannot change from INTEGER to SMALLINT without losing values; give the column another name, or keep its type',
  },
  'a field of events that becomes a DECIMAL': {
    before: given('-- @kind: events\nid integer'),
    after: given('-- @kind: events\nid decimal(8,2)'),
    says: 'models/mart/t.sql:2:4: column "id" cannot change from INTEGER to DECIMAL(8,2) without losing values; give it the type DECIMAL(12,2), which holds both, or give the column another name',
  },
  'a check that does not hold': {
    before: given(table('-- @check: v < 3\n')),
    after: { 'raw.s': source.replace('2::integer', '7::integer') },
    says: "models/mart/t.sql:1:4: v < 3 does not hold for 1 row: {'id': 1, 'v': 7, 'ts': '2026-01-01 00:00:00'}",
    shownBy: 'rows',
  },
  'an error of the engine': {
    before: given(table()),
    after: given("select id, v, ts\nfrom raw.s where error('no') is null"),
    says: 'models/mart/t.sql:2:18: no',
    shownBy: 'rows',
  },
}

const modelsOf = async (texts: Texts): Promise<readonly Model[]> => [
  ...(await compileTexts(texts)).models.values(),
]

/** All rows and columns of the target. */
const rowsOf = (space: TestProject) =>
  space.rows(sql`SELECT row_to_json(t)::VARCHAR AS row FROM mart.t t`)

for (const [title, refusal] of Object.entries(refusals))
  test(title, async () => {
    const { before, after, given: options = {}, says, shownBy } = refusal
    await using space = await openProject()
    await space.ok(await modelsOf(before))
    const rows = await rowsOf(space)
    const models = await modelsOf({ ...before, ...after })
    for (const diff of [true, false]) {
      const plan = await planned(space, models, { ...options, diff })
      const expected = diff || shownBy === undefined ? says : null
      assert.is(stepOf(plan, 'mart.t').problem, expected, diff ? 'plan --diff' : 'plan')
    }
    const run = await space.run(models, options)
    assert.is(run.ok, false)
    const { status, because } = resultOf(run, 'mart.t')
    assert.equal([status, because], ['failed', says])
    assert.equal(await rowsOf(space), rows)
  })

test('a table that no run has made', async () => {
  await using space = await openProject()
  await space.ok(await modelsOf({ 'raw.s': source }))
  {
    await using database = await Database.open({ path: space.paths.database })
    await using connection = await database.connect()
    await connection.run(sql`CREATE SCHEMA mart`)
    await connection.run(sql`CREATE TABLE mart.t AS SELECT 7 AS id`)
  }
  const models = await modelsOf(given(table()))
  const says =
    'models/mart/t.sql:1:1: a table mart.t exists that no run created; rename it, or replace it: eider run mart.t --full-refresh'
  assert.is(stepOf(await planned(space, models), 'mart.t').problem, says)
  assert.is(resultOf(await space.run(models), 'mart.t').because, says)
  assert.equal(await space.rows(sql`FROM mart.t`), [{ id: 7 }])
  await space.ok(models, { ...runDefaults(space.paths), fullRefresh: true })
})

test.run()
