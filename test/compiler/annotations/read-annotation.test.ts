// Each form of a value: texts that it takes, and texts that it refuses with the place that a diagnostic points at.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import {
  type AnnotationValues,
  readParts,
  readValue,
} from '../../../src/compiler/annotations/read-annotation.ts'

type Form = keyof AnnotationValues

/** Places count from 0; `names` are columns without their places. */
const taken: readonly (readonly [form: Form, text: string, value: unknown])[] = [
  ['word', 'merge', 'merge'],
  ['text', '  revenue of a day, in EUR ', '  revenue of a day, in EUR '],
  ['columns', 'order_id', ['order_id']],
  ['columns', '"Line No" , größe$2', ['Line No', 'größe$2']],
  ['columns', '"a ""b"", c"', ['a "b", c']],
  ['optionalColumns', '', []],
  ['optionalColumns', 'a, b', ['a', 'b']],
  ['incremental', 'updated_at', { column: 'updated_at', lookback: null }],
  ['incremental', 'updated_at lookback 1 hour', { column: 'updated_at', lookback: '1 hour' }],
  ['incremental', '"at"  lookback 100', { column: 'at', lookback: '100' }],
  ['onDuplicate', 'fail', null],
  ['onDuplicate', 'latest ( "at" )', 'at'],
  ['deletes', 'keep', 'keep'],
  ['deletes', 'mirror', 'mirror'],
  ['onSchemaChange', 'evolve', 'evolve'],
  ['onSchemaChange', 'rebuild', 'rebuild'],
  ['onSchemaChange', 'fail', 'fail'],
  ['check', 'not_null(a, b)', { is: 'not_null', columns: ['a', 'b'] }],
  ['check', 'unique ( a , "b c" )', { is: 'unique', columns: ['a', 'b c'] }],
  [
    'check',
    "accepted(status, 'open', 'it''s', -1.5, true)",
    { is: 'accepted', column: 'status', values: ['open', "it's", '-1.5', true] },
  ],
  [
    'check',
    'references(customer_id, core."my customers".id)',
    { is: 'references', column: 'customer_id', model: 'core.my customers', target: 'id' },
  ],
  ['check', 'row_count(>= 10)', { is: 'row_count', comparison: '>=', rows: 10 }],
  ['check', "amount >= 0 OR status = 'refund'", { is: 'condition' }],
  ['check', 'not_nullable', { is: 'condition' }],
  ['models', 'raw.orders, "my shop".orders', ['raw.orders', 'my shop.orders']],
  ['hierarchy', 'org : "Id"  parent boss', { name: 'org', node: 'Id', parent: 'boss' }],
  ['columnText', '"Line No" : 1, 2, …', { column: 'Line No', text: '1, 2, …' }],
]

const refused: readonly (readonly [form: Form, text: string, failedAt: number])[] = [
  ['word', 'merge append', 6],
  ['word', '', 0],
  ['text', '', 0],
  ['columns', '', 0],
  ['columns', 'order_id,', 9],
  ['columns', 'order_id line', 9],
  ['columns', '2nd', 0],
  ['columns', 'a-b', 1],
  ['columns', '""', 2],
  ['columns', '"open', 5],
  ['optionalColumns', ',', 0],
  ['incremental', 'updated_at 1 hour', 11],
  ['incremental', 'updated_at lookback 1 fortnight', 22],
  ['incremental', 'updated_at lookback two days', 20],
  ['incremental', '', 0],
  ['onDuplicate', 'latest', 6],
  ['onDuplicate', 'latest(a, b)', 8],
  ['onDuplicate', 'first(updated_at)', 0],
  ['deletes', 'drop', 0],
  ['onSchemaChange', 'replace', 0],
  ['check', 'unique(a) AND true', 10],
  ['check', 'not_null()', 9],
  ['check', 'accepted(status)', 15],
  ['check', "accepted('a', 1)", 9],
  ['check', "accepted(a, 'open)", 18],
  ['check', 'references(customer_id, customers)', 33],
  ['check', 'row_count(some)', 10],
  ['check', 'row_count(10)', 10],
  ['check', 'row_count(== 10)', 11],
  ['check', 'row_count (a) > 1', 11],
  ['check', '', 0],
  ['models', 'orders', 6],
  ['models', '', 0],
  ['hierarchy', 'org', 3],
  ['hierarchy', 'org: id', 7],
  ['hierarchy', 'org: id boss', 8],
  ['hierarchy', 'org: id parent', 8],
  ['columnText', 'amount', 6],
  ['columnText', 'amount:', 7],
]

test('what each form takes', () => {
  for (const [form, text, value] of taken) {
    const read = readValue(form, text, 0)
    assert.ok('value' in read, `${form}: ${text}`)
    assert.equal(namesOf(read.value), value, `${form}: ${text}`)
  }
})

test('what each form refuses, and where', () => {
  for (const [form, text, failedAt] of refused)
    assert.equal(readValue(form, text, 0), { failedAt }, `${form}: ${text}`)
})

test('places count from the start of the file', () => {
  const read = readValue('models', 'raw.orders,"my shop".orders', 100)
  assert.equal(read, {
    value: [
      { name: 'raw.orders', span: { start: 100, end: 110 } },
      { name: 'my shop.orders', span: { start: 111, end: 127 } },
    ],
  })
})

test('a name, and a value after a colon or blanks', () => {
  const valueOf = (text: string) => {
    const parts = readParts(text)
    return 'failedAt' in parts ? parts.failedAt : [parts.name, parts.value]
  }
  for (const text of ['@kind: merge', '@kind:merge', '@kind \t merge'])
    assert.equal(valueOf(text), ['kind', 'merge'], text)
  assert.equal(valueOf('@expose'), ['expose', ''])
  assert.equal(valueOf('@on_duplicate2: : x'), ['on_duplicate2', ': x'])
  assert.is(valueOf('kind: merge'), 0)
  assert.is(valueOf('@: merge'), 1)
  assert.is(valueOf('@2kind'), 1)
  assert.is(valueOf('@unique_key(id)'), 11)
})

/** Columns and models by their names alone. */
function namesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesOf)
  if (typeof value !== 'object' || value === null) return value
  if ('span' in value && 'name' in value) return value.name
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, namesOf(part)]))
}

test.run()
