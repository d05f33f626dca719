// Parts and the length of CSV, for readers that take it for a file.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'

/** More than an answer that is made whole. */
const orders: Table = {
  model: 'shop.orders',
  key: ['id'],
  rows: sql`SELECT i AS id, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'a "quote", a line' || chr(10) || 'end ' || chr(1) || i END AS note
    FROM range(30000) AS r(i)`,
}

for (const [size, target] of [
  ['many rows', 'shop_orders?$format=csv'],
  ['few rows', 'shop_orders?$format=csv&$top=200'],
  ['one column that may be null', 'shop_orders?$format=csv&$select=note'],
] as const)
  test(`a part of CSV of ${size} is a part of what is streamed`, async () => {
    await using resources = new Resources()
    const served = await serve(resources, [orders])
    const whole = await served.get(target)
    assert.is(whole.status, 200)
    assert.is(whole.headers['accept-ranges'], undefined)
    const bytes = whole.bytes.length
    const head = await served.send({ target, method: 'HEAD' })
    assert.is(head.headers['content-length'], String(bytes))
    assert.is(head.headers['accept-ranges'], 'bytes')
    const all = await served.get(target, { range: 'bytes=0-' })
    assert.is(all.status, 206)
    assert.ok(all.bytes.equals(whole.bytes))
    const part = await served.get(target, { range: 'bytes=20-39' })
    assert.is(part.headers['content-range'], `bytes 20-39/${bytes}`)
    assert.ok(part.bytes.equals(whole.bytes.subarray(20, 40)))
    assert.is((await served.get(target, { range: `bytes=${bytes}-` })).status, 416)
    const coded = await served.get(target, { 'accept-encoding': 'gzip' })
    assert.is(coded.headers['content-encoding'], 'gzip')
  })

test('JSON has no parts', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders])
  const answer = await served.get('shop_orders?$top=3', { range: 'bytes=0-3' })
  assert.is(answer.status, 200)
  assert.is(answer.json.value.length, 3)
})

test.run()
