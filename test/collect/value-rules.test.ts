// What the door takes, the engine reads, as it was meant; and what the engine would change in silence is refused.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readEvent } from '../../src/collect/read-events.ts'
import { openDoor } from '../../src/collect/validate-event.ts'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { eventsModel } from './model.ts'

interface Examples {
  /** JSON text of a value, and what the engine shows of it as VARCHAR. */
  readonly taken: Readonly<Record<string, string>>
  readonly refused: readonly string[]
  /** Types that the engine does not read from a file by themselves, but casts from text. */
  readonly castFromText?: boolean
}

const integers = (min: string, max: string, below: string, above: string): Examples => ({
  taken: { [min]: min, [max]: max, [`"${max}"`]: max, '-0': '0', '1e1': '10', '7.0': '7' },
  refused: [
    below,
    above,
    `"${above}"`,
    '1.5',
    '"1.5"',
    '1e400',
    'true',
    '"x"',
    '""',
    '" 1"',
    '[]',
    '{}',
  ],
})

const types: Readonly<Record<string, Examples>> = {
  BOOLEAN: {
    taken: { true: 'true', false: 'false', '"true"': 'true', '"false"': 'false' },
    refused: ['0', '1', '2', '"yes"', '"TRUE"', '[]', '{}'],
  },
  TINYINT: integers('-128', '127', '-129', '128'),
  SMALLINT: integers('-32768', '32767', '-32769', '32768'),
  INTEGER: integers('-2147483648', '2147483647', '-2147483649', '2147483648'),
  BIGINT: {
    ...integers(
      '-9223372036854775808',
      '9223372036854775807',
      '-9223372036854775809',
      '9223372036854775808',
    ),
    taken: {
      '9223372036854775807': '9223372036854775807',
      '-9223372036854775808': '-9223372036854775808',
      '"9223372036854775807"': '9223372036854775807',
      '9007199254740993': '9007199254740993',
      '9007199254740993.0': '9007199254740993',
      '9223372036854775807.00': '9223372036854775807',
      '123456789012345678e0': '123456789012345678',
      '1e18': '1000000000000000000',
      '"007"': '7',
      '"-0"': '0',
    },
  },
  HUGEINT: {
    ...integers(
      '0',
      '1',
      '-170141183460469231731687303715884105729',
      '170141183460469231731687303715884105728',
    ),
    taken: {
      '170141183460469231731687303715884105727': '170141183460469231731687303715884105727',
      '-170141183460469231731687303715884105728': '-170141183460469231731687303715884105728',
      '"12345678901234567890123"': '12345678901234567890123',
      '12345678901234567890123.0': '12345678901234567890123',
      '1e20': '100000000000000000000',
      '18446744073709551616': '18446744073709551616',
    },
  },
  UTINYINT: integers('0', '255', '-1', '256'),
  USMALLINT: integers('0', '65535', '-1', '65536'),
  UINTEGER: integers('0', '4294967295', '-1', '4294967296'),
  UBIGINT: integers('0', '18446744073709551615', '-1', '18446744073709551616'),
  UHUGEINT: integers(
    '0',
    '340282366920938463463374607431768211455',
    '-1',
    '340282366920938463463374607431768211456',
  ),
  BIGNUM: {
    taken: {
      '1': '1',
      '-123456789012345678901234567890123456789012345678901':
        '-123456789012345678901234567890123456789012345678901',
    },
    refused: ['1.5', '"x"', 'true', `1${'0'.repeat(1200)}`],
    castFromText: true,
  },
  'DECIMAL(38,10)': {
    taken: {
      '0.1': '0.1000000000',
      '1234567890123456789012345678.1234567890': '1234567890123456789012345678.1234567890',
      '-0.0000000001': '-0.0000000001',
      '1e-10': '0.0000000001',
      '"1e-10"': '0.0000000001',
      '"0129.9500"': '129.9500000000',
      '"-0.0"': '0.0000000000',
      '12345678901234567.1234567891': '12345678901234567.1234567891',
      '12345678901234567890': '12345678901234567890.0000000000',
      '1.5e3': '1500.0000000000',
      '"1234567890123456789012345678.1"': '1234567890123456789012345678.1000000000',
    },
    refused: [
      '1.23456789012',
      '1e28',
      '"1e-11"',
      'true',
      '"abc"',
      '" 1"',
      '""',
      '[]',
      '1e999999999',
    ],
  },
  'DECIMAL(18,4)': {
    taken: {
      '12345678901234.5678': '12345678901234.5678',
      '12345678901234.1': '12345678901234.1000',
      '99999999999999.9999': '99999999999999.9999',
      '-99999999999.9998': '-99999999999.9998',
      '19.9': '19.9000',
      '0': '0.0000',
      '12.500000': '12.5000',
    },
    refused: ['100000000000000', '1.00001', '0.30000000000000004', '"12,5"'],
  },
  'DECIMAL(4,2)': {
    taken: { '99.99': '99.99', '-99.99': '-99.99', '1.25': '1.25', '1e1': '10.00' },
    refused: ['100', '99.995', '1.005', '"1.005"'],
  },
  'DECIMAL(38,38)': {
    taken: {
      '0.12345678901234567890123456789012345678': '.12345678901234567890123456789012345678',
    },
    refused: ['1', '0.123456789012345678901234567890123456789'],
  },
  FLOAT: {
    taken: {
      '3.5': '3.5',
      '"1.5"': '1.5',
      '1e38': '1e+38',
      '-3.4028234e38': '-3.4028235e+38',
      '"NaN"': 'nan',
      '"-Infinity"': '-inf',
    },
    refused: ['1e39', '3.5e38', '1e400', '"1e39"', 'true', '"abc"', '"inf"', '""'],
  },
  DOUBLE: {
    taken: {
      '0.1': '0.1',
      '1e308': '1e+308',
      '"-2.5"': '-2.5',
      '"Infinity"': 'inf',
      '52.52000659999999': '52.52000659999999',
      '9007199254740993': '9007199254740992.0',
    },
    refused: ['1e400', '-1e400', '"1e400"', 'true', '"abc"', '[1]'],
  },
  VARCHAR: {
    taken: {
      '"a"': 'a',
      '""': '',
      '"é"': 'é',
      '"\\u00e9"': 'é',
      '"\\ud83d\\ude00"': '😀',
      '"\\u0000x"': '\0x',
      '1': '1',
      '1.50': '1.50',
      '1E5': '1E5',
      '-0': '-0',
      '12345678901234567890123': '12345678901234567890123',
      '1e400': '1e400',
      true: 'true',
      '"a\\"b\\\\"': 'a"b\\',
    },
    refused: ['{}', '[]', '{"a":1}'],
  },
  JSON: {
    taken: {
      '"a"': '"a"',
      '1': '1',
      '1e400': '1e400',
      true: 'true',
      '12345678901234567890123': '12345678901234567890123',
      '{"a":[1,{"b":null}]}': '{"a":[1,{"b":null}]}',
      '{"__proto__":{"x":1}}': '{"__proto__":{"x":1}}',
      '"\\u0000"': '"\\u0000"',
    },
    refused: ['{"a":1,"a":2}', '"\\ud800"', '{"\\udc00":1}'],
  },
  VARIANT: { taken: { '"a"': 'a', '1': '1' }, refused: [], castFromText: true },
  BLOB: {
    taken: { '"abc"': 'abc', '"\\u0000"': '\\x00', '"é"': '\\xC3\\xA9' },
    refused: ['1', '[]'],
  },
  BIT: { taken: { '"0101"': '0101' }, refused: ['"2"', '""', '1'], castFromText: true },
  UUID: {
    taken: {
      '"550E8400-e29b-41d4-a716-446655440000"': '550e8400-e29b-41d4-a716-446655440000',
      '"550e8400e29b41d4a716446655440000"': '550e8400-e29b-41d4-a716-446655440000',
    },
    refused: ['"550e8400-e29b-41d4-a716-44665544000"', '""', '1'],
  },
  DATE: {
    taken: {
      '"2024-02-29"': '2024-02-29',
      '"0001-01-01"': '0001-01-01',
      '"9999-12-31"': '9999-12-31',
    },
    refused: [
      '"2023-02-29"',
      '"2024-04-31"',
      '"2024-13-01"',
      '"2024-00-10"',
      '"2024-01-01T10:00:00"',
      '"1/2/2024"',
      '"20240101"',
      '""',
      '19000',
    ],
  },
  TIME: {
    taken: { '"10:00"': '10:00:00', '"23:59:59.999999"': '23:59:59.999999' },
    refused: ['"24:00:00"', '"23:59:60"', '"10"', '"10:00:00Z"', '"10:00:00+02"', '36000'],
  },
  TIME_NS: { taken: { '"10:00:00.123456789"': '10:00:00.123456789' }, refused: ['"10"'] },
  'TIME WITH TIME ZONE': {
    taken: {
      '"10:00:00"': '10:00:00+00',
      '"10:00:00+02"': '10:00:00+02',
      '"10:00:00.5-15:59"': '10:00:00.5-15:59',
    },
    refused: ['"10:00:00Z"', '"10:00:00+16"', '"10"'],
  },
  TIMESTAMP: {
    taken: {
      '"2024-01-01"': '2024-01-01 00:00:00',
      '"2024-01-01T10:00"': '2024-01-01 10:00:00',
      '"2024-01-01 10:00:00.123456"': '2024-01-01 10:00:00.123456',
      '"2024-01-01T10:00:00.123Z"': '2024-01-01 10:00:00.123',
      '"2024-01-01T10:00:00+00:00"': '2024-01-01 10:00:00',
    },
    refused: [
      '"2024-01-01T10:00:00+02:00"',
      '"2024-02-30"',
      '"2024-01-01T23:59:60"',
      '"2024-01-01T10:00Z"',
      '1700000000',
      '"yesterday"',
      'true',
    ],
  },
  TIMESTAMP_S: { taken: { '"2024-01-01T10:00:00Z"': '2024-01-01 10:00:00' }, refused: ['1'] },
  TIMESTAMP_MS: {
    taken: { '"2024-01-01T10:00:00.123"': '2024-01-01 10:00:00.123' },
    refused: ['1'],
  },
  TIMESTAMP_NS: {
    taken: {
      '"2024-01-01T10:00:00.123456789"': '2024-01-01 10:00:00.123456789',
      '"1678-01-01"': '1678-01-01 00:00:00',
    },
    refused: ['"1600-01-01"', '"2300-01-01"'],
  },
  'TIMESTAMP WITH TIME ZONE': {
    taken: {
      '"2024-01-01"': '2024-01-01 00:00:00+00',
      '"2024-01-01T10:00"': '2024-01-01 10:00:00+00',
      '"2024-01-01T10:00:00Z"': '2024-01-01 10:00:00+00',
      '"2024-01-01T10:00:00.123456789Z"': '2024-01-01 10:00:00.123456+00',
      '"2024-01-01 10:00:00+02"': '2024-01-01 08:00:00+00',
      '"2024-01-01T10:00:00+0530"': '2024-01-01 04:30:00+00',
      '"2024-01-01T10:00:00-15:59"': '2024-01-02 01:59:00+00',
      '"0001-01-01T00:00:00Z"': '0001-01-01 00:00:00+00',
    },
    refused: [
      '"2024-01-01T10:00Z"',
      '"2024-01-01T10:00:00 Europe/Berlin"',
      '"Mon, 01 Jan 2024 10:00:00 GMT"',
      '1700000000000',
      '"2024-01-01T10:00:00+99:00"',
      '"2024-02-30T00:00:00Z"',
      '""',
    ],
  },
  INTERVAL: {
    taken: {
      '"1 day"': '1 day',
      '"-1 year 2 months"': '-10 months',
      '"1 day 02:03:04.5"': '1 day 02:03:04.5',
      '"02:03:04"': '02:03:04',
      '"-3 weeks"': '-21 days',
      '"99999999 years"': '99999999 years',
    },
    refused: ['"P1D"', '"x"', '""', '5', '"1"'],
  },
  [`ENUM('a', 'b c', 'it''s')`]: {
    taken: { '"a"': 'a', '"b c"': 'b c', '"it\'s"': `it's` },
    refused: ['"A"', '""', '1', '"zz"'],
  },
  'INTEGER[]': {
    taken: { '[]': '[]', '[1,null,2]': '[1, NULL, 2]', '[ 1.0 , 2 ]': '[1, 2]' },
    refused: ['[1,"x"]', '[1.5]', '[[1]]', '{}', '1', '"[1]"', '[99999999999]'],
  },
  'DECIMAL(38,2)[]': {
    taken: { '[123456789012345678901234567890.12,1]': '[123456789012345678901234567890.12, 1.00]' },
    refused: ['[0.123]'],
  },
  'VARCHAR[]': { taken: { '["a",1.50,true,null]': '[a, 1.50, true, NULL]' }, refused: ['[[]]'] },
  'INTEGER[3]': { taken: { '[1,2,3]': '[1, 2, 3]' }, refused: ['[1,2]', '[1,2,3,4]', '[]'] },
  'STRUCT(a INTEGER, "b c" VARCHAR)': {
    taken: {
      '{"a":1,"b c":"x"}': `{'a': 1, 'b c': x}`,
      '{}': `{'a': NULL, 'b c': NULL}`,
      '{"a":null,"unknown":[1]}': `{'a': NULL, 'b c': NULL}`,
    },
    refused: ['[1]', '1', '{"a":"x"}', '{"a":1,"a":1}'],
  },
  'STRUCT(d DECIMAL(38,10), l STRUCT(n BIGINT)[])': {
    taken: {
      '{"d":1234567890123456789012345678.123456789,"l":[{"n":9007199254740993}]}': `{'d': 1234567890123456789012345678.1234567890, 'l': [{'n': 9007199254740993}]}`,
    },
    refused: ['{"l":{"n":1}}', '{"l":[{"n":1.5}]}'],
  },
  'MAP(VARCHAR, INTEGER)': {
    taken: { '{}': '{}', '{"a":1,"A":null}': '{a=1, A=NULL}' },
    refused: ['{"a":"x"}', '[]', '[{"key":"a","value":1}]', '1'],
  },
  'MAP(INTEGER, VARCHAR)': {
    taken: { '{"1":"a","-2":"b"}': '{1=a, -2=b}' },
    refused: ['{"x":"a"}', '{"1.5":"a"}'],
  },
  'UNION(num INTEGER, str VARCHAR)': {
    taken: { '{"num":1}': '1', '{"str":"x"}': 'x' },
    refused: ['1', '"a"', '{}', '{"zz":1}', '{"num":1,"str":"x"}', '{"num":"x"}'],
  },
  GEOMETRY: { taken: { '"POINT (1 2)"': 'POINT (1 2)' }, refused: ['1'] },
}

for (const [type, examples] of Object.entries(types)) {
  test(type, async () => {
    const door = openDoor(eventsModel('raw.t', `c ${type}`))
    const stored = Object.keys(examples.taken).map((value) =>
      Buffer.from(readEvent(door, Buffer.from(`{"c": ${value}}`), 1e6)[0]!).toString(),
    )
    const readAs = examples.castFromText ? 'VARCHAR' : type
    assert.equal(await readByEngine(stored, readAs, type), Object.values(examples.taken))
    for (const value of examples.refused) {
      const refused = (error: unknown) => error instanceof RequestError && error.status === 400
      assert.throws(() => readEvent(door, Buffer.from(`{"c": ${value}}`), 1e6), refused, value)
    }
  })
}

/** As the flush reads: wrapped lines, the event as a STRUCT of the columns. */
async function readByEngine(
  events: readonly string[],
  readAs: string,
  type: string,
): Promise<readonly unknown[]> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-door-'))
  try {
    const path = join(dir, 'events.ndjson')
    await writeFile(path, events.map((event, index) => `{"s":${index},"e":${event}}\n`).join(''))
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const struct = sql.value(`STRUCT(c ${readAs})`)
    const rows = await connection.rows(sql`
      SELECT CAST(CAST(e.c AS ${sql.type(columnType(type))}) AS VARCHAR) AS shown
      FROM read_json(${sql.value(path)}, format = 'newline_delimited', records = true,
        columns = {s: 'UBIGINT', e: ${struct}}) ORDER BY s`)
    return rows.map(({ shown }) => shown)
  } finally {
    await rm(dir, { recursive: true })
  }
}

test.run()
