import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'
import { asStored, fromStored, parseType, storedType } from '../../src/core/type-syntax.ts'

const same = [
  'BOOLEAN',
  'BIGINT',
  'UBIGINT',
  'DOUBLE',
  'DECIMAL(18,4)',
  'VARCHAR',
  'BLOB',
  'UUID',
  'JSON',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
  'VARIANT',
  'GEOMETRY',
  'INTEGER[]',
  'STRUCT("a b" INTEGER, c MAP(VARCHAR, DECIMAL(10,2)[]))',
  'STRUCT(INTEGER, DECIMAL(4,2)[], TIMESTAMP WITH TIME ZONE, STRUCT(a INTEGER), VARCHAR)',
]

for (const type of same)
  test(`${type} is stored as it is`, () => assert.is(storedType(columnType(type)), type))

const others = [
  ['HUGEINT', 'DECIMAL(38,0)'],
  ['UHUGEINT', 'DECIMAL(38,0)'],
  ['INTERVAL', 'VARCHAR'],
  ['TIME WITH TIME ZONE', 'VARCHAR'],
  ['TIME_NS', 'VARCHAR'],
  ['BIT', 'VARCHAR'],
  ['BIGNUM', 'VARCHAR'],
  ["ENUM('a', 'it''s')", 'VARCHAR'],
  ['TIMESTAMP_S', 'TIMESTAMP'],
  ["GEOMETRY('OGC:CRS84')", 'GEOMETRY'],
  ['INTEGER[3]', 'INTEGER[]'],
  ['INTEGER[3][2]', 'INTEGER[][]'],
  ['HUGEINT[]', 'DECIMAL(38,0)[]'],
  ['MAP(UHUGEINT, INTERVAL)', 'MAP(DECIMAL(38,0), VARCHAR)'],
  [
    'STRUCT("a b" HUGEINT, c INTEGER, d STRUCT("e""f" BIT)[2])',
    'STRUCT("a b" DECIMAL(38,0), "c" INTEGER, "d" STRUCT("e""f" VARCHAR)[])',
  ],
] as const

for (const [type, stored] of others)
  test(`${type} is stored as ${stored}`, () => assert.is(storedType(columnType(type)), stored))

for (const type of [
  'UNION(n INTEGER, t VARCHAR)',
  'STRUCT(a UNION(n INTEGER)[])',
  'MAP(VARCHAR, UNION(n INTEGER))',
])
  test(`${type} is not stored`, () => assert.is(storedType(columnType(type)), null))

test('a value is cast only where its type changes, and an INTERVAL is compared with what it would be', () => {
  const written = (type: string) => asStored(sql.ident('v'), columnType(type), 'v').inline()
  const read = (type: string) => fromStored(sql.ident('v'), columnType(type)).inline()
  assert.is(written('BIGINT'), '"v"')
  assert.is(read('BIGINT'), '"v"')
  assert.is(written('HUGEINT'), 'CAST("v" AS DECIMAL(38,0))')
  assert.is(read('HUGEINT'), 'CAST("v" AS HUGEINT)')
  assert.match(written('INTERVAL[]'), 'the column v has an INTERVAL')
})

test('fields without names are called by their places', () => {
  const tree = parseType(
    columnType('STRUCT(TIMESTAMP WITH TIME ZONE, VARCHAR[], STRUCT("timestamp" TIME))'),
  )
  assert.ok(tree.is === 'struct')
  assert.equal([...tree.fields.keys()], ['1', '2', '3'])
  assert.equal(tree.fields.get('1'), {
    is: 'scalar',
    name: 'TIMESTAMP WITH TIME ZONE',
    parameters: [],
  })
})

test.run()
