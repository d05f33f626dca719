// `eider erase` on a lake that is killed between its steps: the same command goes on with it, and then no object and no pulled
// file holds the value, nor what runs have said of it; bounds of columns that the catalog keeps are named.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { findText } from '../support/find-text.ts'
import { findInLake } from '../support/lake/find-in-lake.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

const files = {
  'models/raw/people.sql':
    "SELECT 2 AS id, 8 AS customer, 'Olga' AS name, DATE '2026-01-01' AS day\n",
  'models/core/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\n-- @deletes: keep\n-- @warn: length(name) < 9\nSELECT id, customer, name, day FROM raw.people\n',
  'models/core/history.sql':
    '-- @kind: scd2\n-- @unique_key: id\n-- @expose id, valid_from\nSELECT id, customer AS who, name FROM core.kept\n',
  'models/core/days.sql':
    '-- @kind: period\n-- @period: day of day\n-- @expose day, name\nSELECT day, name, count(*) AS n FROM core.kept GROUP BY ALL\n',
  'models/mart/names.sql': '-- @expose name\nSELECT DISTINCT name FROM core.kept\n',
}

const steps = ['committed', 'built', 'anchored'] as const

lakeTest('killed between its steps, the same command ends it', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, files)
  const child = fileURLToPath(new URL('../support/erase-child.js', import.meta.url))
  for (const [i, step] of steps.entries()) {
    const secret = `Zz-Mathilde-${i}`
    const more = `UNION ALL SELECT ${10 + i}, 7, '${secret}', DATE '2026-01-0${1 + i}'`
    await project.write('models/raw/people.sql', `${files['models/raw/people.sql']}${more}\n`)
    await project.ok(['run'])
    await project.ok(['pull'])
    await project.write('models/raw/people.sql', files['models/raw/people.sql'])
    await project.ok(['run'])
    await project.ok(['pull'])
    assert.ok((await findInLake(lake, secret)).length > 1)
    const args = [child, project.dir, 'core.kept', 'customer = 7', step]
    const env = { ...process.env, ...lake.env }
    const stdio = ['ignore', 'ignore', 'inherit'] as const
    const killed = spawn(process.execPath, args, { env, stdio: [...stdio] })
    const [, signal] = (await once(killed, 'close')) as [number | null, string | null]
    assert.is(signal, 'SIGKILL', `it was not killed after ${step}`)
    const { stdout, stderr } = await project.ok(['erase', 'core.kept', 'customer = 7'])
    assert.match(stdout, /erased +core\.kept +1 row\n/, step)
    const found = await findInLake(lake, secret)
    // DuckLake alone knows these bounds, and the command names the columns.
    const bounds = 'postgres ducklake_table_column_stats'
    assert.equal(
      found.filter((place) => place !== bounds),
      [],
      step,
    )
    if (found.includes(bounds))
      assert.match(stderr, /core\.\w+\.name.*: PostgreSQL keeps a smallest/)
    assert.equal(await findText(project.dir, secret), [], step)
    const { stdout: rows } = await project.ok(['query', 'FROM mart.names', '--json'])
    assert.is(rows, '{"name":"Olga"}\n', step)
  }
})

test.run()
