// Each statement of the conformance levels (Protocol 4.01, chapter 12) that docs/odata/conformance.md answers with yes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { type Answer, type Served, serve } from '../support/odata-service.ts'
import { shop } from '../support/odata-tables.ts'
import { repository } from '../support/workspace.ts'

const nested = {
  model: 'shop.nested',
  key: ['id'],
  rows: sql`SELECT 1 AS id, ['a', 'b', 'c'] AS tags, {'city': 'Berlin', 'zip': '1'} AS address,
    INTERVAL 90 SECOND AS took`,
}

/** A status, or what the answer must have. */
type Expected = number | ((answer: Answer, served: Served) => unknown)
type Row = readonly [target: string, expected: Expected, headers?: Readonly<Record<string, string>>]

const rows =
  (count: number): Expected =>
  ({ json }) =>
    json.value.length === count
const has =
  (text: string): Expected =>
  ({ status, text: body }) =>
    status === 200 && body.includes(text)

const XML = '$metadata?$format=xml'
const [select, search, skip, count, any, total, orderby, expand]: readonly Row[] = [
  ['shop_customers?$select=name', has('"name"')],
  ['shop_customers?$search=alice', rows(1)],
  ['shop_customers?$skip=3', rows(2)],
  ['shop_customers?$count=true&$top=1', has('"@odata.count":5')],
  [
    "shop_customers?$filter=orders/any(o:o/status eq 'paid') and orders/all(o:o/order_id gt 1)",
    rows(2),
  ],
  ['shop_customers(1)/orders/$count', has('2')],
  ['shop_customers?$orderby=name desc&$top=1', ({ json }) => json.value[0].customer_id === 4],
  ['shop_customers(1)?$expand=orders', ({ json }) => json.orders.length === 2],
]
const inner = (options: string, n: number): Row => [
  `shop_customers(1)?$expand=orders(${options})`,
  ({ json }) => json.orders.length === n,
]
const filtered: Row = ['shop_customers?$filter=orders/$count($filter=order_id gt 10) eq 1', rows(2)]
const isNull: Row = ['shop_orders?$filter=customer eq null', rows(2)]
const within: Row = ['shop_orders?$filter=order_id in (10,11)', rows(2)]
const structural: Row = [
  `shop_nested?$filter=address eq @a&@a={"city":"Berlin","zip":"1"}`,
  rows(1),
]
const compute: Row = ['shop_orders(10)?$compute=amount mul 2 as twice', has('"twice":201')]
const filterPath: Row = ['shop_orders/$filter(order_id eq 10)', rows(1)]
const alias: Row = [
  'shop_customers(1)?$expand=orders($filter=order_id eq @o;@o=10)',
  has('"order_id":10'),
]

const requests: Readonly<Record<string, readonly Row[]>> = {
  '4.0 minimal 1': [['', has('"shop_customers"')]],
  '4.0 minimal 2': [['shop_customers', rows(5)]],
  '4.0 minimal 3': [
    ['shop_customers', has('"@odata.nextLink"'), { prefer: 'odata.maxpagesize=2' }],
  ],
  '4.0 minimal 4': [['nope', ({ headers }) => headers['odata-version'] === '4.01']],
  '4.0 minimal 5': [
    ['shop_customers', 406, { accept: 'image/png' }],
    ['shop_customers', 400, { 'odata-maxversion': '3.0' }],
  ],
  '4.0 minimal 6': [
    ['shop_customers?own=1', 200],
    ['shop_customers?$own=1', 400],
  ],
  '4.0 minimal 7': [['shop_customers?$index=1', 501]],
  '4.0 minimal 8': [
    [XML, ({ text }) => !/(?<!<Record) Type="(?!Edm\.|eider\.|Collection\()/.test(text)],
  ],
  '4.0 minimal 9': [
    [
      'shop_log',
      ({ json }) => Object.keys(json).join() === 'value',
      { accept: 'application/json;metadata=none' },
    ],
  ],
  '4.0 minimal 10': [[XML, has('Property="Insertable" Bool="false"')]],
  '4.0 minimal 12': [expand!],
  '4.0 minimal 13': [
    [XML, has('<edmx:Edmx')],
    ['$metadata?$format=json', has('"$Version"')],
  ],
  '4.0 minimal 14': [['shop_customers', rows(2), { prefer: 'odata.maxpagesize=2' }]],
  '4.0 minimal 15': [["shop_nested?$filter=took eq duration'PT90S'", rows(1)]],
  '4.0 intermediate 3': [select!],
  '4.0 intermediate 5': [['shop_customers?$top=2', rows(2)]],
  '4.0 intermediate 6': [['shop_customers(1)/name/$value', has('Alice')]],
  '4.0 intermediate 7.1': [["shop_customers?$filter=name eq 'Bob' or name ne 'Bob'", rows(5)]],
  '4.0 intermediate 7.2': [["shop_customers?$filter=name eq @n&@n='Bob'", rows(1)]],
  '4.0 intermediate 7.3': [
    ['shop_orders?$filter=not (amount add 1 ge 21 and order_id mod 2 eq 1)', rows(4)],
  ],
  '4.0 intermediate 7.4': [
    ["shop_customers?$filter=startswith(tolower(name),'ali')", rows(1)],
    ['shop_customers?$filter=geo.length(name) gt 1', 501],
  ],
  '4.0 intermediate 7.5': [inner('$filter=order_id eq 10', 1)],
  '4.0 intermediate 11': [search!],
  '4.0 intermediate 12': [skip!],
  '4.0 intermediate 13': [count!],
  '4.0 intermediate 15': [any!],
  '4.0 intermediate 16': [total!],
  '4.0 intermediate 17': [orderby!],
  '4.0 advanced 4': [total!, ['shop_nested(1)/tags/$count', has('3')]],
  '4.0 advanced 5': [any!, ["shop_nested?$filter=tags/any(t:t eq 'b')", rows(1)]],
  '4.0 advanced 6 to 8': [skip!, count!, orderby!],
  '4.0 advanced 9.1': [
    ['shop_customers(1)?$expand=orders/$ref', has('"@odata.id":"shop_orders(10)"')],
  ],
  '4.0 advanced 9.2': [inner('$filter=order_id eq 10', 1)],
  '4.0 advanced 9.3': [['shop_customers(1)?$expand=orders/eider.shop_orders', has('"orders"')]],
  '4.0 advanced 9.4 to 9.6': [inner('$orderby=order_id desc;$count=true;$skip=1;$top=1', 1)],
  '4.0 advanced 9.7': [inner('$search=paid', 1)],
  '4.0 advanced 9.8': [inner('$levels=2', 2)],
  '4.0 advanced 9.9': [inner('$compute=amount mul 2 as twice', 2)],
  '4.0 advanced 10': [search!],
  '4.0 advanced 12': [
    ['shop_orders(10)/customer/name', has('Alice')],
    ['$entity?$id=shop_orders(10)', has('"order_id":10')],
    ['shop_orders(10)/$ref', has('shop_orders(10)')],
  ],
  '4.0 advanced 14': [['shop_customers', has('"@odata.deltaLink"'), { prefer: 'track-changes' }]],
  '4.0 advanced 15': [['$crossjoin(shop_customers,shop_orders)/$count', has('25')]],
  '4.0 advanced 16': [compute],
  '4.01 minimal 2': [['shop_customers', has('"@odata.context"'), { 'odata-maxversion': '4.01' }]],
  '4.01 minimal 4': [['shop_customers', rows(2), { prefer: 'maxpagesize=2' }]],
  '4.01 minimal 6': [['shop_customers?top=2', rows(2)]],
  '4.01 minimal 7': [["shop_customers?$FILTER=StartsWith(name,'A') AND vip EQ true", rows(1)]],
  '4.01 minimal 8': [['shop_customers?$top=1', has('"customer_id"')]],
  '4.01 minimal 9.1': [["shop_customers?$filter=since eq cast('2020-01-15',Edm.Date)", rows(1)]],
  '4.01 minimal 9.2': [["shop_nested?$filter=took eq 'PT90S'", rows(1)]],
  '4.01 minimal 9.6': [['shop_customers(@k)?@k=1', has('Alice')]],
  '4.01 minimal 9.8': [isNull],
  '4.01 minimal 9.9': [within],
  '4.01 minimal 9.10': [['shop_orders?$filter=order_id divby 4 eq 2.5', rows(1)]],
  '4.01 minimal 9.11': [["shop_customers?$filter=substring(name,-3) eq 'ice'", rows(1)]],
  '4.01 minimal 9.13': [filtered],
  '4.01 minimal 9.14': [structural],
  '4.01 minimal 10': [
    [XML, 200],
    ['$metadata?$format=json', 200],
  ],
  '4.01 minimal 12': [[XML, has('ODataVersions" String="4.0 4.01"')]],
  '4.01 minimal 13': [[XML, has('Org.OData.Capabilities.V1.ChangeTracking')]],
  '4.01 minimal 16': [['shop_customers(1)/orders?$search=paid', rows(1)]],
  '4.01 minimal 17': [['', ({ headers }) => headers['odata-version'] === '4.01']],
  '4.01 intermediate 3': [isNull],
  '4.01 intermediate 4': [within],
  '4.01 intermediate 5': [
    [
      'shop_nested(1)?$select=address($select=city)',
      ({ json }) => Object.keys(json.address).join() === 'city',
    ],
  ],
  '4.01 intermediate 6': [filtered],
  '4.01 intermediate 7': [structural],
  '4.01 intermediate 8': [compute],
  '4.01 intermediate 9': [
    ['shop_nested(1)?$select=tags($top=1)', ({ json }) => json.tags.length === 1],
  ],
  '4.01 intermediate 10': [alias],
  '4.01 intermediate 11': [filterPath],
  '4.01 advanced 3': [
    filtered,
    ['shop_customers?$filter=orders/$count($search=paid) eq 1', rows(2)],
  ],
  '4.01 advanced 4': [compute],
  '4.01 advanced 5.1': [
    ["shop_nested(1)?$select=tags($filter=$this gt 'a')", ({ json }) => json.tags.length === 2],
  ],
  '4.01 advanced 5.2 to 5.4': [
    [
      'shop_nested(1)?$select=tags($orderby=$this desc;$count=true;$skip=1;$top=1)',
      ({ json }) => json.tags[0] === 'b' && json['tags@odata.count'] === 3,
    ],
  ],
  '4.01 advanced 5.5': [
    ['shop_nested(1)?$select=tags($search=B)', ({ json }) => json.tags.join() === 'b'],
  ],
  '4.01 advanced 6': [['$metadata?$format=json', has('"$EntityContainer"')]],
  '4.01 advanced 8': [filterPath],
  '4.01 advanced 9': [alias],
}

test('every statement that is answered with yes has a request that shows it', () => {
  const page = readFileSync(join(repository, 'docs', 'odata', 'conformance.md'), 'utf8')
  const said = [...page.matchAll(/^\| (4\.\S+ \w+ [^|]*?) +\|.*\| yes +\|$/gm)].map(([, id]) => id!)
  assert.ok(said.length > 70)
  assert.equal(said, Object.keys(requests))
})

test('each of them holds', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [...shop, nested])
  for (const [id, all] of Object.entries(requests))
    for (const [target, expected, headers = {}] of all) {
      const answer = await served.get(encodeURI(target).replaceAll('#', '%23'), headers)
      const holds =
        typeof expected === 'number' ? answer.status === expected : expected(answer, served)
      assert.ok(holds, `${id}: ${target} ${answer.status} ${answer.text.slice(0, 300)}`)
    }
})

test.run()
