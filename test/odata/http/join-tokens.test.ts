// join, outerjoin and addnested with totals, for a token with row filters: what it hides is in no total and makes no row, and a
// parent whose rows are all hidden is one without rows.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { encodedTarget } from '../../support/json-rows.ts'
import { serve } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import type { Table } from '../../support/snapshot-files.ts'

const customers = sql`(SELECT * FROM (VALUES
  (1, 'Ann', true), (2, 'Bob', true), (3, 'Cid', false), (4, 'Dan', true)
) AS v(customer_id, name, open))`
const orders = sql`(SELECT * FROM (VALUES
  (1, 1, 10, true), (2, 1, 200, false), (3, 2, 30, false), (4, 3, 40, true), (5, 3, 50, false)
) AS v(order_id, customer_id, amount, open))`

const tables = (where: Sql): readonly Table[] => [
  {
    model: 'core.customers',
    key: ['customer_id'],
    rows: sql`SELECT * FROM ${customers} WHERE ${where}`,
  },
  { model: 'core.orders', key: ['order_id'], rows: sql`SELECT * FROM ${orders} WHERE ${where}` },
]

const TOTALS = 'aggregate(amount with sum as s,amount with max as m,$count as n)'
const questions = [
  `core_customers?$apply=join(orders as o,${TOTALS})&$orderby=customer_id`,
  `core_customers?$apply=outerjoin(orders as o,${TOTALS})&$orderby=customer_id`,
  `core_customers?$apply=outerjoin(orders as o,${TOTALS}/filter(n eq 0))&$orderby=customer_id`,
  `core_customers?$apply=join(orders as o,filter(amount gt 20)/${TOTALS})&$orderby=customer_id`,
  `core_customers?$apply=addnested(orders,${TOTALS} as x,aggregate($count as n)/filter(n eq 0) as y)&$orderby=customer_id`,
  `core_customers?$apply=nest(${'aggregate($count as n)'} as total,aggregate($count as n)/filter(n eq 0) as none)`,
  `core_customers?$apply=join(orders as o,nest(${TOTALS} as t,identity as all))&$orderby=customer_id`,
  `core_orders?$apply=groupby((customer_id),nest(${TOTALS} as t,identity as all))&$orderby=customer_id`,
  `core_orders?$apply=addnested(customer,compute(1 as x) as c)&$orderby=order_id`,
  `core_customers?$apply=outerjoin(orders as o)&$expand=o($expand=customer)&$orderby=customer_id,o/order_id`,
  `core_customers?$apply=addnested(orders,identity as x)&$expand=x($count=true;$top=1)&$orderby=customer_id`,
  `core_orders?$apply=groupby((customer/name),aggregate(amount with sum as s))/aggregate(s with max as m,$count as n)`,
]

test('totals of each row are of what a token may see', async () => {
  await using resources = new Resources()
  const rows = { 'core.customers': 'open', 'core.orders': 'open' }
  const tokens = [readerToken('open', { rows }), readerToken('all', {})]
  const linkSecret = '3'.repeat(64)
  const all = await serve(resources, tables(sql`true`), { tokens, linkSecret })
  const rest = await serve(resources, tables(sql`open`), { tokens, linkSecret })
  const ask = async ({ url }: { readonly url: string }, question: string, token: string) => {
    const answer = await fetch(`${url}/${encodedTarget(question)}`, { headers: bearer(token) })
    const text = await answer.text()
    assert.is(answer.status, 200, text)
    return (JSON.parse(text) as { readonly value: unknown }).value
  }
  for (const question of questions) {
    const seen = await ask(all, question, 'open')
    assert.equal(seen, await ask(rest, question, 'all'), question)
    assert.not.equal(seen, await ask(all, question, 'all'), question)
  }
})

test.run()
