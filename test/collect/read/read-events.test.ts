import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keyText, requestKey } from '../../../src/buffer/request-key.ts'
import { linesMaxBytes, MARKER_LINE_MAX_BYTES, writeLines } from '../../../src/buffer/segment.ts'
import { readEvent, readJsonBatch, readNdjsonBatch } from '../../../src/collect/read/read-events.ts'
import { createValidator } from '../../../src/collect/validate/validate-event.ts'
import { limits } from '../../../src/core/limits.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { settings } from '../../../src/project/settings.ts'
import { eventsModel } from '../../support/handmade-models.ts'

const validator = createValidator(
  eventsModel(
    'raw.page_views',
    'event_name VARCHAR NOT NULL',
    'user_id VARCHAR',
    'count BIGINT',
    'price DECIMAL(38,10)',
    'payload JSON',
    'received_at TIMESTAMP WITH TIME ZONE NOT NULL',
  ),
)

const store = (text: string | Buffer) => texts(readEvent(validator, Buffer.from(text), 1e6))[0]
const storeBatch = (text: string) => texts(readJsonBatch(validator, Buffer.from(text), 1000))
const storeLines = (text: string) => texts(readNdjsonBatch(validator, Buffer.from(text), 1000))
const texts = (events: readonly Uint8Array[]) =>
  events.map((event) => Buffer.from(event).toString())

function refusalOf(work: () => unknown): RequestError {
  try {
    work()
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
  throw new Error('it was let in')
}

function refuses(text: string | Buffer, code: string, target?: string): void {
  const refused = refusalOf(() => store(text))
  assert.is(refused.code, code, `${String(text)} ${refused.message}`)
  assert.is(refused.status, 400)
  assert.is(refused.target, target, String(text))
}

test('the bytes are stored as they were sent, without the space around them', () => {
  for (const text of [
    '{"event_name":"a"}',
    '{ "event_name" : "a", "count":9007199254740993,"x":0.10, "y":1E+2 }',
    '{"event_name":"é😀","payload":{"n":12345678901234567890,"deep":[[{"a":[]}]]}}',
    '{"event_name":"\\ud83d\\ude00\\u0000\\"}{\\\\"}',
    '{"event_name":"a","unknown":{"event_name":null}}',
    '{"event_name":"","__proto__":{"event_name":1},"constructor":2,"toString":null}',
  ]) {
    assert.is(store(` \r\n\t${text}\n `), text)
    assert.is(store(`\ufeff${text}`), text, 'a byte order mark')
  }
})

test('a number that the engine would not read exactly becomes a string of its digits', () => {
  const wide = '1234567890123456789012345678.1234567890'
  assert.is(
    store(`{"event_name": 1.50, "price": ${wide}, "count": 9007199254740993.0, "x": 1.50}`),
    '{"event_name": "1.50", "price": "1234567890123456789012345678.123456789", "count": "9007199254740993", "x": 1.50}',
  )
  assert.is(store('{"event_name":"a","price":1.5}'), '{"event_name":"a","price":1.5}')
})

test('a NOT NULL column must be there and not null', () => {
  refuses('{}', 'missing-field', 'event_name')
  refuses('{"event_name":null}', 'missing-field', 'event_name')
  refuses('{"x":{"event_name":"a"}}', 'missing-field', 'event_name')
  const { message } = refusalOf(() => store('{"eventname":"a"}'))
  assert.match(message, 'event_name')
  assert.match(message, '"eventname"')
})

test("received_at is the server's to fill, also when it is NOT NULL", () => {
  assert.ok(store('{"event_name":"a","received_at":null}'))
  assert.ok(store('{"event_name":"a","received_at":"2024-01-01T00:00:00Z"}'))
  refuses('{"event_name":"a","received_at":"now"}', 'invalid-value', 'received_at')
  const other = createValidator(eventsModel('raw.t', 'received_at VARCHAR NOT NULL'))
  assert.is(refusalOf(() => readEvent(other, Buffer.from('{}'), 99)).code, 'missing-field')
})

test('a column called like a member that every object has is missed when it is absent', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const odd = createValidator(eventsModel('raw.t', `${name} JSON NOT NULL`))
    const refused = refusalOf(() => readEvent(odd, Buffer.from('{}'), 99))
    assert.is(refused.target, name)
    assert.is(readEvent(odd, Buffer.from(`{"${name}":{}}`), 99).length, 1)
  }
})

test('what is not a JSON object is refused', () => {
  for (const text of [
    '',
    ' \n',
    '{',
    '{"event_name":"a"',
    '{"event_name":"a"}}',
    '{"event_name":"a"} x',
    "{'event_name':'a'}",
    '{"event_name":"a",}',
    '{"event_name":"a" "b":1}',
    '{"event_name":01}',
    '{"event_name":"a\nb"}',
    '{"event_name":"\\x"}',
    '{"event_name":"a"}{"event_name":"b"}',
    '{"a":[}]}',
    'hello',
    '{"event_name":NaN}',
    '/**/{"event_name":"a"}',
    '\0',
    '{"event_name":"a"}\0',
    '{"event_name":"unterminated}',
    '{"event_name":"a\\',
  ])
    refuses(text, 'invalid-json')
  for (const text of ['[]', '[{"event_name":"a"}]', '"a"', '1', 'null', 'true', '-1'])
    refuses(text, 'not-an-object')
  refuses(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'invalid-utf8')
  refuses(Buffer.from('{"event_name":"\xed\xa0\x80"}', 'latin1'), 'invalid-utf8')
})

test('a field that comes twice is refused, at any depth and however it is spelt', () => {
  refuses('{"event_name":null,"event_name":"x"}', 'duplicate-field', 'event_name')
  refuses('{"event_name":"a","event_n\\u0061me":"b"}', 'duplicate-field', 'event_name')
  refuses('{"event_name":"a","x":[1,{"b":{"c":1,"c":2}}]}', 'duplicate-field', 'c')
  refuses('{"event_name":"a","x":{"b":1},"x":{}}', 'duplicate-field', 'x')
  refuses('{"event_name":"a","__proto__":1,"__proto__":2}', 'duplicate-field', '__proto__')
  refuses('{"event_name":"a","1":1,"1":2}', 'duplicate-field', '1')
})

test('half a surrogate pair is refused in values, names and unknown fields', () => {
  refuses('{"event_name":"\\ud800"}', 'lone-surrogate')
  refuses('{"event_name":"\\uDC00\\uD800"}', 'lone-surrogate')
  refuses('{"event_name":"a","x":["\\udfff"]}', 'lone-surrogate')
  refuses('{"event_name":"a","\\ud800":1}', 'lone-surrogate')
  refuses('{"event_name":"\\\\\\ud800"}', 'lone-surrogate')
  assert.ok(store('{"event_name":"\\\\ud800"}'), 'an escaped backslash, not an escape')
})

test('nesting has a limit', () => {
  const nested = (depth: number) =>
    `{"event_name":"a","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  assert.ok(store(nested(limits.eventDepth)))
  refuses(nested(limits.eventDepth + 1), 'too-deep')
  refuses(nested(200_000), 'too-deep')
  refuses('{"a":'.repeat(100_000), 'too-deep')
})

test('of an event without an end, no more is looked at than an event may have', () => {
  const rest = 'x'.repeat(3 * limits.eventBytes)
  for (const [text, code] of [
    [`[{"event_name":"${rest}`, 'event-too-large'],
    [`[{"event_name" "a"}, {"event_name":"${rest}`, 'invalid-json'],
    [`[{"event_name":"a","x":[${'{"a":['.repeat(limits.eventDepth)}`, 'too-deep'],
  ] as const)
    assert.is(refusalOf(() => storeBatch(text)).code, code)
})

test('a JSON batch is cut into its elements', () => {
  assert.equal(storeBatch('[]'), [])
  assert.equal(storeBatch(' [ ] '), [])
  assert.equal(
    storeBatch(
      ' [ {"event_name":"a"} ,{"event_name":"b]","x":[1,[2]]}\n, {"event_name":"c","count":9007199254740993}]\n',
    ),
    [
      '{"event_name":"a"}',
      '{"event_name":"b]","x":[1,[2]]}',
      '{"event_name":"c","count":9007199254740993}',
    ],
  )
  const good = '{"event_name":"a"}'
  for (const text of [
    '[',
    `[${good}`,
    `[${good},`,
    `[${good},]`,
    `[,${good}]`,
    `[${good} ${good}]`,
    `[${good}]]`,
    `[${good}] x`,
    `[${good}}]`,
  ])
    assert.is(refusalOf(() => storeBatch(text)).code, 'invalid-json', text)
  assert.is(refusalOf(() => storeBatch(good)).code, 'not-an-array')
  assert.is(refusalOf(() => storeBatch(`[${good},[]]`)).code, 'not-an-object')
})

test('NDJSON is one object a line; blank lines do not count', () => {
  assert.equal(storeLines(''), [])
  assert.equal(storeLines('\n \r\n'), [])
  assert.equal(storeLines('\n{"event_name":"a"}\r\n\n {"event_name":"b"} \n{"event_name":"c"}'), [
    '{"event_name":"a"}',
    '{"event_name":"b"}',
    '{"event_name":"c"}',
  ])
  for (const text of [
    '{"event_name":\n"a"}',
    '{"event_name":"a"}{"event_name":"b"}',
    '{"event_name":"a"},\n',
    '{"event_name":"a"',
  ])
    assert.is(refusalOf(() => storeLines(text)).code, 'invalid-json', text)
})

test('a bad event of a batch is named by its index and its field, and by its line where it has one', () => {
  for (const [refused, name] of [
    [
      refusalOf(() => storeBatch('[{"event_name":"a"},\n{"event_name":"b","count":"x"}]')),
      'event 1',
    ],
    [
      refusalOf(() => storeLines('{"event_name":"a"}\n\n{"event_name":"b","count":"x"}')),
      'event 1 (line 3)',
    ],
  ] as const) {
    assert.is(refused.code, 'invalid-value')
    assert.is(refused.target, 'count')
    assert.match(refused.message, `${name}: column "count" (BIGINT)`)
    assert.is(refused.details?.[0]?.target, '[1].count')
  }
})

test('an event of a batch may be as large as a single one, and not larger', () => {
  const event = (size: number) => `{"event_name":"${'x'.repeat(size - 17)}"}`
  assert.is(storeBatch(`[${event(1000)}]`).length, 1)
  const refused = refusalOf(() => storeBatch(`[${event(1000)},${event(1001)}]`))
  assert.is(refused.status, 413)
  assert.is(refused.details?.[0]?.target, '[1]')
})

test('limits count what is stored: a short number may become many digits', () => {
  const text = '{"event_name":"a","price":1e27}'
  const event = Buffer.from(text)
  const stored = readEvent(validator, event, 1e6)[0]!
  assert.is(Buffer.from(stored).toString(), `{"event_name":"a","price":"1${'0'.repeat(27)}"}`)
  assert.is(readEvent(validator, event, stored.length).length, 1)
  const single = refusalOf(() => readEvent(validator, event, stored.length - 1))
  assert.equal([single.status, single.code], [413, 'event-too-large'])

  const two = { json: Buffer.from(`[${text},${text}]`), lines: Buffer.from(`${text}\n${text}`) }
  const most = 2 * stored.length
  assert.is(readJsonBatch(validator, two.json, 1000, most).length, 2)
  assert.is(readNdjsonBatch(validator, two.lines, 1000, most).length, 2)
  for (const read of [
    () => readJsonBatch(validator, two.json, 1000, most - 1),
    () => readNdjsonBatch(validator, two.lines, 1000, most - 1),
  ]) {
    const batch = refusalOf(read)
    assert.equal([batch.status, batch.code], [413, 'batch-too-large'])
  }
})

test('a batch of more events than the limit is refused before the rest is read', () => {
  const { batchEvents } = limits
  const free = createValidator(eventsModel('raw.free', 'a INTEGER'))
  const json = (events: number, end = ']') => Buffer.from(`[${'{},'.repeat(events - 1)}{}${end}`)
  const lines = (events: number) => Buffer.from('{}\n'.repeat(events))
  assert.is(readJsonBatch(free, json(batchEvents), 1000).length, batchEvents)
  assert.is(readNdjsonBatch(free, lines(batchEvents), 1000).length, batchEvents)
  for (const read of [
    () => readJsonBatch(free, json(batchEvents + 1, ', nothing that is JSON'), 1000),
    () => readNdjsonBatch(free, lines(batchEvents + 1), 1000),
  ]) {
    const { status, code, message } = refusalOf(read)
    assert.equal([status, code], [413, 'too-many-events'])
    assert.match(message, 'at most 500000 events')
  }
})

test('a refusal says what is wrong, and where inside of a value', () => {
  const nested = createValidator(
    eventsModel('raw.n', 's STRUCT(a INTEGER)', 'l INTEGER[]', 'n TINYINT'),
  )
  const messageOf = (text: string) =>
    refusalOf(() => readEvent(nested, Buffer.from(text), 1e6)).message.replace(/.*does not/, 'not')
  const range = 'must be an integer from -2147483648 to 2147483647'
  assert.is(messageOf('{"s":{"a":"no"}}'), `not fit; field "a" ${range}`)
  assert.is(messageOf('{"l":[1,true]}'), `not fit; element 1 ${range}`)
  assert.is(messageOf('{"n":1000}'), 'not fit; it must be an integer from -128 to 127')
})

test('the largest event that a setting allows is a line that the engine reads', () => {
  const key = keyText(requestKey('a', Buffer.from('b')), 10 ** 15)
  const empty = [Buffer.alloc(0)]
  const memory = Buffer.alloc(linesMaxBytes(empty, true))
  const time = new Date(0).toISOString()
  const wrapping = writeLines(memory, 0, empty, Number.MAX_SAFE_INTEGER, time, key)
  assert.ok(wrapping + MARKER_LINE_MAX_BYTES <= memory.length)
  assert.ok(settings['collect.max_event_bytes'].type.max <= limits.largestEventBytes)
  assert.ok(limits.largestEventBytes + wrapping < limits.segmentLineBytes)
})

test.run()
