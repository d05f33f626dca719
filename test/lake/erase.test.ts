// `eider erase` on a lake: no object, no row of the catalog and no pulled file holds the value afterwards.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { findText } from '../support/find-text.ts'
import { findInLake } from '../support/lake/find-in-lake.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

const SECRET = 'Zz-Mathilde-7f3a'

/** With so many others that they do not all fit into the catalog. */
const people = (...rows: readonly string[]) => `SELECT * FROM (VALUES
  ${rows.join(',\n  ')}) t(id, customer, name)
UNION ALL SELECT 100 + range, 8, 'other ' || range FROM range(3000)\n`

const files = {
  'models/raw/people.sql': people(
    `(1, 7, '${SECRET}')`,
    "(2, 8, 'Olga')",
    `(3, 7, '${SECRET} again')`,
  ),
  'models/core/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT id, customer, name FROM raw.people\n',
  'models/core/history.sql':
    '-- @kind: scd2\n-- @unique_key: id\n-- @expose id, valid_from\nSELECT id, customer AS who, name FROM core.kept\n',
  'models/mart/names.sql': '-- @expose name\nSELECT DISTINCT name FROM core.kept\n',
  'models/mart/other.sql': '-- @expose n\nSELECT 1 AS n\n',
}

lakeTest('a person is in no object, in no table of the catalog and in no pulled file', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, files)
  await project.ok(['run'])
  await project.ok(['pull'])
  await project.write('models/raw/people.sql', people("(2, 8, 'Olga')", "(4, 9, 'Nils')"))
  await project.ok(['run'])
  await project.ok(['pull'])
  assert.ok((await findInLake(lake, SECRET)).length > 1)
  assert.ok((await findText(project.dir, SECRET)).length > 0)

  const { stdout, stderr } = await project.ok(['erase', 'core.kept', 'customer = 7'])
  assert.match(stdout, /erased +core\.kept +2 rows\n/)
  assert.match(stdout, /erased +core\.history +2 rows\n/)
  assert.match(stderr, 'events that wait in the buffers of other machines')
  assert.equal(await findInLake(lake, SECRET), [])
  assert.equal(await findText(project.dir, SECRET), [])

  const { stdout: rows } = await project.ok([
    'query',
    'SELECT name FROM core.kept WHERE id < 100 ORDER BY name',
    '--json',
  ])
  assert.is(rows, '{"name":"Nils"}\n{"name":"Olga"}\n')
  await using service = await lakeProject(lake, {})
  await service.ok(['pull'])
  assert.match((await service.ok(['query', 'FROM core.history WHERE id = 2'])).stdout, 'Olga')
  assert.match((await project.ok(['run'])).stdout, /5 unchanged/)
})

test.run()
