import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { annotations, parseHeader } from '../../../src/compiler/annotations/annotations.ts'
import { tokenize } from '../../../src/compiler/sql/tokens.ts'

function header(text: string) {
  const parsed = parseHeader({ path: 'x.sql', text }, tokenize(text))
  return { ...parsed, codes: parsed.diagnostics.map(({ code }) => code) }
}

test('columns keep their places in the file', () => {
  const text = `-- a note\n  --  @unique_key : "Line ""No""" ,  größe`
  const columns = header(text).header.unique_key?.value ?? []
  assert.equal(
    columns.map(({ name, span }) => [name, text.slice(span.start, span.end)]),
    [
      ['Line "No"', '"Line ""No"""'],
      ['größe', 'größe'],
    ],
  )
})

test('an annotation that was not understood is still mentioned', () => {
  const { mentioned, codes, header: found } = header('-- @kind\n-- @unique_key: a,\n-- @kind: view')
  assert.equal(codes, ['annotation-syntax', 'annotation-syntax', 'duplicate-annotation'])
  assert.equal([...mentioned], ['kind', 'unique_key'])
  assert.equal(found, {})
})

test('names of Object.prototype are no annotations', () => {
  for (const name of ['constructor', 'toString', '__proto__'])
    assert.ok(
      header(`-- @${name}: x`).codes[0]?.match(/unknown-annotation|annotation-syntax/),
      name,
    )
})

const values: Readonly<Record<string, string>> = {
  column: 'a: text',
  contract: 'a INTEGER',
  measure: 'a: sum(b)',
  label: 'a: text',
  unit: 'a: text',
  format: 'a: text',
  text: 'a: b',
  hierarchy: 'org: a parent b',
  depends_on: 'a.b',
  on_duplicate: 'fail',
  deletes: 'mirror',
  keep: '90 days of ordered_at',
  fresh: '10 s',
  rebuild: 'always',
  period: 'day of ordered_at',
  renamed_from: 'a: b',
  on_schema_change: 'rebuild',
}

test('every annotation is understood', () => {
  for (const name of Object.keys(annotations)) {
    const value = values[name] ?? 'word'
    assert.equal(header(`-- @${name}: ${value}`).codes, [], name)
    assert.ok(header(`-- @${name} ${value}`).mentioned.has(name))
  }
})

test.run()
