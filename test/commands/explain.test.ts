// `eider explain`: the plan of a model, and what came of it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { contentsOf, workspace } from '../support/workspace.ts'

interface Operator {
  readonly name: string
  readonly details: string
  readonly rows: number | null
  readonly ms: number | null
}

test('the plan of a model is shown, with --analyze its rows, and nothing changes', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\nvars: {least: 10}\n',
    'macros/m.sql': 'CREATE MACRO twice(x) AS x * 2;\n',
    'models/raw/e.sql': '-- @kind: events\nid INTEGER\n',
    'seeds/ref/c.csv': 'id\n1\n2\n',
    'models/a/numbers.sql': 'SELECT i AS id, i % 7 AS g FROM range(1000) t(i)\n',
    'models/a/sums.sql':
      'SELECT g, sum(twice(id)) AS total FROM a.numbers WHERE id >= ${least} GROUP BY ALL\n',
  })
  const unbuilt = await space.ok(['explain', 'a.sums'], { exitCode: 2 })
  assert.match(unbuilt.stderr, 'eider run +a.sums')
  await space.ok(['run', '--quiet'])
  const before = await contentsOf(space)
  const { stdout: plan } = await space.ok(['explain', 'a.sums'])
  assert.match(plan, /^operator +estimated +details\n/)
  assert.match(plan, /SEQ_SCAN +\d+ +\S*a\.numbers, id>=10/)
  assert.not.match(plan, 'spilled')
  const { stdout: analyzed } = await space.ok(['explain', 'a.sums', '--analyze'])
  assert.match(analyzed, /^operator +estimated +rows +ms +share +details\n/)
  assert.match(
    analyzed,
    /\n\n\S+ m?s, \S+ m?s of CPU time; 1,000 rows read, peak memory .*, 0 bytes spilled\n\nupdated by what changes in a\.numbers\n$/,
  )
  const { stdout: json } = await space.ok(['explain', 'A.SUMS', '--analyze', '--json'])
  const { operators } = JSON.parse(json) as { readonly operators: readonly Operator[] }
  const scan = operators.find(({ details }) => details.includes('a.numbers'))
  assert.is(scan?.rows, 990)
  await space.ok(['explain', 'ref.c'])
  assert.equal(await contentsOf(space), before)
  const refused = async (name: string, exitCode: number, says: RegExp) =>
    assert.match((await space.ok(['explain', name], { exitCode })).stderr, says)
  await refused('raw.e', 2, /raw\.e takes rows from events, so it has no query/)
  await refused('a.sum', 2, /did you mean "?a\.sums/)
})

test.run()
