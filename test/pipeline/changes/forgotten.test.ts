// Rows that are older than their table keeps them when they come: they go at once, and take nothing along.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

for (const [what, column] of [
  ['the column by which they go', 'seen_at'],
  ['another column', 'same_time'],
] as const)
  test(`a row that is too old already takes no period away, followed by ${what}`, async () => {
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const project = await compileTexts({
      'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nseen_at TIMESTAMPTZ',
      'core.log': `-- @kind: append
-- @incremental: seen_at
-- @keep: 30 days
SELECT seen_at, seen_at::TIMESTAMP AS same_time FROM raw.hits`,
      'mart.daily': `-- @kind: period
-- @period: day of day
SELECT ${column}::DATE AS day, count(*) AS n FROM core.log GROUP BY 1`,
    })
    const run = async (day: string, ...times: readonly string[]) => {
      const events = times.map((time, id) => ({ id, seen_at: `2026-${time}:00:00Z` }))
      if (events.length > 0) await claims.add('raw.hits', events)
      const openClaims = () => Promise.resolve(claims)
      const now = () => new Date(`2026-${day}T00:00:00Z`)
      const request = { ...runDefaults(space.paths), project, openClaims, now }
      const { ok, models } = await runPipeline(request)
      if (!ok) throw new Error(JSON.stringify(models, null, 2))
      const [row] = await space.rows(
        sql`SELECT string_agg(concat_ws(':', strftime(day, '%d'), n), ' ' ORDER BY day) AS text FROM mart.daily`,
      )
      return row!['text']
    }
    assert.is(await run('11-21', '10-25T01', '11-20T05', '11-20T06'), '25:1 20:2')
    assert.is(await run('11-28'), '25:1 20:2')
    assert.is(await run('11-28', '10-25T02', '11-19T02'), '25:1 19:1 20:2')
    assert.is(await run('11-28', '10-24T02'), '25:1 19:1 20:2')
  })

test.run()
