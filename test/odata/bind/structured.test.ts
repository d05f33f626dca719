import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { requestTests } from '../../support/request-tests.ts'

const onShop = requestTests()

const people: readonly Table[] = [
  {
    model: 's.people',
    key: ['id'],
    rows: sql`SELECT * FROM (VALUES
      (1, 'Ann', {city: 'Rome', zip: 100, geo: {lat: 1.5::DOUBLE}, phones: ['1', '2']},
        ['a', 'b', 'b'], [1, 2, 3]::BIGINT[], [{n: 1, s: 'q'}, {n: 2, s: NULL}]),
      (2, 'Bob', NULL, NULL, [], []),
      (3, 'Cid', {city: NULL, zip: 7, geo: NULL, phones: NULL}, ['b', NULL], [9007199254740993], [NULL, {n: 5, s: 'Cid'}])
    ) AS v(id, name, address, tags, nums, lines)`,
  },
]

const onPeople = requestTests(people)

onPeople('Q133: parts of structs are values', (t) => {
  t.finds('s_people', {
    "address/city eq 'Rome'": '1',
    'address/city eq null': '2 3',
    'address/geo/lat gt 1': '1',
    'not (address/zip gt 50)': '2 3',
    'address eq null': '2',
    'address ne null': '1 3',
    'address eq $it/address': '1 2 3',
    "contains(address/city,'om') and $it/address/zip add 1 eq 101": '1',
    "address/phones/any(p:p eq '2')": '1',
  })
  t.answers([
    ['s_people?$orderby=address/zip desc', '1 3 2'],
    [
      's_people?$apply=groupby((address/city),aggregate($count as n))&$orderby=n desc&$select=n',
      '2 1',
    ],
  ])
  t.refuses('s_people', {
    'address/nowhere eq 1': 'unknown-property',
    'address/City eq null': 'unknown-property',
    'name/city eq null': 'unknown-property',
    'address gt address': 'type-mismatch',
    'address eq 1': 'type-mismatch',
    'length(address) eq 1': 'type-mismatch',
  })
  t.refusesTargets([
    ['s_people?$orderby=address', 'type-mismatch'],
    ['s_people?$apply=groupby((address))', 'type-mismatch'],
    ['s_people?$apply=aggregate(tags with max as m)', 'type-mismatch'],
  ])
})

onPeople('JSON objects are compared with structs, property by property', (t) => {
  const whole = '{"city":"Rome","zip":100,"geo":{"lat":1.5},"phones":["1","2"]}'
  t.finds('s_people', {
    [`address eq ${whole}`]: '1',
    [`${whole} eq address`]: '1',
    [`address ne ${whole}`]: '2 3',
    'address eq {"city":"Rome"}': '',
    'address eq {"zip":7}': '3',
    'address eq { "zip" : 6 add 1 , "phones" : [] }': '3',
    'not (address eq {"zip":7.0,"city":null})': '1 2',
    'address eq {}': '',
    'address/geo eq {"lat":1.5e0}': '1',
    'address in [{"zip":7},{"zip":8}]': '3',
    [`address in [null,${whole}]`]: '1 2',
    'lines/any(l:l eq {"n":2})': '1',
    'lines/any(l:l eq {"n":5,"s":name})': '3',
    '{"n":1,"s":"q"} in lines': '1',
    'lines eq [{"n":1,"s":"q"},{"n":2}]': '1',
    'lines eq [null,{"n":5,"s":"Cid"}]': '3',
    'lines ne [{"n":1,"s":"q"}]': '1 2 3',
    'lines/$filter($this eq {"n":2})/$count eq 1': '1',
  })
  const alias =
    's_people?$filter=address eq @a or lines eq @b&@a={"zip":7}&@b=[{"n":1,"s":"q"},{"n":2}]'
  t.answers([[alias, '1 3']])
  t.refuses('s_people', {
    'address eq {"town":"Rome"}': 'unknown-property',
    'address eq {"zip":7,"zip":7}': 'syntax-error',
    'address eq {"zip":"x"}': 'type-mismatch',
    'address gt {"zip":7}': 'type-mismatch',
    'name eq {"zip":7}': 'type-mismatch',
    '{"a":1} eq {"a":1}': 'type-mismatch',
    'address eq {zip:7}': 'syntax-error',
    'address eq case(true:{"zip":7})': 'not-supported',
    'hassubset(lines,[{"n":2}])': 'not-supported',
    'lines/$count($filter=$this eq {"n":2}) eq {"n":2}': 'type-mismatch',
  })
  t.refusesTargets([
    ['s_people?$compute={"a":1} as x', 'not-supported'],
    ['s_people?$compute=[{"a":1}] as x', 'not-supported'],
    ['s_people?$orderby={"a":1}', 'not-supported'],
    ['s_people(@k)?@k={"a":1}', 400],
  ])
})

test('what $select does not choose by is said, and not passed over', async () => {
  await using fixture = await InMemoryTables.open(people)
  const code = (select: string) => fixture.refusal(`s_people?$select=${select}`).code
  for (const select of [
    'address/phones($top=1)',
    'address($select=phones($top=1))',
    'address($compute=zip add 1 as next)',
    'address($select=city($levels=2))',
  ])
    assert.is(code(select), 'not-supported', select)
  for (const select of ['address($top=1)', 'name($top=1)', 'tags($top=1),tags($top=2)'])
    assert.is(code(select), 'option-not-allowed', select)
  assert.is(code('address/city/name'), 'unknown-property')
  await using shop = await InMemoryTables.open()
  for (const select of ['orders/amount', 'orders($top=1)', 'orders($select=amount)'])
    assert.is(shop.refusal(`shop_customers?$select=${select}`).code, 'invalid-option-value', select)
})

test('a text of JSON is read as the type that it meets', async () => {
  await using fixture = await InMemoryTables.open([
    {
      model: 's.visits',
      key: ['id'],
      rows: sql`SELECT * FROM (VALUES
        (1, {day: DATE '2024-02-29', since: TIMESTAMP '2024-02-29 10:00:00', tod: TIME '10:30:00',
          who: UUID '01234567-89ab-cdef-0123-456789abcdef', took: INTERVAL 90 SECOND}),
        (2, NULL)
      ) AS v(id, visit)`,
    },
  ])
  const visit = (day: string) =>
    `s_visits?$filter=visit eq {"day":"${day}","since":"2024-02-29T11:00:00%2B01:00","tod":"10:30","who":"01234567-89AB-cdef-0123-456789abcdef","took":"PT1M30S"}`
  assert.is(await fixture.first(visit('2024-02-29')), '1')
  assert.is(await fixture.first(visit('2024-02-28')), '')
  assert.is(fixture.refusal(visit('2024-02-30')).code, 'invalid-value')
  assert.is(fixture.refusal('s_visits?$filter=visit eq {"who":"me"}').code, 'invalid-value')
})

onPeople('lists: any, all, $count and in; a list that is NULL is empty', (t) => {
  t.finds('s_people', {
    "tags/any(t:t eq 'b')": '1 3',
    "not tags/any(t:t eq 'b')": '2',
    'tags/any()': '1 3',
    'tags/all(t:t ne null)': '1 2',
    "tags/all(t:t eq 'b' or t eq name)": '2',
    'lines/any(l:l/n gt 1)': '1 3',
    'lines/any(l:l/s eq name)': '3',
    'lines/any(l:l eq null)': '3',
    'lines/any(l:nums/any(x:x eq l/n and l/n ge 2))': '1',
    'tags/$count eq 0': '2',
    "tags/$count($filter=$this eq 'b') eq 2": '1',
    'tags/$filter($this ne null)/$count eq 1': '3',
    'lines/$count($filter=n gt 1) eq 1': '1 3',
    'lines/$filter(n gt 0)/$filter(s eq null)/$count eq 1': '1',
    'address/phones/$count gt 1': '1',
    "'a' in tags": '1',
    'null in tags': '3',
    '9007199254740993 in nums': '3',
    '9007199254740992 in nums': '',
    'tags eq null': '',
  })
  t.refuses('s_people', {
    'name/any()': 'type-mismatch',
    'address/any()': 'type-mismatch',
    'tags/any(t:t gt 1)': 'type-mismatch',
    'tags/any(t:t/n eq 1)': 'unknown-property',
    'lines/any(l:l/nowhere eq 1)': 'unknown-property',
    'lines/$count($filter=name eq null) eq 1': 'unknown-property',
    '1 in tags': 'type-mismatch',
  })
})

onPeople('lists as values: literals, comparison and functions', (t) => {
  t.finds('s_people', {
    "tags eq ['a','b','b']": '1',
    'tags ne []': '1 3',
    'nums eq [1,2,3]': '1',
    'nums eq [1.0,2,3]': '1',
    'tags eq ["b",null]': '3',
    "[name,'x'] in [['Ann','x'],['Cid','y']]": '1',
    "['a'] eq ['a','b'] or [name] eq ['Bob']": '2',
    'length(tags) eq 3': '1',
    "hassubset(tags,['b','a'])": '1',
    "hassubset(tags,['b','b','b'])": '',
    "hassubset(tags,['b','b'])": '1',
    'hassubset(tags,[])': '1 2 3',
    'hassubset([],tags)': '2',
    'hassubset(tags,[null])': '3',
    'hassubsequence(nums,[1,3])': '1',
    'hassubsequence(nums,[3,1])': '',
    'HasSubsequence([4,1,3],nums)': '2',
    'contains(nums,[2,3])': '1',
    'contains(nums,[1,3])': '',
    'startswith(nums,[1,2])': '1',
    'startswith(nums,[])': '1 2 3',
    'endswith(nums,[2,3])': '1',
    'endswith(nums,[1,1,2,3])': '',
    'indexof(nums,[3]) eq 2': '1',
    'indexof(nums,[]) eq 0': '1 2 3',
    'indexof(nums,[7]) eq -1': '1 2 3',
    'concat(nums,[4]) eq [1,2,3,4]': '1',
    'substring(nums,1) eq [2,3]': '1',
    'substring(nums,-2,1) eq [2]': '1',
    'substring(nums,0,0) eq []': '1 2 3',
  })
  t.refuses('s_people', {
    'tags eq [1]': 'type-mismatch',
    'tags gt tags': 'type-mismatch',
    "['a',1] eq tags": 'type-mismatch',
    'hassubset(tags)': 'wrong-arguments',
    'hassubset(name,tags)': 'type-mismatch',
    "hassubset('a','b')": 'type-mismatch',
    'toupper(tags) eq tags': 'type-mismatch',
    "indexof(tags,'a') eq 1": 'type-mismatch',
    'year(nums) eq 1': 'type-mismatch',
  })
})

onShop('entities are compared by their keys', (t) => {
  t.finds('shop_orders', [
    ['customer eq $root/shop_customers(1)', '10 11'],
    ['customer ne $root/shop_customers(1)', '12 13 14'],
    ['$it eq $root/shop_orders(12)', '12'],
  ])
  t.test((fixture) => {
    const refusal = (filter: string) => fixture.refusal(`shop_orders?$filter=${filter}`).code
    assert.is(refusal('customer%20eq%20$it'), 'type-mismatch')
    assert.is(refusal('customer%20gt%20$it'), 'type-mismatch')
    assert.is(refusal('customer%20eq%20amount'), 'type-mismatch')
  })
})

onShop('after the ABNF: what stands in lists, prefixes, white space', (t) => {
  t.answers([
    ['shop_customers?$filter=customer_id%20in%20(1,@p)&@p=3', '1 3'],
    [`shop_customers?$search='ob ar'`, '2'],
    [`shop_customers?$search='"ob'`, '2'],
    ['shop_customers?$search=%27%22%27', '1 2 3 4 5'],
  ])
  t.test((fixture) => {
    const refusal = (query: string) => {
      const { status, code } = fixture.refusal(`shop_customers?${encodeURI(query)}`)
      return `${status} ${code}`
    }
    assert.is(refusal('$filter= vip'), '400 syntax-error')
    assert.is(refusal('$filter=vip '), '400 syntax-error')
    assert.is(refusal('$filter=name in (name,city)'), '400 syntax-error')
    assert.is(refusal("$filter=X'1a' eq null"), '400 syntax-error')
    assert.is(refusal('$filter={"a":1} eq 1'), '400 type-mismatch')
    assert.is(refusal('$filter=[{}] eq null'), '501 not-supported')
    assert.is(refusal('$filter=vip#x'), '400 invalid-url')
  })
})

onShop('$root leads to any other entity', (t) => {
  t.finds('shop_customers', [
    ['city eq $root/shop_customers(2)/city', '2'],
    ['customer_id eq $root/shop_orders(10)/customer/customer_id', '1'],
    ['credit gt $root/shop_items(order_id=11,line=1)/qty', '1 2'],
    ['customer_id eq $root/shop_customers(2)/orders(12)/customer_id', '2'],
    ['$root/shop_orders/$count eq 5 and customer_id lt 2', '1'],
    ["$root/shop_orders/any(o:o/customer_id eq customer_id and o/status eq 'open')", '1'],
    ['$root/shop_customers(77)/city eq null and customer_id eq 1', '1'],
    ['orders(11)/amount eq 20', '1'],
    ['$root/shop_customers(77) eq null', '1 2 3 4 5'],
  ])
  const refused = {
    '$root/nowhere(1)/a eq 1': 'unknown-property',
    '$root/shop_customers/city eq null': 'type-mismatch',
    '$root/shop_customers(1)/nowhere eq null': 'unknown-property',
    '$root/shop_customers(1) gt 5': 'type-mismatch',
    "$root/shop_customers('a')/city eq null": 'type-mismatch',
    'orders(line=1)/amount eq 1': 'invalid-key',
    'name(1)/a eq 1': 'type-mismatch',
  }
  t.refuses('shop_customers', refused)
})

test.run()
