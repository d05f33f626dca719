// Events that somebody deletes by hand and publishes are missed by who has read them, however many there were.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'
import { publishByHand } from '../../support/publish-by-hand.ts'

// 2 of 3 and 3 of 5: the table got the number by which its readers know what they have read.
for (const [all, gone] of [
  [3, 2],
  [5, 3],
  [5, 2],
] as const)
  test(`${gone} of ${all} events`, async () => {
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const project = await compileTexts({
      'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nseen_at TIMESTAMPTZ',
      'core.hits': '-- @kind: merge\n-- @unique_key: id\n-- @incremental: seen_at\nFROM raw.hits',
    })
    const run = async () => {
      const openClaims = () => Promise.resolve(claims)
      const { ok, models } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
      assert.ok(ok, JSON.stringify(models))
      return models.find(({ model }) => model === 'core.hits')?.warnings?.join() ?? ''
    }
    const hours = Array.from({ length: all }, (_, hour) => hour)
    const events = hours.map((id) => ({ id, seen_at: `2026-11-20T0${id}:00:00Z` }))
    await claims.add('raw.hits', events)
    assert.is(await run(), '')
    await space.alter(sql`DELETE FROM raw.hits WHERE id < ${sql.value(gone)}`)
    await publishByHand(runDefaults(space.paths), project, ['raw.hits'])
    assert.match(await run(), new RegExp(`${gone} rows .* stay though the SELECT no longer`))
  })

test.run()
