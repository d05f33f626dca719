// Events in the forms that Segment, Stripe, GitHub, Snowplow and homemade senders give them, whole and broken.

import { limits } from '../../src/core/limits.ts'
import { pick } from './front-requests.ts'

type Random = () => number

/** Definitions of columns, by their names. */
export const EVERYDAY_COLUMNS: ReadonlyMap<string, string> = new Map([
  ['id', 'BIGINT'],
  ['user_id', 'VARCHAR'],
  ['event_id', 'UUID'],
  ['type', 'VARCHAR'],
  ['sent_at', 'TIMESTAMP WITH TIME ZONE'],
  ['ok', 'BOOLEAN'],
  ['amount', 'DECIMAL(18,4)'],
  ['lat', 'DOUBLE'],
  ['properties', 'JSON'],
  ['context', 'STRUCT(ip VARCHAR, locale VARCHAR, page STRUCT(url VARCHAR, title VARCHAR))'],
  ['tags', 'VARCHAR[]'],
  ['headers', 'MAP(VARCHAR, VARCHAR)'],
  ['actor', 'UNION(name VARCHAR, number BIGINT)'],
])

/** Members of events, in the order of their senders. What is between tildes is drawn for each event. */
const SENT: readonly (readonly string[])[] = [
  [
    '"type":"track"',
    '"event_id":~uuid~',
    '"user_id":~id~',
    '"sent_at":~time~',
    '"properties":{"revenue":~number~,"currency":"NOK","products":[{"sku":~text~,"quantity":2,"price":~number~}]}',
    '"context":{"ip":"192.0.2.7","locale":"nb-NO","page":{"url":~text~,"title":~text~}}',
    '"messageId":~text~',
    '"integrations":{}',
  ],
  [
    '"id":~id~',
    '"object":"event"',
    '"type":"charge.succeeded"',
    '"amount":~number~',
    '"properties":{"object":{"id":~text~,"amount":~number~,"metadata":{},"refunded":~word~,"created":~id~}}',
    '"livemode":~word~',
    '"ok":~word~',
  ],
  [
    '"type":"push"',
    '"ok":~word~',
    '"actor":{"name":~text~}',
    '"headers":{"X-GitHub-Event":"push","X-Hub":~text~}',
    '"properties":{"ref":"refs\\/heads\\/main","commits":[{"id":~text~,"message":~text~,"added":[],"url":~text~}],"size":~number~}',
    '"tags":[~text~,~text~]',
    '"sent_at":~time~',
  ],
  [
    '"event_id":~uuid~',
    '"lat":~number~',
    '"id":~id~',
    '"user_id":~text~',
    '"properties":{"schema":"iglu:com.acme\\/link\\/jsonschema\\/1-0-1","data":[{"schema":~text~,"data":{"x":~number~,"y":null}}]}',
    '"tags":[]',
    '"actor":{"number":~id~}',
    '"sent_at":~time~',
  ],
]

const VALUES: Readonly<Record<string, readonly string[]>> = {
  uuid: ['"550e8400-e29b-41d4-a716-446655440000"', '"550E8400-E29B-41D4-A716-446655440000"', '"7"'],
  id: [
    '7',
    '1732641525123456',
    '17326415251234567',
    '1860996273512345601',
    '9223372036854775807',
    '9223372036854775808',
    '12345678901234567890123',
    '"1860996273512345601"',
    '"u_7"',
    '-0',
    '7.0',
    '1e3',
  ],
  time: ['"2026-11-26T08:30:00.123Z"', '"2026-11-26T08:30:00+01:00"', '"2026-11-31"', '1732641525'],
  number: [
    '129.95',
    '12.50',
    '42',
    '-0.5',
    '59.913868812345678',
    '10.752245400000001',
    '1.7976931348623157e308',
    '1e400',
    '"129.9500"',
    '0.30000000000000004',
  ],
  word: ['true', 'false', 'null', '"true"', '"false"', '"yes"', '1'],
  text: [
    '"plain"',
    '"https:\\/\\/shop.example\\/caf\\u00e9?utm=x"',
    '"sm\\u00f8rbr\\u00f8d \\ud83d\\ude00"',
    '"smørbrød 😀"',
    '"a \\"quote\\" and\\r\\n\\tmore"',
    '"Mozilla\\/5.0 (Macintosh; Intel Mac OS X 10_15_7)"',
    '5',
    '12.50',
    'true',
    'null',
    '"\\u0000"',
    '"\\ud83d"',
    '"\\ude00\\ud83d"',
    '"\\ud83d\\u0041"',
    `"${'long '.repeat(40)}"`,
    '{"$ref":"x"}',
  ],
}

const UNKNOWN: readonly string[] = [
  '"custmer_id":7',
  '"user-agent":"x"',
  '"":{}',
  '"userid":[{}]',
  '"id\\u0020":1',
]

/** An event as it may come; a third of them has something that is broken. */
export function everydayEvent(random: Random): string {
  const members = pick(random, SENT)
    .filter(() => random() < 0.95)
    .map((member) => member.replaceAll(/~(\w+)~/g, (_, kind: string) => drawn(random, kind)))
  if (random() < 0.3) members.splice(below(random, members.length), 0, pick(random, UNKNOWN))
  const text = `{${members.join(random() < 0.2 ? ', ' : ',')}}`
  return random() < 0.65 ? text : pick(random, BREAKS)(text, random)
}

const below = (random: Random, count: number) => Math.floor(random() * count)

/** The first values of a kind are fine, and are drawn more often. */
const drawn = (random: Random, kind: string): string => {
  const values = VALUES[kind]!
  return random() < 0.7
    ? values[below(random, Math.ceil(values.length / 4))]!
    : pick(random, values)
}

type Break = (text: string, random: Random) => string

/** `text` with `change` made of one of the places that match. */
const atPlace =
  (places: RegExp, change: (found: string, random: Random) => string): Break =>
  (text, random) => {
    const found = [...text.matchAll(places)]
    if (found.length === 0) return text
    const { 0: part, index } = pick(random, found)
    return text.slice(0, index) + change(part, random) + text.slice(index + part.length)
  }

const nested = (value: string, random: Random): string => {
  const levels = limits.eventDepth - 4 + below(random, 8)
  return random() < 0.5
    ? '['.repeat(levels) + value + ']'.repeat(levels)
    : '{"a":'.repeat(levels) + value + '}'.repeat(levels)
}

const BREAKS: readonly Break[] = [
  // Half of an escape, or an escape that is none.
  atPlace(/\\(?:u[\da-f]{4}|.)/g, (escape, random) =>
    escape.slice(0, below(random, escape.length)),
  ),
  atPlace(/\\./g, (_, random) => pick(random, ['\\x', '\\U', '\\u12', '\\ud800', '\\udfff'])),
  // More digits than there are, or none.
  atPlace(/\d+/g, (digits, random) => digits.repeat(1 + below(random, 4))),
  atPlace(/\d+/g, (digits, random) =>
    pick(random, [`0${digits}`, '', '-', `${digits}.`, `+${digits}`]),
  ),
  // Names that come twice, at any depth.
  atPlace(/"[\w$]+":/g, (name) => `${name}1,${name}`),
  atPlace(/(?<=:)(?:"[^"\\]*"|\d+|true|null)/g, nested),
  // Something is missing, or too much.
  atPlace(/[[\]{},:"]/g, () => ''),
  atPlace(/[[\]{},:"]/g, (mark) => mark + mark),
  (text, random) => text.slice(0, below(random, text.length)),
  (text, random) => text + pick(random, ['}', ',', ' ', '\u0000', '{}', ']']),
]
