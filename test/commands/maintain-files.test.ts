// A warehouse in a file gives back the space of rows that are gone.

import { stat } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const rows = (count: number) =>
  `SELECT i AS id, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS text FROM range(${count}) t(i)\n`

test('the file becomes as small as what is in it, and a run has nothing to do', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/large.sql': rows(60_000),
    'models/core/small.sql': `-- @expose id\n${rows(10)}`,
  })
  await space.ok(['run'])
  await space.write('models/core/later.sql', rows(10))
  await space.ok(['run'])
  await space.write('models/core/large.sql', rows(5))
  await space.ok(['run'])
  const size = async () => (await stat(space.path('.eider/warehouse.duckdb'))).size
  const before = await size()
  const dry = await space.ok(['maintain', '--dry-run', '--json'])
  const would = JSON.parse(dry.stdout) as Record<string, unknown>
  assert.is(would['event'], 'compacted')
  assert.is(would['bytes_before'], before)
  assert.is(await size(), before)
  const { stdout } = await space.ok(['maintain'])
  const after = await size()
  assert.ok(after * 2 < before, `${before} bytes became ${after}`)
  assert.match(stdout, `the warehouse has ${after.toLocaleString('en')} bytes, `)
  const query = 'SELECT count(*) AS n FROM core.large UNION ALL SELECT count(*) FROM core.small'
  const counted = await space.ok(['query', '--format', 'csv', query])
  assert.equal(counted.stdout.trim().split(/\s+/), ['n', '5', '10'])
  const run = await space.ok(['run'])
  assert.match(run.stdout + run.stderr, '3 unchanged')
  const again = await space.ok(['maintain', '--json'])
  const { bytes_after } = JSON.parse(again.stdout) as { bytes_after: number }
  assert.ok(bytes_after <= after)
})

test('what is only for a lake is refused, and a project without a warehouse says so', async () => {
  await using space = await workspace({ 'eider.yml': 'name: shop\n' })
  const migrate = await space.ok(['maintain', '--migrate'], { exitCode: 2 })
  assert.match(migrate.stderr, '--migrate is for a lake')
  const none = await space.ok(['maintain'], { exitCode: 3 })
  assert.match(none.stderr, 'there is no warehouse yet')
})

test.run()
