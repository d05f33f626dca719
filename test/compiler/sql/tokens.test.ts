import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { statementsOf, nameOf, tokenize } from '../../../src/compiler/sql/tokens.ts'

const shown = (text: string) => tokenize(text).map((token) => `${token.kind} ${token.text}`)

test('each sort of token', () => {
  assert.equal(shown(`select "a ""b""", 'it''s', 1.5e3, .5 from größe$2 -- end`), [
    'word select',
    'quoted "a ""b"""',
    'symbol ,',
    `string 'it''s'`,
    'symbol ,',
    'number 1.5e3',
    'symbol ,',
    'symbol .',
    'number 5',
    'word from',
    'word größe$2',
    'comment -- end',
  ])
})

test('semicolons, dashes and annotations inside literals and comments are data', () => {
  for (const literal of [
    `'; -- @kind: view'`,
    `E'\\'; --'`,
    `'\n-- @kind: view\n'`,
    '$$; -- $$',
    '$tag$ $$ ; $tag$',
    '/* ; /* ; */ ; */ 1',
    '"; --"',
  ]) {
    const { header, statements } = statementsOf({ path: 'x', text: `select ${literal} as x` })
    assert.equal(header, [], literal)
    assert.is(statements.length, 1, literal)
    assert.is(statements[0]?.at(-1)?.text, 'x', literal)
  }
})

test('what is not closed reaches to the end', () => {
  for (const text of [
    `'open ; x`,
    `"open ; x`,
    `$$open ; x`,
    `/* open /* ; */ x`,
    `e'open \\' ; x`,
  ])
    assert.equal(shown(text).length, 1, text)
})

test('a word that ends in e is no prefix of a literal', () => {
  assert.equal(shown(`like'a\\' ; 'b'`).slice(0, 3), ['word like', `string 'a\\'`, 'symbol ;'])
})

test('a parameter is no dollar literal', () => {
  assert.equal(shown('$1 + $2'), ['symbol $', 'number 1', 'symbol +', 'symbol $', 'number 2'])
})

test('names lose their quotes', () => {
  const names = tokenize(`Plain "Quo""ted" 'text' "`).map(nameOf)
  assert.equal(names, ['Plain', 'Quo"ted', null, null])
})

test('a byte order mark and CRLF are white space', () => {
  const text = '\ufeff-- @kind: view\r\n\r\nselect 1;\r\n-- done'
  const { header, statements } = statementsOf({ path: 'x', text })
  assert.equal(
    header.map((token) => token.text),
    ['-- @kind: view'],
  )
  assert.equal(
    statements.map((tokens) => tokens.map((token) => token.text)),
    [['select', '1']],
  )
})

test('a megabyte of anything is split in bounded time', () => {
  for (const part of ['/* ', '( ', `'' `, '$a$ ', '-', '" ']) {
    const startedAt = Date.now()
    tokenize(part.repeat(300_000))
    assert.ok(Date.now() - startedAt < 5_000, part)
  }
})

test.run()
