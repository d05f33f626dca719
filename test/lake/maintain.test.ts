// `eider maintain` on a lake with runs, collected events and leftovers.

import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { mistakes, schemaOf } from '../support/json-schema.ts'
import { age } from '../support/lake/age.ts'
import { lakeTest, rightsTest } from '../support/lake/lake-test.ts'
import { openLargeStore } from '../support/lake/large-store.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { openRawEngine } from '../support/lake/raw-engine.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'

const models = {
  'models/mart/days.sql':
    '-- @kind: append\n-- @incremental: made_at\nSELECT now() AS made_at, 1 AS n\n',
  'models/mart/total.sql': 'SELECT count(*) AS n FROM mart.days\n',
}

interface Report {
  readonly tables: readonly {
    readonly table: string
    readonly files_before: number
    readonly files_after: number
  }[]
  readonly states_dropped: number
  readonly states_kept: number
  readonly files_deleted: number
  readonly records_deleted: number
}

const { $defs: events = {} } = schemaOf('events')

function reportOf(stdout: string): Report {
  const report = JSON.parse(stdout) as Report
  assert.equal(mistakes(events['maintained']!, report), [])
  return report
}

lakeTest('files are merged and old states dropped, and the rows are those of before', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, models)
  for (let i = 0; i < 3; i++) await project.ok(['run'])
  const before = (await project.ok(['query', 'FROM mart.days ORDER BY made_at', '--json'])).stdout
  await age(lake)

  const objects = await objectsOf(lake)
  const dry = reportOf((await project.ok(['maintain', '--dry-run', '--json'])).stdout)
  const days = dry.tables.find(({ table }) => table === 'mart.days')
  assert.is(days?.files_before, 3)
  assert.ok(dry.states_dropped > 4)
  assert.equal(await objectsOf(lake), objects)

  const report = reportOf((await project.ok(['maintain', '--json'])).stdout)
  const merged = report.tables.find(({ table }) => table === 'mart.days')
  assert.equal([merged?.files_before, merged?.files_after], [3, 1])
  assert.ok(report.states_dropped >= dry.states_dropped)
  assert.ok(report.records_deleted > 0)
  // What this run made unused is younger than keep_days. The one is what the first run tried the store with.
  assert.is(report.files_deleted, 1)
  assert.is(
    (await project.ok(['query', 'FROM mart.days ORDER BY made_at', '--json'])).stdout,
    before,
  )
  await project.ok(['run'])
  assert.match((await project.ok(['query', 'SELECT count(*) AS n FROM mart.days'])).stdout, /4/)
})

rightsTest('what nothing names is deleted, however many pages its list has', async () => {
  await using lake = await withLake()
  await using store = await openLargeStore()
  const { settings, env } = store.placeOf(lake)
  await using project = await lakeProject({ ...lake, settings }, models, env)
  await project.ok(['run'])
  const directory = join(store.directory, lake.database, 'left')
  mkdirSync(directory)
  const old = new Date('2020-01-01')
  for (let i = 0; i < 1_100; i++) {
    const path = join(directory, `${i}.parquet`)
    writeFileSync(path, 'PAR1')
    utimesSync(path, old, old)
  }
  const { files_deleted: deleted } = reportOf((await project.ok(['maintain', '--json'])).stdout)
  assert.is(deleted, 1_100)
  assert.match((await project.ok(['query', 'FROM mart.total'])).stdout, /^1$/m)
})

lakeTest('what nothing names is deleted when it is old, and nothing that is named', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, models)
  for (let i = 0; i < 2; i++) await project.ok(['run'])
  await project.ok(['maintain'])
  await leave(lake, 'old-left-over')
  await age(lake)
  await leave(lake, 'young-left-over')
  const { files_deleted: deleted } = reportOf((await project.ok(['maintain', '--json'])).stdout)
  const objects = (await objectsOf(lake)).join('\n')
  assert.match(objects, /young-left-over/)
  assert.not.match(objects, /old-left-over/)
  // With both files of before the merge, and the one with which the first run tried the store. What a state of then names is deleted keep_days after the state.
  assert.is(deleted, 4)
  assert.match((await project.ok(['query', 'SELECT count(*) AS n FROM mart.days'])).stdout, /2/)
})

lakeTest('states that services may still ask for are kept, and pulled', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, {
    'models/mart/days.sql': `-- @expose made_at\n${models['models/mart/days.sql']}`,
  })
  for (let i = 0; i < 2; i++) await project.ok(['run'])
  await age(lake)
  const report = reportOf((await project.ok(['maintain', '--json'])).stdout)
  assert.ok(report.states_dropped > 4)
  await using service = await lakeProject(lake, {})
  await service.ok(['pull'])
  const kept = readdirSync(service.path('.eider', 'snapshots')).filter((name) =>
    name.startsWith('manifest-'),
  )
  assert.is(kept.length, 2)
})

lakeTest('it is refused before the first run, of a lake and of a file', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, models)
  const missing = await project.ok(['maintain'], { exitCode: 3 })
  assert.match(missing.stderr, /there is no lake yet/)
  assert.equal(await lake.postgres(`SELECT 1 FROM pg_namespace WHERE nspname = 'shop'`), [])
  await project.write('eider.yml', 'name: shop\n')
  assert.match(
    (await project.ok(['maintain'], { exitCode: 3 })).stderr,
    /there is no warehouse yet/,
  )
})

lakeTest(
  'a catalog of an earlier version is named, and brought up to date when asked',
  async () => {
    await using lake = await withLake()
    await using project = await lakeProject(lake, models)
    await project.ok(['run'])
    const rows = async () => (await project.ok(['query', 'FROM mart.days', '--json'])).stdout
    const before = await rows()
    await lake.postgres(asVersion03)
    for (const command of ['maintain', 'run']) {
      const { stderr } = await project.ok([command], { exitCode: 3 })
      assert.match(
        stderr,
        /catalog of the lake has version 0\.3, and this eider works with 1\.0\n.*eider maintain --migrate/,
      )
    }
    reportOf((await project.ok(['maintain', '--migrate', '--json'])).stdout)
    const [[version] = []] = await lake.postgres(
      "SELECT value FROM shop.ducklake_metadata WHERE key = 'version'",
    )
    assert.is(version, '1.0')
    assert.is(await rows(), before)
    await project.ok(['run'])
    await project.ok(['maintain', '--migrate'])
    assert.is((await rows()).split('\n').length, before.split('\n').length + 1)
  },
)

/** What DuckLake does when it brings a catalog of version 0.3 up to date, taken back. */
const asVersion03 = `
  SET search_path = shop;
  DROP TABLE ducklake_macro, ducklake_macro_impl, ducklake_macro_parameters, ducklake_sort_info,
    ducklake_sort_expression, ducklake_file_variant_stats;
  ALTER TABLE ducklake_column DROP COLUMN default_value_type, DROP COLUMN default_value_dialect;
  ALTER TABLE ducklake_schema_versions DROP COLUMN table_id;
  DELETE FROM ducklake_schema_versions a USING ducklake_schema_versions b
    WHERE a.ctid > b.ctid AND a.schema_version = b.schema_version;
  ALTER TABLE ducklake_data_file DROP COLUMN partial_max, ADD COLUMN partial_file_info VARCHAR;
  ALTER TABLE ducklake_delete_file DROP COLUMN partial_max;
  UPDATE ducklake_metadata SET value = '0.3' WHERE key = 'version'`

/** What a transaction that was rolled back leaves behind. */
async function leave(lake: TestLake, name: string): Promise<void> {
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  await connection.run(`COPY (SELECT 1 AS n) TO '${lake.data}mart/days/ducklake-${name}.parquet'`)
}

async function objectsOf(lake: TestLake): Promise<readonly string[]> {
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  const rows = await connection.rows(`SELECT file FROM glob('${lake.data}**') ORDER BY file`)
  return rows.map(([file]) => String(file))
}

test.run()
