// Bodies of $batch as text: what is in strings is never taken for structure, and what is crowded or deep is refused
// before it is parsed.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { parseJsonBatch } from '../../../src/odata/http/batch-json.ts'
import { parseMultipartBatch } from '../../../src/odata/http/batch-multipart.ts'

function refusal(parse: () => unknown): string {
  try {
    parse()
  } catch (error) {
    if (error instanceof RequestError) return `${error.status} ${error.code}`
    throw error
  }
  return 'accepted'
}

const json = (text: string) => () => parseJsonBatch(Buffer.from(text), 100)

test('JSON: strings may hold whatever they like', () => {
  const urls = [
    'x'.repeat(1_000_000),
    '[{,'.repeat(200_000),
    '"'.repeat(1_000),
    '\\'.repeat(1_001),
    `${'\\"'.repeat(1_000)}[[[[`,
    'é∞😀',
  ]
  const requests = urls.map((url, i) => ({ id: `${i}`, method: 'GET', url }))
  const parsed = parseJsonBatch(Buffer.from(JSON.stringify({ requests })), 100)
  assert.equal(
    parsed.map(({ url }) => url),
    urls,
  )
})

test('JSON: crowded, deep and broken bodies are refused', () => {
  const crowded = `{"requests":[${'{},'.repeat(limits.batchMarks)}{}]}`
  const deep = `{"requests":${'['.repeat(100)}${']'.repeat(100)}}`
  for (const text of [crowded, deep, '['.repeat(1_000_000), '{"requests":["', '"\\', ''])
    assert.is(refusal(json(text)), '400 invalid-body', text.slice(0, 30))
})

const part = (url: string, headers = '') =>
  `Content-Type: application/http\r\n\r\nGET ${url} HTTP/1.1\r\n${headers}\r\n`
const multipart = (body: string) => () => parseMultipartBatch(Buffer.from(body), 'b', 2)

test('multipart: a boundary is a line of its own', () => {
  const text = [
    'a preamble that is not read --b',
    `--b  `,
    part('one', 'Accept: text/plain\r\n'),
    ' --b',
    '--bc',
    '--b--c',
    '--b',
    part('two'),
    '--b-- ',
    'an epilogue',
    '--b',
  ].join('\r\n')
  const parsed = multipart(text)()
  assert.equal(
    parsed.map(({ method, url, headers }) => [method, url, headers]),
    [
      ['GET', 'one', { accept: 'text/plain' }],
      ['GET', 'two', {}],
    ],
  )
  assert.equal(multipart('--b--')(), [])
})

const DOUBLED: readonly (readonly [lines: readonly string[], name: string | null])[] = [
  [['Authorization: Bearer a', 'authorization: Bearer b'], 'Authorization'],
  [['Content-Type: text/plain', 'CONTENT-TYPE: text/plain'], 'Content-Type'],
  [['Idempotency-Key: a', 'Idempotency-Key: a'], 'Idempotency-Key'],
  [['Host: a', 'Host: b'], 'Host'],
  [['If-None-Match: "a"', 'if-none-match: "b"'], null],
]

test('a header with one value that comes twice is refused in its request alone; lists are joined', () => {
  for (const [lines, name] of DOUBLED) {
    const text = lines.map((line) => `${line}\r\n`).join('')
    const body = `--b\r\n${part('one', text)}--b\r\n${part('two')}--b--`
    const headers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]))
    const inJson = JSON.stringify({
      requests: [
        { id: '1', method: 'GET', url: 'one', headers },
        { id: '2', method: 'GET', url: 'two' },
      ],
    })
    // Names of an object of JSON are all different.
    const isApart = Object.keys(headers).length === 2
    for (const parsed of [multipart(body)(), ...(isApart ? [json(inJson)()] : [])]) {
      const [first, second] = parsed
      assert.is(first!.refusal?.status, name === null ? undefined : 400, text)
      assert.is(first!.refusal?.target, name ?? undefined)
      if (name === null) assert.equal(first!.headers, { 'if-none-match': '"a", "b"' })
      assert.is(second!.url, 'two')
      assert.is(second!.refusal, undefined)
    }
  }
})

test('two Content-ID or Content-Type lines of a part refuse it', () => {
  for (const line of ['Content-ID: 1\r\nContent-ID: 2', 'Content-Type: application/http']) {
    const [one] = multipart(`--b\r\n${line}\r\n${part('one')}--b--`)()
    assert.is(one!.refusal?.code, 'invalid-batch', line)
  }
})

test('multipart: too many parts, too many headers, no end', () => {
  const many = `--b\r\n${part('x')}`.repeat(3)
  assert.is(refusal(multipart(`${many}--b--`)), '413 too-large')
  const crowded = part('x', 'a: b\r\n'.repeat(limits.partHeaders + 1))
  assert.is(refusal(multipart(`--b\r\n${crowded}\r\n--b--`)), '400 invalid-batch')
  for (const text of ['', '--b', `--b\r\n${part('x')}`, '--c--', `--b\r\n${part('x')} --b--`])
    assert.is(refusal(multipart(text)), '400 invalid-body', text)
})

test.run()
