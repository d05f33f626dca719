import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { showDiagnostic } from '../../src/cli/show-diagnostic.ts'
import { diagnostic } from '../../src/core/diagnostics.ts'

function shown(text: string, marked: string, path = 'models/a/b.sql'): string {
  const start = text.indexOf(marked)
  const span = { start, end: start + marked.length }
  return showDiagnostic(
    diagnostic('sql-syntax', { problem: 'wrong' }, { source: { path, text }, span }),
  )
}

const caretLine = (printed: string) => printed.split('\n')[2]

test('place, line, caret', () => {
  assert.is(
    shown('select\n  id,\n  amuont\n', 'amuont'),
    'models/a/b.sql:3:3 error sql-syntax: wrong\n  3 |   amuont\n    |   ^^^^^^',
  )
})

test('a span over several lines ends with its first', () => {
  assert.is(caretLine(shown("select 'a\nb'", "'a\nb'")), '    |        ^^')
  assert.is(caretLine(shown("select 'a\r\nb'", "'a\r\nb'")), '    |        ^^')
})

test('tabs become spaces above and below', () => {
  const printed = shown('\tx\t= yy', 'yy')
  assert.is(printed.split('\n')[1], '  1 |     x   = yy')
  assert.is(caretLine(printed), '    |           ^^')
})

test('wide characters take two columns, combining marks none', () => {
  assert.is(caretLine(shown('漢字 x', 'x')), '    |      ^')
  assert.is(caretLine(shown('e\u0301 x', 'x')), '    |   ^')
  assert.is(caretLine(shown('😀 x', 'x')), '    |    ^')
})

test('a long line is cut around the place', () => {
  const printed = shown('a'.repeat(5_000) + ' HERE ' + 'b'.repeat(5_000), 'HERE')
  const [, line = '', carets = ''] = printed.split('\n')
  assert.ok(line.length < 115)
  assert.is(line.indexOf('HERE'), carets.indexOf('^'))
  assert.match(line, /^ {2}1 \| …a+ HERE b+…$/)
  const wide = shown('x'.repeat(10_000), 'x'.repeat(10_000))
  assert.ok(wide.split('\n').every((part) => part.length < 115))
})

test('the end of a file has a place too', () => {
  const source = { path: 'x.sql', text: 'select 1' }
  const at = { source, span: { start: 8, end: 9 } }
  assert.is(caretLine(showDiagnostic(diagnostic('not-a-select', {}, at))), '    |         ^')
})

test('a whole file has no line', () => {
  const at = { source: { path: 'x.sql', text: 'select 1' }, span: { start: 0, end: 0 } }
  assert.is(
    showDiagnostic(diagnostic('not-a-select', {}, at, 'go on')),
    'x.sql:1:1 error not-a-select: a model is one SELECT statement\n  hint: go on',
  )
})

test('control characters do not reach the terminal', () => {
  const printed = shown('select \u001b[31m x', 'x', 'models/a/\u001b[2J.sql')
  assert.not.match(printed, '\u001b')
  assert.is(printed.split('\n').length, 3)
})

test.run()
