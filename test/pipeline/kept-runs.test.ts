// How far back the record of runs goes.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { openProject } from '../support/pipeline-project.ts'
import { query } from '../support/handmade-models.ts'

test('a run drops the record of the oldest run when there are too many', async () => {
  await using space = await openProject()
  const models = [query('a.t', 'select 1 as v')]
  await space.ok(models)
  {
    await using database = await Database.open({ path: space.paths.database })
    await using connection = await database.connect()
    await connection.run(sql`
      INSERT INTO _eider.runs SELECT 'run ' || i, started_at - i * INTERVAL 1 MINUTE, finished_at, ok, summary
      FROM _eider.runs, range(1, ${sql.value(limits.keptRuns)}) AS t(i)`)
  }
  await space.ok(models)
  const [kept] = await space.rows(sql`
    SELECT count(*)::INTEGER AS runs, count(*) FILTER (run_id LIKE 'run %')::INTEGER AS old,
      bool_or(run_id = ${sql.value(`run ${limits.keptRuns - 1}`)}) AS oldest FROM _eider.runs`)
  assert.equal(kept, { runs: limits.keptRuns, old: limits.keptRuns - 2, oldest: false })
})

test.run()
