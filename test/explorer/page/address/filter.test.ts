import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  readFilter,
  writeFilter,
  type Condition,
  type Test,
} from '../../../../src/explorer/page/address/filter.ts'

const TYPES: Readonly<Record<string, string>> = {
  name: 'Edm.String',
  amount: 'Edm.Decimal',
  n: 'Edm.Int64',
  paid: 'Edm.Boolean',
  at: 'Edm.DateTimeOffset',
  day: 'Edm.Date',
  id: 'Edm.Guid',
  took: 'Edm.Duration',
  tags: 'Edm.String',
  'customer/country': 'Edm.String',
  customer: 'Edm.Untyped',
  größe: 'Edm.Double',
}
const typeOf = (column: string) => TYPES[column]

const is = (column: string, operator: Test['operator'], ...values: string[]): Condition => ({
  kind: 'test',
  column,
  operator,
  values,
})

const CASES: readonly (readonly [string, readonly Condition[]])[] = [
  ['', []],
  ["name eq 'paid'", [is('name', 'eq', 'paid')]],
  ["name ne 'O''Neil'", [is('name', 'ne', "O'Neil")]],
  ["name eq ''", [is('name', 'empty')]],
  ['name eq null', [is('name', 'null')]],
  ['name ne null', [is('name', 'notnull')]],
  ["contains(name,'a and b')", [is('name', 'contains', 'a and b')]],
  ["startswith(name,')(')", [is('name', 'startswith', ')(')]],
  ["name in ('a','b,c')", [is('name', 'in', 'a', 'b,c')]],
  ['amount ge 250.50 and amount le 300', [is('amount', 'between', '250.50', '300')]],
  ['amount ge 1 and n le 2', [is('amount', 'ge', '1'), is('n', 'le', '2')]],
  ['n eq 9223372036854775807', [is('n', 'eq', '9223372036854775807')]],
  ['paid eq true', [is('paid', 'eq', 'true')]],
  ['at lt 2026-01-31T08:30:00.123456Z', [is('at', 'lt', '2026-01-31T08:30:00.123456Z')]],
  ['day gt 2026-01-31', [is('day', 'gt', '2026-01-31')]],
  [
    'id eq 6f9619ff-8b86-d011-b42d-00c04fc964ff',
    [is('id', 'eq', '6f9619ff-8b86-d011-b42d-00c04fc964ff')],
  ],
  ["took gt duration'PT90S'", [is('took', 'gt', 'PT90S')]],
  ["'vip' in tags", [is('tags', 'has', 'vip')]],
  ["customer/country eq 'IE'", [is('customer/country', 'eq', 'IE')]],
  ['customer eq null', [is('customer', 'null')]],
  ['größe eq NaN', [is('größe', 'eq', 'NaN')]],
  ['größe lt -1.5e-3', [is('größe', 'lt', '-1.5e-3')]],
]

for (const [text, conditions] of CASES) {
  test(`${text || 'no filter'} is shown and written back`, () => {
    assert.equal(readFilter(text, typeOf), conditions)
    assert.is(writeFilter(conditions, typeOf), text)
  })
}

const FREE: readonly string[] = [
  "tolower(name) eq 'a'",
  'amount mul 2 gt 5',
  'not (n gt 5)',
  'n eq amount',
  "name gt 'it''s' and_more",
  'unknown eq 5',
  // Text where a number is: written again it would lose its quotes, and mean something else.
  "n eq '5'",
  'name eq 5',
  "orders/any(o:o/status eq 'a' and o/n gt 1)",
  "name eq 'unfinished",
]

for (const text of FREE) {
  test(`${text} stays text`, () => {
    assert.equal(readFilter(text, typeOf), [{ kind: 'text', text }])
    assert.is(writeFilter(readFilter(text, typeOf), typeOf), text)
  })
}

test('an or beside other conditions keeps its parentheses', () => {
  const text = "(n eq 1 or n eq 2) and name eq 'a'"
  const conditions = readFilter(text, typeOf)
  assert.equal(conditions, [{ kind: 'text', text: 'n eq 1 or n eq 2' }, is('name', 'eq', 'a')])
  assert.is(writeFilter(conditions, typeOf), text)
})

test('a condition in parentheses is the condition', () => {
  assert.equal(readFilter("(name eq 'a') and ((n gt 1))", typeOf), [
    is('name', 'eq', 'a'),
    is('n', 'gt', '1'),
  ])
})

test('a day that is typed for a time is the beginning of it in UTC', () => {
  assert.is(writeFilter([is('at', 'ge', '2026-01-31')], typeOf), 'at ge 2026-01-31T00:00:00Z')
  assert.is(writeFilter([is('at', 'ge', '2026-01-31 08:30')], typeOf), 'at ge 2026-01-31T08:30:00Z')
})

test('conditions of nothing but spaces are left out', () => {
  assert.is(writeFilter([{ kind: 'text', text: '  ' }, is('n', 'eq', '1')], typeOf), 'n eq 1')
})

test.run()
