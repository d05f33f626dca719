// Events that somebody deletes from their table by hand: what comes after them is read all the same.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunSummary } from '../../../src/core/report/progress.ts'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults, type TestProject } from '../../support/pipeline-project.ts'

const texts = {
  'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nreceived_at TIMESTAMPTZ',
  'core.log': `-- @kind: append
-- @incremental: received_at
SELECT id, received_at FROM raw.hits`,
  'core.state': `-- @kind: merge
-- @unique_key: id
-- @incremental: received_at
SELECT id, received_at FROM raw.hits`,
  'mart.hourly': `-- @kind: period
-- @period: hour of hour
SELECT date_trunc('hour', received_at) AS hour, count(*) AS n FROM raw.hits GROUP BY 1`,
}

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`

function senderTo(space: TestProject) {
  const claims = new FakeClaims(space.path('buffer'))
  const openClaims = () => Promise.resolve(claims)
  let sent = 0
  return async (...hours: readonly number[]): Promise<RunSummary> => {
    const events = hours.map((hour) => ({ id: ++sent, received_at: at(hour) }))
    await claims.add('raw.hits', events, { opening: 1 })
    const project = await compileTexts(texts)
    const summary = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
    if (!summary.ok) throw new Error(JSON.stringify(summary.models, null, 2))
    return summary
  }
}

/** Rows of raw.hits, core.log, core.state and mart.hourly. */
async function count(space: TestProject): Promise<readonly unknown[]> {
  const [row] = await space.rows(sql`
    SELECT (SELECT count(*) FROM raw.hits)::INTEGER AS a, (SELECT count(*) FROM core.log)::INTEGER AS b,
      (SELECT count(*) FROM core.state)::INTEGER AS c, (SELECT count(*) FROM mart.hourly)::INTEGER AS d`)
  return Object.values(row!)
}

test('as many new events as were deleted by hand hide no late ones', async () => {
  await using space = await openProject()
  const send = senderTo(space)
  await send(4, 5, 9)
  await space.alter(sql`DELETE FROM raw.hits WHERE id < 3`)
  const { models } = await send(2, 3)
  assert.equal(await count(space), [3, 5, 5, 3])
  // Of a table of periods nobody knows which to make anew, and it says so.
  const warnings = models.find(({ model }) => model === 'mart.hourly')?.warnings
  assert.match(
    warnings?.join() ?? '',
    /what changed in raw\.hits since it was last read is not known/,
  )
  // From here on all is followed again.
  const next = await send(1)
  const builtIn = (name: string) => next.models.find(({ model }) => model === name)
  assert.is(builtIn('core.log')?.rows, 1)
  assert.is(builtIn('mart.hourly')?.warnings, undefined)
  assert.equal(await count(space), [4, 6, 6, 4])
})

test.run()
