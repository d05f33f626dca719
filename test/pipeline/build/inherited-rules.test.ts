// The rule of a view or a table that a model reads has changed, and its own definition then changes without its rule: rows
// that the older rule has made are still named.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

const headers = {
  append: '-- @kind: append\n-- @incremental: day\n-- @unique_key: id\n',
  merge: '-- @kind: merge\n-- @incremental: day\n-- @unique_key: id\n',
  period: '-- @kind: period\n-- @period: day of day\n',
}

/** What of a definition is no rule, before and after. */
const edits: Readonly<Record<string, readonly [string, string]>> = {
  'a check': ['SELECT id, day, n AS v0', '-- @check row_count(> 0)\nSELECT id, day, n AS v0'],
  'another alias': ['SELECT id, day, n AS v0', '-- @renamed_from v1: v0\nSELECT id, day, n AS v1'],
}

for (const [kind, header] of Object.entries(headers))
  for (const [what, [before, after]] of Object.entries(edits))
    for (const input of ['view', 'table'])
      test(`${kind}: ${what}, after a ${input} has got another rule`, async () => {
        await using space = await openProject()
        const claims = new FakeClaims(space.path('buffer'))
        const openClaims = () => Promise.resolve(claims)
        const olderWith = async (select: string, factor: number) => {
          const project = await compileTexts({
            'raw.hits': '-- @kind: events\nid BIGINT NOT NULL,\nday DATE,\nn INTEGER',
            'stage.hits': `-- @kind: ${input}\nSELECT id, day, n * ${factor} AS n FROM raw.hits`,
            'mart.hits': `${header}${select} FROM stage.hits`,
          })
          const { ok, models } = await runPipeline({
            ...runDefaults(space.paths),
            project,
            openClaims,
          })
          assert.ok(ok, JSON.stringify(models))
          return models.find(({ model }) => model === 'mart.hits')?.older_rows?.rows ?? 0
        }
        const days = [1, 2, 3, 4].map((day) => ({ id: day, day: `2026-11-0${day}`, n: day }))
        await claims.add('raw.hits', days)
        assert.is(await olderWith(before, 1), 0)
        const older = await olderWith(before, 2)
        // A table says which of its rows differ, so those are read again.
        assert.is(older, input === 'view' ? 3 : 0)
        assert.is(await olderWith(after, 2), older)
        assert.is(await olderWith(after, 2), older)
      })

test.run()
