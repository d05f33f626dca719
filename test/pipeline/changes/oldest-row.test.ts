// The oldest row of a table that loses none by itself is corrected: what was made of it goes, though the table begins later.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

for (const kind of ['table', 'merge\n-- @unique_key: id\n-- @deletes: mirror'])
  test(`the oldest row is gone from periods: ${kind.split('\n')[0]}`, async () => {
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const project = await compileTexts({
      'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nseen_at TIMESTAMPTZ',
      'core.hits': `-- @kind: ${kind}\nSELECT id, max(seen_at) AS seen_at FROM raw.hits GROUP BY id`,
      'mart.daily': `-- @kind: period
-- @period: day of day
SELECT seen_at::DATE AS day, count(*) AS n FROM core.hits GROUP BY 1`,
    })
    const seen = async (id: number, day: number) =>
      await claims.add('raw.hits', [{ id, seen_at: `2026-11-${day}T01:00:00Z` }])
    const days = async () => {
      const openClaims = () => Promise.resolve(claims)
      const { ok, models } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
      assert.ok(ok, JSON.stringify(models))
      const found = await space.rows(
        sql`SELECT strftime(day, '%d') || ' ' || n AS text FROM mart.daily ORDER BY day`,
      )
      return found.map(({ text }) => text as string)
    }
    await seen(1, 10)
    await seen(2, 15)
    await seen(3, 20)
    assert.equal(await days(), ['10 1', '15 1', '20 1'])
    await seen(1, 18)
    assert.equal(await days(), ['15 1', '18 1', '20 1'])
  })

test.run()
