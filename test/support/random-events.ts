// Random events models, and events that fit them, nearly fit, or are damaged text.

import { pick } from './front-requests.ts'

type Random = () => number

const NAMES = ['a', 'b', 'id', 'größe', 'x y', '1', '12', 'amount', 'customer_id', 'q"q', 'b\\s']
const UNKNOWN = ['unknown', 'custmer_id', 'idd', '__proto__', 'constructor', '']

/** Types of columns, each with values that nearly fit. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  BIGINT: ['1', '"8"', '1.0', '12345678901234567', '-0', '"-0"', '1e3'],
  TINYINT: ['7', '127', '128', '-128', '"12"'],
  UBIGINT: ['5', '-1', '18446744073709551615', '"18446744073709551616"'],
  VARCHAR: ['"t"', '"a\\nb"', '"ü"', '"\\ud83d\\ude00"', '5', '1.50', 'true', '{}'],
  'DECIMAL(18,4)': ['"129.9500"', '12.5', '1', '-0.5', '1e2', '"01"', '123456789012345678'],
  'DECIMAL(4,4)': ['0.5', '"0.5"', '"1.5"', '0'],
  'DECIMAL(38,10)': ['"1234567890123456789012345678"', '0.1234567890123'],
  DOUBLE: ['0.25', '59.91386812345678', '-0', '1e400', '"NaN"', '"1.5"', '"01"'],
  FLOAT: ['0.25', '3.5e38', '"Infinity"'],
  BOOLEAN: ['true', '"false"', '1'],
  TIMESTAMP: ['"2026-01-01T08:30:00.123Z"', '"2026-02-29"', '"2026-01-31 08:30"'],
  'TIMESTAMP WITH TIME ZONE': ['"2026-01-01T08:30:00Z"', '"2026-01-01 08:30:00+02:00"', '""'],
  TIMESTAMP_MS: ['"2026-01-01T08:30:00.1230Z"', '"2026-01-01T08:30:00.1234Z"'],
  DATE: ['"2024-02-29"', '"2023-02-29"', '"2024-05-01T00:00:00Z"'],
  TIME: ['"12:00:00.5"', '"24:00:00"'],
  INTERVAL: ['"1 day 02:30:00"', '"3 fortnights"'],
  UUID: ['"550e8400-e29b-41d4-a716-446655440000"', '"550e8400"'],
  BIT: ['"0101"', '"2"'],
  JSON: ['{}', '{"plan":"pro","n":42}', '12.50', '[1,{"a":1.0}]', '"x"', '{"a":1,"a":2}'],
  'JSON[]': ['[]', '[1.50,null]', '[{"b":0.25}]'],
  'INTEGER[3]': ['[1,2,3]', '[1,2]', '[1,null,"x"]'],
  'DECIMAL(9,2)[]': ['[1.5,"2.25"]', '[1.234]'],
  'STRUCT(a JSON, b BIGINT)': ['{"a":1.50}', '{"b":1,"zz":[]}', '{"b":"x"}', '[]'],
  'MAP(INTEGER, JSON)': ['{"1":1,"01":2}', '{"-0":1.50}', '{"1":{}}', '{"x":1}'],
  'MAP(DECIMAL(4,2), VARCHAR)': ['{"1.5":"x","1.50":"y"}', '{"1.5":"x"}', '{"1.5":2}'],
  'UNION(a INTEGER, b JSON)': ['{"a":1}', '{"b":{"x":1.50}}', '{"a":1,"b":2}', '{}'],
  "ENUM('a', '1', 'é')": ['"a"', '"é"', '"\\u0061"', '"b"'],
}

const SCALARS = [
  'null true 0 -0 1 -1 1.5 12.50 1E-3 0.0000001 1e-400',
  '9007199254740993 0.30000000000000004 123456789012345 1234567890123456',
  '01 - 1. .5 +1 NaN nul True "" "a" "\\u00e5" "\\/x"',
  '"\\ud800" "\\udc00x" "\\x" "\\u12g4" "]},{" "日本" "\\\\" "\t" "\x7f"',
].flatMap((line) => line.split(' '))
const PIECES = ['', '}', ',', '"', '\\', '0', ':', '\u00a0', '{', '[', ']', 'e', '-', '.', '\n']

const space = (random: Random) => (random() < 0.9 ? '' : pick(random, [' ', '\n', '\t\r\n']))

/** Definitions of columns, by their names. */
export function randomColumns(random: Random): ReadonlyMap<string, string> {
  const count = 1 + Math.floor(random() * 6)
  const types = Object.keys(TYPES)
  return new Map(Array.from({ length: count }, () => [pick(random, NAMES), pick(random, types)]))
}

export function randomEvent(random: Random, columns: ReadonlyMap<string, string>): string {
  const names = [...columns.keys()].filter(() => random() < 0.9)
  if (random() < 0.3) names.reverse()
  if (random() < 0.2) names.push(pick(random, random() < 0.5 ? UNKNOWN : NAMES))
  const members = names.map((name) => {
    const fitting = TYPES[columns.get(name) ?? '']
    const isFitting = fitting !== undefined && random() < 0.8
    return member(random, name, isFitting ? pick(random, fitting) : randomJson(random, 3))
  })
  const text = `{${members.join(',')}}`
  return random() < 0.8 ? text : damaged(random, text)
}

function member(random: Random, name: string, value: string): string {
  const plain = JSON.stringify(name)
  const escaped = JSON.stringify(name.slice(1)).slice(1)
  const isEscaped = name !== '' && random() < 0.05
  const code = isEscaped ? name.charCodeAt(0).toString(16).padStart(4, '0') : ''
  const written = isEscaped ? `"\\u${code}${escaped}` : plain
  return `${space(random)}${written}${space(random)}:${space(random)}${value}${space(random)}`
}

function randomJson(random: Random, depth: number): string {
  const kind = depth === 0 ? 0 : random()
  if (kind < 0.65) return pick(random, SCALARS)
  const count = Math.floor(random() * 4)
  const items = Array.from({ length: count }, () => {
    const value = randomJson(random, depth - 1)
    return kind < 0.8 ? value : member(random, pick(random, NAMES), value)
  })
  return kind < 0.8 ? `[${items.join(',')}]` : `{${items.join(',')}}`
}

function damaged(random: Random, text: string): string {
  let result = text
  do {
    const at = Math.floor(random() * result.length)
    const rest = result.slice(random() < 0.5 ? at + 1 : at)
    result = result.slice(0, at) + pick(random, PIECES) + rest
  } while (random() < 0.3)
  return random() < 0.1 ? result.slice(0, Math.floor(random() * result.length)) : result
}
