// Lookups in the forms in which clients ask for them have the answers of the engine, the first of a form and the next ones.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import type { Asked } from '../../support/odata-service.ts'
import { both, metric, requireSame, untilMade } from '../../support/row-files.ts'
import { keyedTables, lookupForms, writtenKeys } from '../../support/written-lookups.ts'

const headers: readonly Asked['headers'][] = [
  { Accept: 'application/json;odata.metadata=full' },
  { Accept: 'application/json;odata.metadata=minimal;IEEE754Compatible=true' },
  {
    Accept: 'application/json;odata.metadata=full;IEEE754Compatible=true',
    Prefer: 'omit-values=nulls',
  },
  { Prefer: 'omit-values=nulls' },
]

test('keys of all kinds, broken ones too, are answered as by the engine, in parentheses, as segments and in filters', async () => {
  await using resources = new Resources()
  const services = await both(resources, keyedTables, { conventions: { keyAsSegment: true } })
  const first = Object.entries(writtenKeys).map(([set, [key]]) => `${set}(${key})`)
  await untilMade(services.ours, first)
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (const [set, all] of Object.entries(writtenKeys))
    for (const key of all)
      for (const target of lookupForms(set, key)) await requireSame(services, { target })
  for (const [set, all] of Object.entries(writtenKeys))
    for (const key of all.slice(0, 3))
      for (const each of headers)
        await requireSame(services, { target: `${set}(${key})`, headers: each! })
  assert.ok((await metric(services.ours, 'row_file_lookups_total')) > before + 120)
})

/** What follows the key of an order, and how often a row of a file is read for it. */
const ends: readonly (readonly [end: string, reads: number])[] = [
  ['/customers', 2],
  ['/customers/name', 2],
  ['/customers/limited/$value', 2],
  ['/customers/countries', 3],
  ['/customers?$select=name,limited', 2],
  ['?$expand=customers', 2],
  ['?$expand=customers($select=name),countries&$select=id,note', 3],
  ['?$expand=customers($expand=countries)', 3],
  ['?$expand=customers($expand=orders)', 0],
  ['/countries', 2],
  ['/note', 1],
  ['/note/$value', 1],
  ['/price', 1],
  ['/price/$value', 1],
  ['/moment/$value', 1],
  ['/object', 1],
  ['/list', 1],
  ['/$ref', 1],
  ['/customers/$ref', 2],
  ["?$compute='a'%20as%20x", 1],
]

test('what a row has and leads to is answered as by the engine', async () => {
  await using resources = new Resources()
  const services = await both(resources, keyedTables)
  await untilMade(services.ours, [
    'shop_orders(7)',
    'shop_customers(1)',
    "shop_countries('c1%27%27%2F%C3%BC')",
  ])
  for (const [end, reads] of ends) {
    const before = await metric(services.ours, 'row_file_lookups_total')
    // The order 1 has everything that any of these asks for.
    await requireSame(services, { target: `shop_orders(1)${end}` })
    assert.is((await metric(services.ours, 'row_file_lookups_total')) - before, reads, end)
    for (const id of [0, 1, 3, 5, 7, 8])
      await requireSame(services, { target: `shop_orders(${id})${end}` })
    for (const each of headers)
      for (const id of [2, 4, 9, 99])
        await requireSame(services, { target: `shop_orders(${id})${end}`, headers: each! })
  }
})

const filters: readonly string[] = [
  'id%20in%20(1,2,3)',
  'id%20in%20(3,1,2,1)',
  'id%20in%20(1,99)',
  'id%20in%20(99)',
  'id%20in%20(1,null)',
  'id%20eq%201%20or%20id%20eq%203',
  'id%20eq%201%20or%20qty%20eq%203',
  'id%20eq%201%20and%20id%20eq%203',
  'id%20eq%201%20and%20flag%20eq%20false',
  '1%20eq%20id',
  'id%20eq%205%20or%205%20eq%20id',
  'id%20ne%201',
  'id%20eq%20null',
  "id%20eq%20'1'",
  'id%20eq%201.5',
  'id%20eq%20@p&@p=7',
  `id%20in%20(${Array.from({ length: 120 }, (_, i) => i % 40).join(',')})`,
]
const options: readonly string[] = [
  '',
  '&$top=1',
  '&$top=0',
  '&$skip=1',
  '&$count=true',
  '&$orderby=id%20desc',
  '&$orderby=note',
  '&$select=note,id',
  '&$expand=customers',
  '&$format=csv',
]

test('a page of rows with certain keys is that of the engine', async () => {
  await using resources = new Resources()
  const services = await both(resources, keyedTables)
  await untilMade(services.ours, [
    'shop_orders(7)',
    'shop_customers(1)',
    'shop_twice(1)',
    'shop_long(1)',
  ])
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (const filter of filters)
    for (const option of options)
      await requireSame(services, { target: `shop_orders?$filter=${filter}${option}` })
  for (const Prefer of [
    'odata.maxpagesize=1',
    'odata.maxpagesize=2',
    'odata.track-changes',
    'omit-values=nulls',
  ])
    for (const filter of filters.slice(0, 6))
      for (const target of [`shop_orders?$filter=${filter}`, `shop_orders?$filter=id%20eq%203`])
        await requireSame(services, { target, headers: { Prefer } })
  for (const set of ['shop_twice', 'shop_long'])
    for (const filter of ['k%20eq%202', 'k%20eq%203', 'k%20in%20(3,1)', 'k%20eq%204'])
      for (const option of ['', '&$top=1', '&$top=2', '&$orderby=k%20desc', '&$count=true'])
        await requireSame(services, { target: `${set}?$filter=${filter}${option}` })
  assert.ok((await metric(services.ours, 'row_file_lookups_total')) > before + 100)
})

test.run()
