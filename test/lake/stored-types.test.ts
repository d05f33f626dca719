// Each type of the engine through a lake and back: the same values, to the last digit, under the same type.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'
import { asStored, fromStored, storedType, parseType } from '../../src/core/type-syntax.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { openRawEngine, type RawConnection } from '../support/lake/raw-engine.ts'
import { withLake } from '../support/lake/with-lake.ts'

const examples: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['true', 'false'],
  TINYINT: ['-128', '127'],
  UBIGINT: ['0', '18446744073709551615'],
  BIGINT: ['-9223372036854775808', '9223372036854775807'],
  HUGEINT: ['9007199254740993', '-99999999999999999999999999999999999999'],
  UHUGEINT: ['0', '99999999999999999999999999999999999999'],
  BIGNUM: ['-123456789012345678901234567890123456789012345678901234567890', '0'],
  FLOAT: ['nan', '-inf', '-0.0', '1.17549435e-38', '0.1'],
  DOUBLE: ['nan', 'inf', '-0.0', '5e-324', '1.7976931348623157e308', '0.1'],
  'DECIMAL(4,1)': ['999.9', '-999.9'],
  'DECIMAL(38,38)': ['-.00000000000000000000000000000000000001'],
  'DECIMAL(38,0)': ['99999999999999999999999999999999999999'],
  VARCHAR: ['', ' ', "it''s", 'NULL', '\u{10FFFF}', 'line\nbreak'],
  BLOB: ['', '\\x00\\xFF'],
  BIT: ['0', '0101', '00000000000000001'],
  UUID: ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  JSON: ['{"a": 12345678901234567890.10}', 'null', '"\\u0000"', ' [1 , 2] '],
  DATE: ['infinity', '-infinity', '5881580-07-10', '5877642-06-25 (BC)'],
  TIME: ['00:00:00', '23:59:59.999999', '24:00:00'],
  TIME_NS: ['00:00:00.000000001', '24:00:00'],
  'TIME WITH TIME ZONE': ['12:00:00+05:30', '00:00:00-15:59:59', '24:00:00+15:59:59'],
  TIMESTAMP: [
    'infinity',
    '-infinity',
    '290309-12-22 (BC) 00:00:00',
    '294247-01-10 04:00:54.775806',
  ],
  TIMESTAMP_S: ['infinity', '-infinity', '290308-12-22 (BC) 00:00:00', '2020-02-29 23:59:59'],
  TIMESTAMP_MS: ['infinity', '-infinity', '2020-02-29 23:59:59.999'],
  TIMESTAMP_NS: ['infinity', '-infinity', '1677-09-22 00:00:00', '2262-04-11 23:47:16.854775806'],
  'TIMESTAMP WITH TIME ZONE': ['infinity', '-infinity', '2020-02-29 23:59:59.999999+14'],
  INTERVAL: [
    '00:00:00.000001',
    '-1 month 3 days -00:00:00.000001',
    '1194:00:00',
    '178000000 years',
  ],
  "ENUM('', 'a', 'it''s')": ['', "it''s"],
  GEOMETRY: ['POINT (1 2)', 'POLYGON ((0 0, 1 0, 1 1, 0 0))', 'POINT EMPTY'],
  "GEOMETRY('OGC:CRS84')": ['POINT (1 2)'],
  'INTEGER[2]': ['[1, NULL]'],
  'HUGEINT[2][1]': ['[[9007199254740993, NULL]]'],
}

lakeTest('each type, within others, at its ends, and NULL', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  const columns = Object.entries(examples).flatMap(([type, texts]) => {
    const values = [...texts.map((text) => `CAST('${text}' AS ${type})`), `CAST(NULL AS ${type})`]
    return [values, ...nestings.map((nest) => values.map(nest))]
  })
  await checkColumns(connection, columns)
})

const nestings = [
  (value: string) => `[${value}]`,
  (value: string) => `{'a "b"': ${value}, 'c': [${value}]}`,
  (value: string) => `MAP {1: ${value}}`,
]

/** All in one table, each column with its values and NULL below them. */
async function checkColumns(
  connection: RawConnection,
  columns: readonly (readonly string[])[],
): Promise<void> {
  const height = Math.max(...columns.map((values) => values.length))
  const rows = Array.from({ length: height }, (_, row) => {
    const cells = columns.map((values, i) => `${values[row] ?? 'NULL'} AS c${i}`)
    return `SELECT ${row} AS row, ${cells.join(', ')}`
  })
  await connection.run(`CREATE TEMP TABLE given AS ${rows.join(' UNION ALL ')}`)
  const described = await connection.rows('DESCRIBE temp.main.given')
  const names = described.slice(1).map(([name]) => String(name))
  const types = described.slice(1).map(([, type]) => columnType(String(type)))

  const stored = names.map((name, i) => {
    const value = asStored(sql.ident(name), types[i]!, name)
    return `${value.inline()} AS ${name}`
  })
  const query = `SELECT row, ${stored.join(', ')} FROM temp.main.given`
  await connection.run(`CREATE TABLE stored AS ${query}`)
  const restored = names.map((name, i) => {
    return `${fromStored(sql.ident(name), types[i]!).inline()} AS ${name}`
  })
  await connection.run(`CREATE VIEW restored AS SELECT row, ${restored.join(', ')} FROM stored`)

  for (const [i, name] of names.entries()) {
    const type = types[i]!
    const [table] = await connection.rows(`SELECT DISTINCT typeof(${name}) FROM stored`)
    const stored = parseType(columnType(String(table?.[0])))
    assert.equal(stored, parseType(storedType(type)!), `${name}: the type of the table for ${type}`)
    const [view] = await connection.rows(`SELECT DISTINCT typeof(${name}) FROM restored`)
    assert.equal(view, [type], `${name}: the type of the view`)
    const wrong = await connection.rows(`
      SELECT given.${name}::VARCHAR, restored.${name}::VARCHAR
      FROM temp.main.given JOIN restored USING (row)
      WHERE given.${name} IS DISTINCT FROM restored.${name}
        OR given.${name}::VARCHAR IS DISTINCT FROM restored.${name}::VARCHAR`)
    assert.equal(wrong, [], `${name}: values of ${type}`)
  }
}

lakeTest('what would not come back as it was is refused', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  const refused = [
    ['HUGEINT', `'100000000000000000000000000000000000000'`, /Could not cast value/],
    ['INTERVAL', `'2562047788 hours'`, /the column v has an INTERVAL that a lake cannot store/],
    ['INTERVAL[]', `['2562047788 hours']`, /the column v has an INTERVAL that a lake cannot store/],
  ] as const
  for (const [type, value, message] of refused) {
    const written = asStored(sql.ident('v'), columnType(type), 'v').inline()
    const query = `SELECT ${written} AS v FROM (SELECT CAST(${value} AS ${type}) AS v)`
    assert.match(await connection.refusal(`CREATE TABLE t AS ${query}`), message)
  }
})

/** Why there are other types at all. When one of these is no longer so, its row in type-syntax.ts may go. */
const spoiled = [
  ['HUGEINT', '9007199254740993', '9007199254740992'],
  ['INTERVAL', '00:00:00.000001', '00:00:00'],
  ['INTERVAL', '1194:00:00', null],
  ['TIME WITH TIME ZONE', '12:00:00+05:30', '06:30:00+00'],
] as const

lakeTest('DuckLake alone spoils some values without a word, and refuses others', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  for (const [type, given, expected] of spoiled) {
    await connection.run(`CREATE OR REPLACE TABLE t AS SELECT CAST('${given}' AS ${type}) AS v`)
    const [row] = await connection.rows('SELECT v::VARCHAR FROM t')
    if (expected !== null) assert.equal(row, [expected], type)
    assert.is.not(row?.[0], given, type)
  }
  for (const [type, value] of [
    ["ENUM('a')", `'a'`],
    ['BIT', `'01'`],
    ['BIGNUM', '1'],
    ['INTEGER[2]', '[1, 2]'],
    ['UNION(n INTEGER)', '1'],
  ])
    assert.match(
      await connection.refusal(
        `CREATE OR REPLACE TABLE t AS SELECT CAST(${value} AS ${type}) AS v`,
      ),
      /Failed to convert DuckDB type to DuckLake - unsupported type/,
    )
})

lakeTest('a TIME_NS that goes to DuckLake as it is ends the engine', async () => {
  await using lake = await withLake()
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  const query = `SELECT CAST('12:00:00' AS TIME_NS) AS v`
  assert.match(await connection.refusal(`CREATE TABLE t AS ${query}`), /INTERNAL Error/)
  assert.match(await connection.refusal('SELECT 1'), /database has been invalidated/)
})

test.run()
