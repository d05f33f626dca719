// SQL of chains: as long as the chain, whatever an operation needs to write of its operands.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { InMemoryTables } from '../../support/in-memory-tables.ts'

const times = (n: number, text: string) => text.repeat(n)
const cast = (n: number, type: string): string =>
  n === 0 ? 'status' : `cast(cast(${cast(n - 1, type)},${type}),Edm.String)`

const chains: Readonly<Record<string, (n: number) => string>> = {
  'order_id div customer_id div …': (n) => `order_id${times(n, ' div customer_id')} eq 1`,
  'order_id mod customer_id mod …': (n) => `order_id${times(n, ' mod customer_id')} eq 1`,
  'order_id div (order_id div …)': (n) =>
    `${times(n, 'order_id div (')}customer_id${times(n, ')')} eq 1`,
  'dates as text': (n) => `${cast(n, 'Edm.Date')} eq 'x'`,
  'times as text': (n) => `${cast(n, 'Edm.DateTimeOffset')} eq 'x'`,
  'ordered_at sub …': (n) => `ordered_at${times(n, " sub duration'P1D'")} gt now()`,
  'now() sub …': (n) => `ordered_at gt now()${times(n, " sub duration'P1D'")}`,
}

for (const [name, filter] of Object.entries(chains))
  test(`each link adds as much: ${name}`, async () => {
    await using tables = await InMemoryTables.open()
    const length = (n: number) => tables.sql(`shop_orders?$filter=${filter(n)}`).inline().length
    const added = [5, 6, 7, 8].map((n) => length(n + 1) - length(n))
    assert.is(new Set(added).size, 1, added.join(' '))
    await tables.run(tables.sql(`shop_orders?$filter=${filter(8)}`)).catch((error: Error) => {
      if (!/zero|years/.test(error.message)) throw error
    })
  })

test('a short chain of constant times is calculated before rows are read', async () => {
  await using tables = await InMemoryTables.open()
  const chain = "now() sub duration'P1D' sub duration'P1D' add duration'PT1H'"
  const statement = tables.sql(`shop_orders?$filter=ordered_at gt ${chain}`).inline()
  assert.not.match(statement, /lambda/)
})

test('an operand that is written once has its own value in each place', async () => {
  await using tables = await InMemoryTables.open()
  const ids = (filter: string) => tables.ids('shop_orders', filter)
  const all = await ids('order_id ge 0')
  assert.is(await ids('order_id div order_id div (order_id div order_id) eq 1'), all)
  assert.is(await ids('(order_id mul 7) div (order_id mul 2) mod 2 eq 1'), all)
  assert.is(
    await ids("cast(cast(cast('2024-02-29',Edm.Date),Edm.String),Edm.Date) eq 2024-02-29"),
    all,
  )
  assert.is(await ids("cast(cast('no date',Edm.Date),Edm.String) eq null"), all)
})

test.run()
