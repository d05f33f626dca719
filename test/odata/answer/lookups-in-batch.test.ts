// Lookups inside a $batch, and keys that no row has, are answered from a file as the engine would.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import type { Asked } from '../../support/odata-service.ts'
import { both, metric, requireSame, table, untilMade } from '../../support/row-files.ts'

const tables = [
  table('int', sql`i::INTEGER`),
  table('text', sql`'t' || i`),
  table('decimal', sql`i::DECIMAL(10,2)`),
]

const batchOf = (requests: readonly object[], headers = {}): Asked => ({
  target: '$batch',
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Prefer: 'continue-on-error', ...headers },
  body: JSON.stringify({ requests }),
})

const partHeaders = [
  {},
  { Accept: 'application/json;odata.metadata=none' },
  { Accept: 'application/json;odata.metadata=full' },
  { Accept: 'application/json;IEEE754Compatible=true' },
  { Accept: 'text/csv' },
  { 'OData-MaxVersion': '4.0' },
  { Prefer: 'omit-values=nulls' },
  { 'If-None-Match': '*' },
  { 'If-None-Match': 'W/"other"' },
]

test('a batch has for each lookup the answer of the engine, also where an earlier one was like it', async () => {
  await using resources = new Resources()
  const services = await both(resources, tables)
  await untilMade(services.ours, ['shop_int(7)', "shop_text('t20')"])
  const keys = ['shop_int(7)', 'shop_int(8)', 'shop_int(99)', "shop_text('t20')", "shop_text('?')"]
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (const version of ['4.0', '4.01'])
    for (const end of ['', '?$select=note,k', '/note', '/note/$value', '?$expand=*']) {
      const requests = partHeaders.flatMap((headers, i) =>
        keys.map((key, k) => ({ id: `${i}.${k}`, method: 'GET', url: `${key}${end}`, headers })),
      )
      await requireSame(services, batchOf(requests, { 'OData-MaxVersion': version }))
    }
  assert.ok((await metric(services.ours, 'row_file_lookups_total')) > before + 200)
})

test('keys that no row has are known from the file, alone, in a list and in a batch', async () => {
  await using resources = new Resources()
  const services = await both(resources, tables)
  const { ours } = services
  await untilMade(ours, ['shop_int(7)', "shop_text('t20')", 'shop_decimal(1)'])
  const counted = async (asked: Asked) => {
    const before = await metric(ours, 'row_file_lookups_total')
    const { status } = await requireSame(services, asked)
    return [status, (await metric(ours, 'row_file_lookups_total')) - before]
  }
  const asked = async (target: string) => await counted({ target })
  assert.equal(await asked('shop_int(99999)'), [404, 1])
  assert.equal(await asked('shop_int(99999)/note/$value'), [404, 1])
  assert.equal(await asked("shop_text('t2000')"), [404, 1])
  assert.equal(await asked('shop_int?$filter=k%20in%20(7,99999,8)&$count=true'), [200, 3])
  assert.equal(await asked('shop_int?$filter=k%20eq%2099999'), [200, 1])
  // Their texts may differ from those of an equal value in the file.
  assert.equal(await asked('shop_decimal(99.125)'), [404, 0])
  assert.equal(await asked("shop_text('%01')"), [404, 0])
  const ids = [7, 8, 99999]
  const batch = batchOf(ids.map((id) => ({ id: `${id}`, method: 'GET', url: `shop_int(${id})` })))
  assert.equal(await counted(batch), [200, 3])
})

test.run()
