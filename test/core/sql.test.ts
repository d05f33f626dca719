import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../src/core/relation.ts'
import { ModelBody, type Sql, sql } from '../../src/core/sql.ts'

const bodyOf = (text: string) =>
  ModelBody.of({ path: 'models/s/t.sql', text }, { start: 0, end: text.length })

test('values become parameters, identifiers are quoted', () => {
  const query = sql`SELECT ${sql.ident('a"b')} FROM ${sql.ident('s', 't')} WHERE x = ${sql.value("o'x")} AND y = ${sql.value(7)}`
  assert.equal(query.prepare(), {
    text: 'SELECT "a""b" FROM "s"."t" WHERE x = $1 AND y = $2',
    values: ["o'x", 7],
  })
  assert.is(query.inline(), `SELECT "a""b" FROM "s"."t" WHERE x = 'o''x' AND y = 7`)
})

test('a NUL is kept out of statement text', () => {
  assert.is(sql`${sql.value("a\0'")}`.inline(), `decode(unhex('610027'))`)
  assert.throws(() => sql.ident('a\0b'))
  assert.throws(() => sql.ident(''))
})

test('a typed value is cast', () => {
  const price = sql.value('1.50', columnType('DECIMAL(18,4)'))
  assert.equal(price.prepare(), { text: 'CAST($1 AS DECIMAL(18,4))', values: ['1.50'] })
})

test('only what templates say decides whether it is one SELECT', () => {
  const hostile = sql`SELECT ${sql.value("'; DROP TABLE t; --")}, ${sql.ident('"; DROP TABLE t')}`
  assert.is(hostile.isOneSelect, true)
  assert.is(sql`${hostile} UNION ALL ${hostile}`.isOneSelect, true)
  const others = [
    sql`DROP TABLE t`,
    sql`SELECTED`,
    sql`${sql.value('SELECT ')} 1`,
    sql`SELECT 1; SELECT 2`,
    sql`SELECT (${sql.join([sql`1`, sql`2;`])})`,
    sql`SELECT * FROM (${sql.body(bodyOf('SELECT 1) ; DROP TABLE t'))})`,
  ]
  for (const query of others) assert.is(query.isOneSelect, false, query.inline())
})

test('a string is no part of a statement', () => {
  const parts = ['DROP TABLE t', { kind: 'body', body: { text: 'DROP TABLE t' } }]
  for (const part of parts) {
    assert.throws(() => sql`SELECT ${part as unknown as Sql}`.inline(), TypeError)
    assert.throws(() => sql.join([part as unknown as Sql]).prepare(), TypeError)
  }
})

test('text that could leave a type is no type', () => {
  for (const text of ['INTEGER; DROP TABLE t', 'INTEGER -- x', `VARCHAR'`, 'INTEGER /* */', ''])
    assert.throws(() => columnType(text), undefined, text)
  assert.is(columnType(`STRUCT("a b;" INTEGER)[]`), `STRUCT("a b;" INTEGER)[]`)
})

test.run()
