import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { kinds } from '../../support/odata-tables.ts'
import { requestTests } from '../../support/request-tests.ts'

const onShop = requestTests()

const target = (apply: string, set = 'shop_orders') => `${set}?$apply=${encodeURIComponent(apply)}`

/** Each row as its values with commas between them, null as a dash; rows with a space between them. */
function lines(found: readonly object[]): string {
  const text = (value: unknown) => (value === null ? '-' : (value as string | number).toString())
  const values = (row: object) =>
    Object.entries(row).flatMap(([name, value]) => (name.endsWith(' mark') ? [] : [text(value)]))
  return found.map((row) => values(row).join(',')).join(' ')
}

const rows = async (fixture: InMemoryTables, apply: string, set?: string) =>
  lines(await fixture.rows(target(apply, set)))

test('Q101 and Q103: aggregate gives one row, with each of the methods', async () => {
  await using fixture = await InMemoryTables.open()
  const one = async (items: string, answer: string) =>
    assert.is(await rows(fixture, `aggregate(${items})`), answer, items)
  await one('amount with sum as total', '140.5000')
  await one('amount with min as a, amount with max as b', '0.0000,100.5000')
  await one('amount with avg as a,flags with average as b', '35.12500000000000,4.5')
  await one('$count as n,amount with count as m,status with countdistinct as d', '5,4,2')
  await one('amount mul 2 add flags with sum as x', '299.0000')
  await one('amount with sum as amount', '140.5000')
  await one('amount with sum as n,amount with sum as N', '140.5000,140.5000')
  await one('status with max as m,ordered_at with min as t', 'paid,2023-12-31 00:00:00')
  await one('customer with countdistinct as n', '2')
  await one('customer/city with max as c', 'Paris')
  assert.is(
    fixture.query(target('aggregate(amount with sum as total)')).contextFragment,
    'shop_orders(total)',
  )
  assert.is(
    fixture.query(target('aggregate(order_id with sum as n)')).output[0]!.type.name,
    'Edm.Int64',
  )
})

test('Q103: without rows a sum is null and a count 0, and the one row is there', async () => {
  await using fixture = await InMemoryTables.open()
  const none = 'filter(order_id lt 0)/'
  const items =
    'amount with sum as s,$count as n,amount with avg as a,status with countdistinct as d'
  assert.is(await rows(fixture, `${none}aggregate(${items})`), '-,0,-,0')
  assert.is(await rows(fixture, `${none}groupby((status),aggregate(${items}))`), '')
  assert.is(await fixture.count(`shop_orders/$count?$apply=${none}aggregate(${items})`), 1)
})

test('totals are exact beyond 64 bits and beyond doubles', async () => {
  const at = (
    value: string,
  ) => sql`(1, CAST(${sql.value(value)} AS DECIMAL(38,2)), 9223372036854775807),
    (2, CAST(${sql.value(value)} AS DECIMAL(38,2)), 9223372036854775807), (3, 0.01, 9007199254740993)`
  const table = {
    model: 't.big',
    key: ['id'],
    rows: sql`SELECT * FROM (VALUES ${at('100000000000000000000000000000000000.01')}) AS v(id, d, i)`,
  }
  await using fixture = await InMemoryTables.open([table])
  const one = (items: string) => rows(fixture, `aggregate(${items})`, 't_big')
  assert.is(await one('i with sum as s'), '18455751272964292607')
  assert.is(await one('d with sum as s'), '200000000000000000000000000000000000.03')
  assert.is(await one('d with avg as a'), '66666666666666666666666666666666666.68')
  assert.is(await rows(fixture, 'filter(id eq 3)/aggregate(d with avg as a)', 't_big'), '0.01')
})

test('an average of sums has digits of its own', async () => {
  await using fixture = await InMemoryTables.open()
  const sums = 'groupby((status),aggregate(amount with sum as t))'
  const average = '46.83333333333'
  assert.ok((await rows(fixture, `${sums}/aggregate(t with average as a)`)).startsWith(average))
  const from = 'aggregate(amount with sum from status with average as a)'
  assert.ok((await rows(fixture, from)).startsWith(average))
})

test('Q102: groupby gives one row for each group, null is one', async () => {
  await using fixture = await InMemoryTables.open()
  const is = async (apply: string, answer: string) =>
    assert.is(await rows(fixture, apply), answer, apply)
  await is(
    'groupby((status),aggregate(amount with sum as t))',
    '-,0.0000 open,120.5000 paid,20.0000',
  )
  await is(
    'groupby((status,customer_id),aggregate($count as n))',
    '-,-,1 open,1,1 open,99,1 paid,1,1 paid,2,1',
  )
  await is('groupby((status))', '- open paid')
  await is('groupby((status))/aggregate($count as n)', '3')
  await is('groupby((customer/city),aggregate($count as n))', '-,2 Berlin,2 Paris,1')
  await is('groupby((customer/city),aggregate($count as n))/filter(customer/city eq null)', '-,2')
  await is(
    'groupby((status),topcount(1,amount)/aggregate(amount with sum as t))',
    '-,0.0000 open,100.5000 paid,20.0000',
  )
  await is('groupby((status),orderby(amount desc)/skip(1)/aggregate($count as n))', 'open,1 paid,1')
  await is('groupby((status),filter(amount gt 50)/aggregate($count as n))', 'open,1')
  await is(
    'groupby((status),groupby((customer_id),aggregate($count as n))/aggregate($count as m))',
    '-,1 open,2 paid,2',
  )
  await is(
    'groupby((status),concat(aggregate($count as n),aggregate(amount with max as n)))/aggregate($count as all)',
    '6',
  )
  assert.is(
    fixture.query(target('groupby((customer/city,status,customer/name),aggregate($count as n))'))
      .contextFragment,
    'shop_orders(customer(city,name),status,n)',
  )
})

test('rollup adds the coarser levels', async () => {
  await using fixture = await InMemoryTables.open()
  const items = 'aggregate($count as n)'
  const finest = '-,-,1 open,1,1 open,99,1 paid,1,1 paid,2,1'
  const levels = '-,-,1 open,-,2 paid,-,2'
  assert.is(
    await rows(fixture, `groupby((rollup(status,customer_id)),${items})`),
    `${finest} ${levels}`,
  )
  assert.is(
    await rows(fixture, `groupby((rollup($all,status,customer_id)),${items})`),
    `${finest} ${levels} -,-,5`,
  )
  const two = 'groupby((rollup(status,flags),rollup(customer_id,order_id)),aggregate($count as n))'
  assert.is(await fixture.count(target(two)), 20)
})

test('transformations that choose rows', async () => {
  await using fixture = await InMemoryTables.open()
  const ids = (apply: string) => rows(fixture, `${apply}/groupby((order_id))`)
  assert.is(await ids("filter(status eq 'open')"), '10 14')
  assert.is(await ids('search(open)'), '10 14')
  assert.is(await ids('orderby(amount desc)/top(2)'), '10 11')
  assert.is(await ids('orderby(amount desc)/skip(2)/skip(1)'), '12 13')
  assert.is(await ids('topcount(2,amount)'), '10 11')
  assert.is(await ids('bottomcount(2,amount)'), '12 13')
  assert.is(await ids('topsum(110,amount)'), '10 11')
  assert.is(await ids('topsum(-1,amount)'), '10 11 12 13 14')
  assert.is(await ids('bottomsum(20,amount)'), '11 12 13')
  assert.is(await ids('toppercent(50,amount)'), '10')
  assert.is(await ids('bottompercent(20,amount)'), '11 12 13 14')
  assert.is(await ids('groupby((status),topsum(10,amount))'), '10 11 13')
  assert.is(await ids('compute(amount mul 2 as twice)/filter(twice gt 100)'), '10')
  assert.is(await ids('identity'), '10 11 12 13 14')
  assert.is(fixture.query(target('topcount(1,amount)')).contextFragment, 'shop_orders')
  assert.is(fixture.query(target('compute(1 add 1 as two)')).contextFragment, 'shop_orders(*,two)')
})

test('concat puts one result behind the other, each in its order', async () => {
  await using fixture = await InMemoryTables.open()
  const sum = 'aggregate(amount with sum as amount)'
  assert.is(
    await rows(fixture, `concat(filter(amount gt 50)/groupby((order_id,amount)),${sum})`),
    '10,100.5000 -,140.5000',
  )
  assert.is(
    await rows(fixture, 'concat(groupby((status))/orderby(status desc),groupby((status)))'),
    'paid open - - open paid',
  )
})

onShop('Q132: the other options act on the result of $apply', (t) => {
  const groups = target('groupby((customer/city),aggregate(amount with sum as total,$count as n))')
  t.refusesTargets(
    [
      '$filter=amount gt 1',
      '$orderby=order_id',
      '$select=status',
      '$filter=customer/name eq null',
    ].map((option) => [`${groups}&${option}`, 'unknown-property']),
  )
  t.test(async (fixture) => {
    const is = async (options: string, answer: string) => {
      assert.is(lines(await fixture.rows(`${groups}&${options}`)), answer, options)
    }
    await is('$orderby=total desc', 'Berlin,120.5000,2 -,20.0000,2 Paris,-,1')
    await is('$filter=total gt 20', 'Berlin,120.5000,2')
    await is("$filter=customer/city eq 'Paris'", 'Paris,-,1')
    await is('$skip=1&$top=1', 'Berlin,120.5000,2')
    await is('$compute=n mul 10 as m&$filter=m gt 10&$select=m', '20 20')
    const { output } = fixture.query(`${groups}&$compute=n mul 10 as m&$select=*`)
    assert.equal(output.at(-1)?.path, ['m'])
    await is('$select=n,customer&$orderby=n,customer/city desc', '1,Paris 2,Berlin 2,-')
    assert.is(await fixture.count(`${groups.replace('?', '/$count?')}&$filter=n eq 2`), 2)
  })
})

test('counts behind a navigation property to many', async () => {
  await using fixture = await InMemoryTables.open()
  const count = 'aggregate(orders/$count as n)'
  assert.is(await rows(fixture, count, 'shop_customers'), '3')
  assert.is(await rows(fixture, `groupby((vip),${count})`, 'shop_customers'), '-,0 false,1 true,2')
})

test('$these in compute is a total of all rows, or of those of a group', async () => {
  await using fixture = await InMemoryTables.open()
  const is = async (apply: string, answer: string) =>
    assert.is(await rows(fixture, apply), answer, apply)
  const total = '$these/aggregate(amount with sum)'
  await is(`compute(${total} as t)/groupby((t))`, '140.5000')
  await is(`filter(amount lt 100)/compute(${total} as t)/groupby((t))`, '40.0000')
  await is(
    `groupby((status),compute(${total} as t))/groupby((status,t))`,
    '-,0.0000 open,120.5000 paid,20.0000',
  )
  await is(
    'groupby((status),aggregate($count as n))/compute($these/aggregate(n with max) sub n as d)',
    '-,1,1 open,2,0 paid,2,0',
  )
  const counts = '$these/aggregate($count) as n,$these/aggregate(status with countdistinct) as d'
  await is(`compute(${counts})/groupby((n,d))`, '5,2')
  await is(
    'compute(amount sub $these/aggregate(amount with avg) as d)/aggregate(d with sum as s)',
    '0.00000000000000',
  )
  await is(
    'compute($these/aggregate($these/aggregate(amount with sum) with max) as n)/groupby((n))',
    '140.5000',
  )
})

test('what cannot be done is refused before any SQL', async () => {
  await using fixture = await InMemoryTables.open([...kinds])
  await using shop = await InMemoryTables.open()
  const refused = (apply: string, status: number) =>
    assert.is(shop.refusal(target(apply)).status, status, apply)
  for (const apply of [
    'aggregate(nope with sum as n)',
    'aggregate(amount with sum)',
    'aggregate(amount as n)',
    'aggregate(amount with median as n)',
    'aggregate(status with sum as n)',
    'aggregate(amount with sum as n,$count as n)',
    'aggregate(amount with sum as a-b)',
    'aggregate(null with max as n)',
    'aggregate(customer with max as n)',
    'aggregate(orders with max as n)',
    'groupby((status),aggregate($count as status))',
    'groupby((customer/city),aggregate($count as customer))',
    'groupby((nope))',
    'groupby((customer/nope))',
    'groupby((rollup(status)))',
    'groupby((status))/filter(amount gt 1)',
    'compute(amount as status)',
    'topcount(0,amount)',
    'topcount(amount,amount)',
    'toppercent(101,amount)',
    'topsum(1,status)',
    'concat(groupby((status)),aggregate($count as status))',
    'concat(identity,groupby((customer/city),aggregate($count as n)),aggregate($count as customer))',
    'unheard(1)',
  ])
    refused(apply, 400)
  for (const apply of [
    `aggregate((flags mul duration'P1D') with sum as n)`,
    'aggregate(amount with sum from status with max as n,$count as m)',
    'aggregate(amount with my.median as n)',
    'expand(customer)',
    'groupby(($root/shop_customers(1)))',
    'concat(groupby((customer)),identity)',
    'my.function()',
  ])
    refused(apply, 501)
  refused(`${'concat(identity,identity)/'.repeat(12)}identity`, 400)
  assert.is(
    fixture.refusal(target('aggregate(id with sum as n)', 't_kinds(1)')).code,
    'option-not-allowed',
  )
})

test.run()
