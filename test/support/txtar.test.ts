import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseTxtar, printTxtar } from './txtar.ts'
import { seededRandom } from './seeded-random.ts'

const contents = (text: string) =>
  Object.fromEntries(
    parseTxtar(text).files.map(({ path, content }) => [path, content.toString('latin1')]),
  )

test('files go from their line to the next one; what comes before the first is a comment', () => {
  const text =
    'why\n\n-- models/a/t.sql --\n-- @kind: table\nSELECT 1\n-- empty --\n-- expected --\n\n'
  assert.is(parseTxtar(text).comment, 'why\n\n')
  assert.equal(contents(text), {
    'models/a/t.sql': '-- @kind: table\nSELECT 1\n',
    empty: '',
    expected: '\n',
  })
  assert.is(printTxtar(parseTxtar(text)), text)
})

test('an escaped file may hold any bytes, and need not end with a line break', () => {
  const text = '-- a (escaped) --\ncaf\\xe9 \\\\x41 \\\nb\\\n-- b --\n\\x41\n'
  assert.equal(contents(text), { a: 'caf\xe9 \\x41 b', b: '\\x41\n' })
})

test('a broken escape, or an end without a line break, is an error', () => {
  assert.throws(() => parseTxtar('-- a (escaped) --\n\\y\n'), /escapes nothing/)
  assert.throws(() => parseTxtar('-- a --\nx'), /no line break/)
})

test('what is printed is read again as it was', () => {
  const random = seededRandom(1)
  const pieces = [
    '-- a --',
    '\n',
    '\\',
    '\\x41',
    'é',
    '\xff',
    '\0',
    '\r\n',
    ' ',
    '\t',
    '\ufeff',
    '-',
  ]
  for (let i = 0; i < 2000; i++) {
    const files = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, at) => ({
      path: `file ${at}`,
      content: Buffer.concat(
        Array.from({ length: Math.floor(random() * 8) }, () => {
          const piece = pieces[Math.floor(random() * pieces.length)]!
          return Buffer.from(piece, random() < 0.5 ? 'latin1' : 'utf8')
        }),
      ),
    }))
    assert.equal(parseTxtar(printTxtar({ comment: '', files })).files, files)
  }
})

test.run()
