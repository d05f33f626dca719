// A table by times that several steps lead to reads all rows of these times, also the last ones.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

const steps = {
  'a month, then a week': "date_trunc('week', time_bucket(INTERVAL '1 month', ts))",
  'a month, then days': "time_bucket(INTERVAL '9 days', date_trunc('month', ts))",
  'a year': 'year(ts)::SMALLINT',
  'a week, then a month': "date_trunc('month', date_trunc('week', ts))",
}

for (const [name, expression] of Object.entries(steps))
  test(name, async () => {
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const select = `SELECT ${expression} AS w, sum(amount) AS a FROM core.log GROUP BY 1`
    const project = await compileTexts({
      'raw.log': '-- @kind: events\nid BIGINT NOT NULL,\nts TIMESTAMP,\namount INTEGER,\nn INTEGER',
      'core.log':
        '-- @kind: merge\n-- @unique_key: id\n-- @on_duplicate: latest(n)\nSELECT * FROM raw.log',
      'mart.sums': select,
      'mart.same': `-- @kind: view\n${select}`,
    })
    const run = async () => {
      const openClaims = () => Promise.resolve(claims)
      const { ok, models } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
      assert.ok(ok, JSON.stringify(models))
    }
    const days = ['01-01', '03-01', '03-02', '03-15', '03-29', '03-30', '03-31', '04-01', '12-31']
    const log = (amount: number, id = 0) =>
      claims.add('raw.log', [
        { id, ts: `${2015 + (id % 2)}-${days[id]} 23:59:59.999999`, amount, n: amount },
      ])
    for (const id of days.keys()) await log(2 ** id, id)
    await run()
    for (const id of days.keys()) {
      await log(1000 + 2 ** id, id)
      await run()
      const sums = (table: string) =>
        space.rows(
          sql`SELECT w::VARCHAR AS w, a::INTEGER AS a FROM ${sql.relation(table)} ORDER BY w`,
        )
      assert.equal(await sums('mart.sums'), await sums('mart.same'), days[id])
    }
  })

test.run()
