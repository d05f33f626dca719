// Which models read a table through others.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readersThrough, readInputs } from '../../../src/pipeline/changes/read-through.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'

test('a table is found once, though each level of tables doubles the ways to it', async () => {
  const levels = 10
  const texts: Record<string, string> = {
    'raw.e': '-- @kind: events\n-- @keep: 90 days of d\nid INTEGER,\nd DATE',
    'core.l0a': '-- @kind: table\nFROM raw.e',
    'core.l0b': '-- @kind: table\nFROM raw.e',
    'core.days': `-- @kind: period\n-- @period: day of d\nSELECT d, count(*) AS n FROM core.l${levels}a GROUP BY ALL`,
  }
  for (let i = 1; i <= levels; i++)
    for (const side of ['a', 'b'])
      texts[`core.l${i}${side}`] =
        `-- @kind: table\nFROM core.l${i - 1}a UNION ALL FROM core.l${i - 1}b`
  const project = await compileTexts(texts)
  const reader = modelName('core.days')
  assert.equal(readersThrough(project, { name: modelName('raw.e') }), [{ reader, column: 'd' }])
  assert.is(readInputs(project, project.models.get(reader)!).length, 2 * levels + 2)
})

test.run()
