import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readCollection } from '../../src/mcp/collection-text.ts'

const of = (text: string) => {
  const found = readCollection(text)
  return found === null ? null : { ...found, rows: found.rows.join(' ') }
}

test('rows are cut out as they are written, whatever is in their texts', () => {
  const rows = ['{"a":"],}\\"[{"}', '{"n":9007199254740993,"l":[1,[2]],"o":{"p":{}}}', '"x,]"', '7']
  const { rows: found, ...rest } = readCollection(`{"value":[${rows.join()}]}`)!
  assert.equal(found, rows)
  assert.equal(rest, { count: null, isWhole: true, nextLink: null })
})

test('the count and the next link come with them', () => {
  const text = `{"@odata.context":"http:\\"x","@odata.count":12,"value":[{"a":1}],"@odata.nextLink":"http://h/odata/s?x=\\u00e9"}`
  const whole = { rows: '{"a":1}', count: '12', isWhole: true, nextLink: 'http://h/odata/s?x=é' }
  assert.equal(of(text), whole)
  assert.equal(of('{"value":[]}'), { rows: '', count: null, isWhole: true, nextLink: null })
})

test('wherever the text ends, rows that are not whole are left out', () => {
  const text = '{"value":[{"a":"b]"},{"a":"\\\\"},{"a":[1,2]}],"@odata.nextLink":"http://h"}'
  const ends = text.indexOf(']', text.indexOf('[1,2]') + 5)
  for (let length = '{"value":['.length; length < ends; length++) {
    const { rows, isWhole } = readCollection(text.slice(0, length))!
    assert.not(isWhole, `${length}`)
    for (const row of rows) assert.ok(text.includes(row) && JSON.parse(row) !== null, row)
    assert.ok(rows.length < 3 || length > ends - 1)
  }
})

test('what is no collection is left alone', () => {
  for (const text of ['', '{}', '{"value":7}', '{"name":"value","value":[1]}', '[1]'])
    assert.is(readCollection(text), null, text)
})

test.run()
