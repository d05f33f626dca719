// What a file is called that an answer is saved as.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { fileNameFor } from '../../../src/odata/answer/choose/file-name.ts'
import { type Served, openService } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'
import { testsSharing } from '../../support/shared.ts'

const rows: readonly (readonly [query: string, words: string])[] = [
  ['', ''],
  ['$filter=order_id ge 11', 'order_id from 11, '],
  [`$filter=status eq 'paid' and amount lt 50`, 'status paid, amount below 50, '],
  [`$filter=status ne 'paid' and amount le 50`, 'status not paid, amount up to 50, '],
  [`$filter=status in ('paid','open')`, 'status paid or open, '],
  [`$filter=contains(status,'ai') and amount gt 1`, 'status with ai, amount above 1, '],
  ['$filter=status eq null', 'status null, '],
  [`$filter=status eq 'a/b:c*?"<>|\\'`, 'status a-b-c-------, '],
  // Nothing rather than half of it.
  [`$filter=status eq 'paid' or amount gt 1`, ''],
  [`$filter=status eq 'paid' and amount add 1 gt 1`, ''],
  [`$filter=status eq '${'x'.repeat(60)}'`, ''],
]

const tests = testsSharing(() => openService(shop))

for (const [query, words] of rows)
  tests(query || 'no filter', async (served: Served) => {
    const { headers } = await served.get(`shop_orders?${encodeURI(query)}&$format=csv`)
    const [, name = ''] = headers['content-disposition']!.split("''")
    const day = '<day>'
    assert.is(
      decodeURIComponent(name).replace(/\d{4}-\d\d-\d\d(?=\.csv$)/, day),
      `shop_orders, ${words}${day}.csv`,
    )
  })

test('the day is that of the publication, and a long name is cut', () => {
  const publishedAt = new Date('2026-11-24T23:59:59Z')
  const name = fileNameFor({ set: 's'.repeat(200), filter: null, publishedAt, extension: 'xlsx' })
  assert.is(name, `${'s'.repeat(60)}, 2026-11-24.xlsx`)
})

test.run()
