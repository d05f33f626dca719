// What services get is the same from a lake as from a file: each row, in the same order, under the same names, types and
// keys.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MANIFEST_FILE, parseManifest, type PublishedRelation } from '../../src/core/snapshot.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { textOf } from '../../src/duckdb/values.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const values = `SELECT * FROM (VALUES
  (3, 'nan'::DOUBLE, 9007199254740993::HUGEINT, [{'a': '-0'::DOUBLE, 'b': [NULL, 'x, y']}], 'b'::ENUM ('b', 'a'), TIMESTAMPTZ '2026-02-03 04:05:06.789012+05', 'Ä'),
  (1, '-inf'::DOUBLE, NULL, [], 'a'::ENUM ('b', 'a'), NULL, 'a'),
  (2, -0.0::DOUBLE, -1::HUGEINT, NULL, NULL, TIMESTAMPTZ 'infinity', '')
) t(id, d, h, n, e, made_at, s)`

const files = {
  'seeds/core/countries.csv': 'code,name\nch,Switzerland\njp,日本\nan,\n',
  'models/core/odd.sql': `-- @expose id\n${values}\n`,
  'models/core/keyless.sql': "-- @expose\nSELECT i % 7 AS a, 'x' || i AS b FROM range(5000) t(i)\n",
  'models/core/text_key.sql':
    '-- @expose code\n-- @description Countries, by code\nSELECT code, name FROM core.countries\n',
  'models/core/view.sql':
    '-- @kind: view\n-- @expose id\nSELECT id, h * 2 AS twice FROM core.odd\n',
  'models/core/merged.sql':
    '-- @kind: merge\n-- @unique_key: id, a\n-- @expose id, a\nSELECT i AS id, i % 3 AS a, i * 0.1::DECIMAL(9, 2) AS n FROM range(4000, 0, -1) t(i)\n',
}

/** All but where it lies, when it was made, and how large the file is. */
const described = ({ file: _file, bytes: _bytes, ...rest }: PublishedRelation) => rest

async function publishedBy(space: Workspace): Promise<readonly unknown[]> {
  const path = (name: string) => space.path('.eider', 'snapshots', name)
  const { relations } = parseManifest(await readFile(path(MANIFEST_FILE), 'utf8'))
  return Promise.all(
    relations.map(async (relation) => {
      await using database = await Database.open({ path: path(relation.file), readOnly: true })
      await using connection = await database.connect()
      const [table] = await connection.rows(sql`SELECT table_name AS name FROM duckdb_tables()`)
      // As they lie there, since pages without a key come in that order.
      const rows = await connection.texts(
        sql`SELECT to_json(t)::VARCHAR AS row FROM ${sql.ident(textOf(table?.['name']))} AS t`,
      )
      return { ...described(relation), rows }
    }),
  )
}

lakeTest('a lake publishes what a file does', async () => {
  await using lake = await withLake()
  await using file = await workspace({ 'eider.yml': 'name: shop\n', ...files })
  await using runner = await lakeProject(lake, files)
  await file.ok(['run'])
  await runner.ok(['run'])
  await runner.ok(['pull'])
  const expected = await publishedBy(file)
  assert.is(expected.length, 5)
  assert.equal(await publishedBy(runner), expected)
})

test.run()
