// What `eider odata preview` says of a request that fails: one line, whenever DuckDB gives up.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { publish, type Table } from '../support/snapshot-files.ts'
import { workspace } from '../support/workspace.ts'

const failing = (model: string, row: number): Table => ({
  model,
  isView: true,
  rows: sql`SELECT i AS id, CASE WHEN i = ${sql.value(row)} THEN CAST('no number' AS INTEGER) END AS n,
    repeat('text', 20) AS t FROM range(500000) AS r(i)`,
})

test('an error of DuckDB is shown in one line, before the first row and behind many', async () => {
  await using space = await workspace({ 'eider.yml': 'name: shop\nodata:\n  page_size: 500000\n' })
  await publish(space.path('.eider/snapshots'), 's', [
    failing('shop.early', 5),
    failing('shop.late', 400_000),
  ])
  const early = await space.ok(['odata', 'preview', 'shop_early'], { exitCode: 2 })
  assert.match(
    early.stderr,
    /^error: the request failed: Could not convert string 'no number'.*\n$/,
  )
  assert.is(early.stdout, '')
  const late = await space.ok(['odata', 'preview', 'shop_late'], { exitCode: 2 })
  assert.match(late.stderr, /^error: the request failed: the result ended before its last row\n$/)
  assert.ok(late.stdout.length > 1_000_000)
})

test('an INTERVAL that cannot be served is named, also of a model that is not exposed', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/inner.sql': "SELECT 7 AS id, INTERVAL '300000 years' AS span\n",
  })
  await space.ok(['run'])
  const { stderr } = await space.ok(['odata', 'preview', 'core.inner'], { exitCode: 3 })
  assert.match(stderr, /^error: models\/core\/inner\.sql:1:\d+: the column "span" has the INTERVAL/)
  assert.not.match(stderr, /\n +at /)
})

test.run()
