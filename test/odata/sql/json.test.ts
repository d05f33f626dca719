import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../../src/core/relation.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { TextStream } from '../../../src/duckdb/vectors/text-stream.ts'
import type { OutputProperty } from '../../../src/odata/bind/bound-request.ts'
import type { JsonFormat } from '../../../src/odata/protocol/negotiate.ts'
import {
  complexFrame,
  entityFrame,
  type Frame,
  framed,
} from '../../../src/odata/answer/make/single-row.ts'
import { edmTypeOf } from '../../../src/odata/edm/types.ts'
import { rowTextsSql } from '../../../src/odata/sql/json.ts'
import { collectionHead, collectionTail } from '../../../src/odata/answer/make/page.ts'

const MINIMAL = { metadata: 'minimal', ieee754: false } as const
const COMPATIBLE = { metadata: 'minimal', ieee754: true } as const

const property = (name: string, type: string): OutputProperty => ({
  name,
  type: edmTypeOf(columnType(type), { negative: false, typeName: 't' }),
  value: { kind: 'null' },
})

const stored = ({ name, type }: OutputProperty): OutputProperty['value'] => {
  const property = { name, type, column: { name, type: type.engine }, clamped: false }
  return { kind: 'property', row: { alias: 'it' }, property, type } as OutputProperty['value']
}

/** The JSON of one value of an engine type, as it stands in a row. */
async function written(
  database: Database,
  type: string,
  value: Sql,
  format: typeof MINIMAL | typeof COMPATIBLE = MINIMAL,
) {
  const output = [property('p', type)]
  const rows = sql`SELECT CAST(${value} AS ${sql.type(columnType(type))}) AS p`
  await using connection = await database.connect()
  const query = rowTextsSql(rows, output, format)
  const stream = await TextStream.open(connection, query, { maxRows: 1, mode: 'whole' })
  const text = String((await stream.next())?.copy())
  JSON.parse(text.slice(1))
  assert.ok(text.startsWith(',{"p":') && text.endsWith('}'), text)
  return text.slice(',{"p":'.length, -1)
}

/** Type, literal, JSON, and JSON with IEEE754Compatible=true where that differs. */
const CASES: readonly (readonly [string, string, string, string?])[] = [
  ['BOOLEAN', 'true', 'true'],
  ['TINYINT', '-5', '-5'],
  ['SMALLINT', '-32768', '-32768'],
  ['INTEGER', '2147483647', '2147483647'],
  ['BIGINT', '9007199254740993', '9007199254740993', '"9007199254740993"'],
  ['BIGINT', '-9223372036854775808', '-9223372036854775808', '"-9223372036854775808"'],
  [
    'HUGEINT',
    '170141183460469231731687303715884105727',
    '170141183460469231731687303715884105727',
    '"170141183460469231731687303715884105727"',
  ],
  ['DECIMAL(18,4)', '250.50', '250.5000', '"250.5000"'],
  [
    'DECIMAL(38,10)',
    '-1234567890123456789012345678.0123456789',
    '-1234567890123456789012345678.0123456789',
    '"-1234567890123456789012345678.0123456789"',
  ],
  ['DECIMAL(3,3)', '-0.5', '-0.500', '"-0.500"'],
  [
    'DECIMAL(38,38)',
    '0.00000000000000000000000000000000000001',
    '0.00000000000000000000000000000000000001',
    '"0.00000000000000000000000000000000000001"',
  ],
  ['DECIMAL(5,0)', '12345', '12345', '"12345"'],
  ['DOUBLE', '1.7e308', '1.7e308'],
  ['DOUBLE', '0.1', '0.1'],
  ['DOUBLE', '5e-324', '5e-324'],
  ['DOUBLE', '-0.0', '-0.0'],
  ['DOUBLE', 'nan', '"NaN"'],
  ['DOUBLE', 'infinity', '"INF"'],
  ['DOUBLE', '-infinity', '"-INF"'],
  ['FLOAT', '3.14', '3.14'],
  ['FLOAT', '1e30', '1e+30'],
  ['FLOAT', 'nan', '"NaN"'],
  ['FLOAT', 'infinity', '"INF"'],
  ['FLOAT', '-infinity', '"-INF"'],
  ['DATE', '2026-01-01', '"2026-01-01"'],
  ['DATE', '0044-03-15', '"0044-03-15"'],
  ['DATE', '0044-03-15 (BC)', '"0001-01-01"'],
  ['DATE', '12026-01-01', '"9999-12-31"'],
  ['DATE', 'infinity', '"9999-12-31"'],
  ['DATE', '-infinity', '"0001-01-01"'],
  ['TIMESTAMP', '2026-01-01 08:30:00', '"2026-01-01T08:30:00Z"'],
  ['TIMESTAMP', '2026-01-01 00:00:00', '"2026-01-01T00:00:00Z"'],
  ['TIMESTAMP', '2026-01-01 08:30:00.5', '"2026-01-01T08:30:00.5Z"'],
  ['TIMESTAMP', '1969-12-31 23:59:59.999999', '"1969-12-31T23:59:59.999999Z"'],
  ['TIMESTAMP', '0044-03-15 (BC) 12:00:00', '"0001-01-01T00:00:00Z"'],
  ['TIMESTAMP', '12024-01-01 00:00:00', '"9999-12-31T23:59:59.999999Z"'],
  ['TIMESTAMP', 'infinity', '"9999-12-31T23:59:59.999999Z"'],
  ['TIMESTAMP', '-infinity', '"0001-01-01T00:00:00Z"'],
  ['TIME', '08:30:00', '"08:30:00"'],
  ['TIME', '08:30:00.25', '"08:30:00.25"'],
  ['TIME', '24:00:00', '"23:59:59.999999"'],
  ['UUID', '550e8400-e29b-41d4-a716-446655440000', '"550e8400-e29b-41d4-a716-446655440000"'],
  ['INTERVAL', '1 day 2 hours 3.5 seconds', '"PT93603.5S"'],
  ['INTERVAL', '-90 minutes', '"-PT5400S"'],
  ['VARCHAR', '', '""'],
]

test('every type has its JSON form', async () => {
  await using database = await Database.open({ path: ':memory:' })
  for (const [type, literal, expected, compatible = expected] of CASES) {
    const value = sql.value(literal)
    assert.is(await written(database, type, value), expected, `${type} ${literal}`)
    assert.is(
      await written(database, type, value, COMPATIBLE),
      compatible,
      `${type} ${literal} compatible`,
    )
  }
})

/** A column holds no others (temporal-range.ts). */
const STORED = CASES.filter(
  ([type, literal]) =>
    !['DATE', 'TIMESTAMP', 'TIME'].includes(type) || !/BC|^12\d{3}-|^24:|infinity/.test(literal),
)

test('stored values of many rows are written as those of a few', async () => {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const columns = STORED.map(([type], i) => property(`p${i}`, type))
  const output = columns.map((column) => ({ ...column, value: stored(column) }))
  const values = STORED.map(([type, literal], i) => {
    const value = sql`CAST(${sql.value(literal)} AS ${sql.type(columnType(type))})`
    // A row with all of them, one with none, and one with every second.
    return sql`CASE WHEN r = 0 OR (r = 2 AND ${sql.value(i % 2 === 0)}) THEN ${value} END AS ${sql.ident(`p${i}`)}`
  })
  const rows = sql`SELECT ${sql.join(values)} FROM range(3) AS r(r)`
  for (const [format, place] of [
    [MINIMAL, 2],
    [COMPATIBLE, 3],
  ] as const) {
    const few = rowTextsSql(rows, output, format)
    const many = rowTextsSql(rows, output, format, { areMany: true })
    assert.not.equal(many.inline(), few.inline())
    const jsons = STORED.map((each) => each[place] ?? each[2])
    const expected = [0, 1, 2].map((row) => {
      const members = jsons.map((json, i) => {
        const isNull = row === 1 || (row === 2 && i % 2 === 1)
        return `"p${i}":${isNull ? 'null' : json}`
      })
      return `,{${members.join(',')}}`
    })
    for (const query of [few, many]) {
      const stream = await TextStream.open(connection, query, { maxRows: 3, mode: 'whole' })
      assert.is(String((await stream.next())?.copy()), expected.join(''))
    }
  }
})

test('NULL is null for every type', async () => {
  await using database = await Database.open({ path: ':memory:' })
  for (const type of new Set(CASES.map(([name]) => name)).add('BLOB')) {
    assert.is(await written(database, type, sql.value(null)), 'null', type)
    assert.is(await written(database, type, sql.value(null), COMPATIBLE), 'null', type)
  }
})

test('text keeps every character', async () => {
  await using database = await Database.open({ path: ':memory:' })
  const characters = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code)).join('')
  for (const text of [characters, 'Größe "5" \\ / € 𝄞 \u2028\u2029 #END', '\\u0041', '</script>'])
    assert.is(JSON.parse(await written(database, 'VARCHAR', sql.value(text))), text)
})

test('binary is base64url without padding', async () => {
  await using database = await Database.open({ path: ':memory:' })
  const bytes = sql`from_hex('fbff3e00')`
  assert.is(
    await written(database, 'BLOB', bytes),
    `"${Buffer.from('fbff3e00', 'hex').toString('base64url')}"`,
  )
  assert.is(await written(database, 'BLOB', sql`from_hex('')`), '""')
})

test('names of properties are escaped', async () => {
  const name = 'a"b\\c\u0001'
  const output = [property(name, 'INTEGER')]
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const rows = sql`SELECT 7 AS ${sql.ident(name)}`
  const query = rowTextsSql(rows, output, MINIMAL)
  const stream = await TextStream.open(connection, query, { maxRows: 1, mode: 'whole' })
  assert.equal(JSON.parse(String((await stream.next())?.copy()).slice(1)), { [name]: 7 })
})

test('the envelope of a collection', () => {
  const envelope = { contextUrl: 'http://h/odata/$metadata#s', count: '9007199254740993' }
  assert.is(
    collectionHead(envelope, MINIMAL),
    '{"@odata.context":"http://h/odata/$metadata#s","@odata.count":9007199254740993,"value":[',
  )
  assert.is(
    collectionHead(envelope, { metadata: 'none', ieee754: true }),
    '{"@odata.count":"9007199254740993","value":[',
  )
  assert.is(
    collectionHead({ ...envelope, count: null }, { metadata: 'none', ieee754: false }),
    '{"value":[',
  )
  assert.is(collectionTail(null), ']}')
  assert.is(
    collectionTail({ name: 'nextLink', url: 'http://h/"' }),
    '],"@odata.nextLink":"http://h/\\""}',
  )
})

/** What is sent of a row that came in one piece. */
function sentOf(row: string, frame: Frame): string {
  const sent = framed({ whole: Buffer.from(row), chunks: noChunks }, frame)
  assert.ok(Buffer.isBuffer(sent))
  return sent.toString()
}

async function* noChunks(): AsyncGenerator<Buffer, void> {}

test('the envelope of an entity', () => {
  const none = { metadata: 'none', ieee754: false } as const
  const entity = (row: string, context: string, format: JsonFormat = MINIMAL) =>
    sentOf(row, entityFrame(Buffer.from(row), context, format))
  assert.equal(JSON.parse(entity(',{"id":1}', 'http://h/#s')), {
    '@odata.context': 'http://h/#s',
    id: 1,
  })
  assert.is(entity(',{"id":1}', 'http://h/#s', none), '{"id":1}')
  assert.is(entity(',{}', 'c'), '{"@odata.context":"c"}')
  const complex = (row: string, format: JsonFormat = MINIMAL) =>
    sentOf(row, complexFrame(Buffer.from(row), 'c', format))
  assert.is(complex(',{"value":{"a":1}}'), '{"@odata.context":"c","a":1}')
  assert.is(complex(',{"value":{}}'), '{"@odata.context":"c"}')
  assert.is(complex(',{"value":{"a":1}}', none), '{"a":1}')
})

test.run()
