// A list without elements is another value than NULL, though their hashes are the same.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const made = (value: string) =>
  `SELECT i AS id, DATE '2026-01-01' + (i % 10)::INTEGER AS d, CASE WHEN i = 5 THEN ${value} ELSE [i] END AS l FROM range(6000) AS r(i)\n`

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/lists.sql': made('[]'),
  'models/core/days.sql':
    '-- @kind: period\n-- @period: day of d\nSELECT d, id, l IS NULL AS is_null FROM raw.lists\n',
  'models/mart/counts.sql': 'SELECT d, count(l) AS n FROM raw.lists GROUP BY d\n',
}

test('a list that becomes NULL, and back, reaches the tables that follow it', async () => {
  await using space = await workspace(files)
  const nulls = 'SELECT count(*)::INTEGER AS n FROM core.days WHERE is_null'
  const missing = 'SELECT (6000 - sum(n))::INTEGER AS n FROM mart.counts'
  for (const [value, n] of [
    ['[]', 0],
    ['NULL', 1],
    ['[]', 0],
  ] as const) {
    await space.write('models/raw/lists.sql', made(value))
    await space.ok(['run'])
    for (const query of [nulls, missing])
      assert.equal(JSON.parse((await space.ok(['query', query, '--json'])).stdout), { n }, value)
  }
})

test.run()
