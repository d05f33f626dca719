import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../../src/core/relation.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import {
  decimalForBoth,
  isLosslessWidening,
} from '../../../src/pipeline/build/materialize/widening.ts'

/** Types with their extreme values. */
const extremes: Readonly<Record<string, readonly string[]>> = {
  TINYINT: ['-128', '127'],
  SMALLINT: ['-32768', '32767'],
  INTEGER: ['-2147483648', '2147483647'],
  BIGINT: ['-9223372036854775808', '9223372036854775807'],
  HUGEINT: ['-170141183460469231731687303715884105728', '170141183460469231731687303715884105727'],
  UTINYINT: ['0', '255'],
  USMALLINT: ['0', '65535'],
  UINTEGER: ['0', '4294967295'],
  UBIGINT: ['0', '18446744073709551615'],
  FLOAT: ['3.4028235e38', '0.1'],
  DOUBLE: ['1.7976931348623157e308', '0.1'],
  'DECIMAL(5,2)': ['-999.99', '999.99'],
  'DECIMAL(18,4)': ['99999999999999.9999', '0.0001'],
  'DECIMAL(21,0)': ['999999999999999999999'],
  DATE: ['1900-01-01', '2100-12-31'],
  TIMESTAMP: ['1900-01-01 00:00:00.000001'],
  UUID: ['550e8400-e29b-41d4-a716-446655440000'],
  "ENUM('x', 'y')": ['y'],
  "ENUM('z', 'y', 'x')": ['x'],
  VARCHAR: ['text'],
  'STRUCT(a INTEGER)': ["{'a': 2147483647}", "{'a': NULL}"],
  'STRUCT(b VARCHAR, A BIGINT)': ["{'b': 'x', 'A': 9}"],
  'STRUCT(a INTEGER, "of it" STRUCT(b DATE))[]': ["[{'a': 1, 'of it': {'b': '2026-01-31'}}, NULL]"],
  'STRUCT("of it" STRUCT(c VARCHAR, b TIMESTAMP), a INTEGER)[]': ['[]'],
  'MAP(VARCHAR, STRUCT(a INTEGER)[])': ['{k=[{a: 1}]}'],
  'MAP(VARCHAR, STRUCT(a INTEGER, b VARCHAR)[])': ['{k=[{a: 1, b: x}]}'],
  BOOLEAN: ['true'],
}

test('a widening brings every value back as it was', async () => {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  let widenings = 0
  for (const [from, values] of Object.entries(extremes))
    for (const to of Object.keys(extremes)) {
      const [narrow, wide] = [columnType(from), columnType(to)]
      if (!isLosslessWidening(narrow, wide)) continue
      widenings++
      for (const value of values) {
        const before = sql.value(value, narrow)
        const after = sql`CAST(CAST(${before} AS ${sql.type(wide)}) AS ${sql.type(narrow)})`
        const row = await connection.row(sql`SELECT ${before} = ${after} AS same`)
        assert.is(row?.['same'], true, `${value} from ${from} to ${to}`)
      }
    }
  assert.ok(widenings > 40, String(widenings))
})

test('an ENUM is widened by members, in whatever order, and not by others', () => {
  const [two, three, other] = ["ENUM('x', 'y')", "ENUM('z', 'y', 'x')", "ENUM('x', 'z')"]
  const isWidening = (from: string, to: string) =>
    isLosslessWidening(columnType(from), columnType(to))
  assert.ok(isWidening(two, three))
  assert.ok(isWidening(two, "ENUM('y', 'x')"))
  assert.not(isWidening(three, two))
  assert.not(isWidening(two, other))
})

test('what could lose something is no widening', () => {
  const pairs = [
    ['BIGINT', 'INTEGER'],
    ['BIGINT', 'DOUBLE'],
    ['BIGINT', 'DECIMAL(18,4)'],
    ['INTEGER', 'FLOAT'],
    ['INTEGER', 'UINTEGER'],
    ['DECIMAL(18,4)', 'DECIMAL(18,2)'],
    ['DECIMAL(18,4)', 'DECIMAL(18,6)'],
    ['DECIMAL(5,2)', 'DOUBLE'],
    ['TIMESTAMP', 'DATE'],
    ['INTEGER', 'VARCHAR'],
    ['VARCHAR', 'INTEGER'],
    ['STRUCT(a INTEGER, b INTEGER)', 'STRUCT(a INTEGER)'],
    ['STRUCT(a INTEGER)', 'STRUCT(a VARCHAR, b INTEGER)'],
    ['STRUCT(a INTEGER)', 'STRUCT(b INTEGER)'],
    ['STRUCT(a INTEGER)[]', 'STRUCT(a INTEGER, b INTEGER)'],
    ['INTEGER[]', 'BIGINT[2]'],
    ['MAP(DATE, INTEGER)', 'MAP(TIMESTAMP, INTEGER)'],
    ['UNION(a INTEGER)', 'UNION(a BIGINT)'],
    ["ENUM('x')[]", "ENUM('x')"],
  ] as const
  for (const [from, to] of pairs)
    assert.not(isLosslessWidening(columnType(from), columnType(to)), `${from} to ${to}`)
})

test('the DECIMAL that holds an integer and a DECIMAL, or two of them', () => {
  const both = {
    'INTEGER and DECIMAL(8,2)': 'DECIMAL(12,2)',
    'DECIMAL(8,2) and INTEGER': 'DECIMAL(12,2)',
    'DECIMAL(18,4) and DECIMAL(20,2)': 'DECIMAL(22,4)',
    'BIGINT and UBIGINT': 'DECIMAL(20,0)',
    'BIGINT and DECIMAL(38,20)': null,
    'INTEGER and DECIMAL(12,2)': null,
    'INTEGER and VARCHAR': null,
    'STRUCT(a INTEGER) and DECIMAL(8,2)': null,
  }
  for (const [pair, type] of Object.entries(both)) {
    const [one, other] = pair.split(' and ')
    assert.is(decimalForBoth(columnType(one!), columnType(other!)), type, pair)
  }
})

test.run()
