import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compile } from '../../src/compiler/compile.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { loadProject } from '../../src/project/load.ts'
import { openProject, type TestProject, resultOf } from '../support/pipeline-project.ts'

async function compiled(space: TestProject) {
  const { files } = await loadProject(space.dir, { env: {}, flags: {} })
  return [...(await compile(files, { dir: space.dir })).models.values()]
}

test('types beside a seed: a CSV is read with them, other formats are cast', async () => {
  await using space = await openProject()
  await space.write('eider.yml', 'name: s\n')
  await space.write('seeds/ref/a.csv', 'id,Zip,at\n1,007,2024-01-02\n')
  await space.write('seeds/ref/a.yml', 'columns:\n  zip: VARCHAR\n  id: DECIMAL(10,2)\n')
  await space.write('seeds/ref/b.json', '[{"id": "7", "7": 1}]')
  await space.write('seeds/ref/b.yaml', "columns: {id: 'INTEGER', 7: VARCHAR}\n")
  await space.write('seeds/ref/empty.csv', 'id\n1\n')
  await space.write('seeds/ref/empty.yml', '# nothing yet\n')
  await mkParquet(space)
  await space.write('seeds/ref/c.yml', 'columns:\n  n: BIGINT\n')
  const models = await compiled(space)
  await space.ok(models)
  const types = await space.rows(sql`
    SELECT table_name || '.' || column_name || ' ' || data_type AS "column" FROM duckdb_columns()
    WHERE schema_name = 'ref' ORDER BY 1`)
  assert.equal(
    types.map(({ column }) => column),
    [
      'a.Zip VARCHAR',
      'a.at DATE',
      'a.id DECIMAL(10,2)',
      'b.7 VARCHAR',
      'b.id INTEGER',
      'c.n BIGINT',
      'empty.id BIGINT',
    ],
  )
  assert.equal(await space.rows(sql`SELECT zip FROM ref.a`), [{ Zip: '007' }])
  assert.equal(
    models.find(({ name }) => name === 'ref.a')?.columns.map(({ type }) => type),
    ['DECIMAL(10,2)', 'VARCHAR', 'DATE'],
  )
})

test('a type that is changed reads the seed again; values that do not fit fail it', async () => {
  await using space = await openProject()
  await space.write('eider.yml', 'name: s\n')
  await space.write('seeds/ref/a.json', '[{"id": 1}, {"id": 300}]')
  await space.ok(await compiled(space))
  await space.write('seeds/ref/a.yml', 'columns:\n  id: VARCHAR\n')
  const again = await space.ok(await compiled(space))
  assert.is(resultOf(again, 'ref.a').because, 'definition changed')
  await space.write('seeds/ref/a.yml', 'columns:\n  id: TINYINT\n')
  const failed = await space.run(await compiled(space))
  assert.match(resultOf(failed, 'ref.a').because, /^seeds\/ref\/a\.json: .*300/)
  assert.equal(await space.rows(sql`FROM ref.a ORDER BY id`), [{ id: '1' }, { id: '300' }])
})

async function mkParquet(space: TestProject): Promise<void> {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const path = sql.value(space.path('seeds/ref/c.parquet'))
  await connection.run(sql`COPY (SELECT 1::INTEGER AS n) TO ${path} (FORMAT parquet)`)
}

test.run()
