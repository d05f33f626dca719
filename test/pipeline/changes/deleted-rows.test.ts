// Rows that somebody deletes by hand from a table which may forget its oldest ones: what was made of those above its lowest
// row is told, also where a reader leaves that row out.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'
import { publishByHand } from '../../support/publish-by-hand.ts'

const large = 'SELECT id, day FROM core.orders WHERE amount > 40'
const merge = '-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\n'

const texts = {
  'raw.orders': '-- @kind: events\nid BIGINT NOT NULL,\nday DATE,\namount INTEGER,\ngone BOOLEAN',
  'core.orders': `-- @kind: table
SELECT id, day, amount FROM raw.orders
QUALIFY row_number() OVER (PARTITION BY id ORDER BY amount DESC) = 1 AND NOT gone`,
  'mart.merged': merge + large,
  'mart.log': `-- @kind: append\n-- @incremental: day\n-- @unique_key: id\n${large}`,
  'mart.weeks': `${merge}SELECT id, date_trunc('week', day) AS day FROM core.orders WHERE amount > 40`,
}

const day = (id: number): string => `2026-11-${String(id).padStart(2, '0')}`

/** Of four orders, of which the first is not large: those that are deleted, and what is said of them. */
for (const [what, deleted, said] of [
  ['below all that a reader has left', [9, 16], /^2 rows/],
  ['all that a reader has', [9, 16, 23], /^3 rows/],
] as const)
  test(`rows are deleted by hand ${what}`, async () => {
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const project = await compileTexts(texts)
    const run = async () => {
      const openClaims = () => Promise.resolve(claims)
      const { ok, models } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
      assert.ok(ok, JSON.stringify(models))
      return models.flatMap(({ model, warnings = [] }) =>
        model.startsWith('mart.') ? [warnings.join()] : [],
      )
    }
    const orders = [1, 9, 16, 23]
    const events = orders.map((id) => ({ id, day: day(id), amount: id * 5 - 4, gone: false }))
    await claims.add('raw.orders', events)
    assert.equal(await run(), ['', '', ''])
    await space.alter(sql`DELETE FROM core.orders WHERE id IN (${sql.values(deleted)})`)
    await publishByHand(runDefaults(space.paths), project, ['core.orders'])
    for (const warning of await run()) assert.match(warning, said)
  })

test.run()
