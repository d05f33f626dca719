import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'

test('values become parameters, identifiers are quoted', () => {
  const query = sql`SELECT ${sql.ident('a"b')} FROM ${sql.ident('s', 't')} WHERE x = ${sql.value("o'x")} AND y = ${sql.value(7)}`
  assert.equal(query.prepare(), {
    text: 'SELECT "a""b" FROM "s"."t" WHERE x = $1 AND y = $2',
    values: ["o'x", 7],
  })
  assert.is(query.inline(), `SELECT "a""b" FROM "s"."t" WHERE x = 'o''x' AND y = 7`)
})

test('a NUL is kept out of statement text', () => {
  assert.is(sql`${sql.value('a\0b')}`.inline(), `('a' || chr(0) || 'b')`)
  assert.throws(() => sql.ident('a\0b'))
  assert.throws(() => sql.ident(''))
})

test('a typed value is cast', () => {
  const price = sql.value('1.50', columnType('DECIMAL(18,4)'))
  assert.equal(price.prepare(), { text: 'CAST($1 AS DECIMAL(18,4))', values: ['1.50'] })
})

test('text that could leave a type is no type', () => {
  for (const text of ['INTEGER; DROP TABLE t', 'INTEGER -- x', `VARCHAR'`, 'INTEGER /* */', ''])
    assert.throws(() => columnType(text), undefined, text)
  assert.is(columnType(`STRUCT("a b;" INTEGER)[]`), `STRUCT("a b;" INTEGER)[]`)
})

test.run()
