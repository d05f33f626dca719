import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../src/duckdb/database.ts'
import { parseStatements } from '../../src/duckdb/syntax.ts'

async function parse(...texts: readonly string[]) {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  return await parseStatements(connection, texts)
}

test('what each text is', async () => {
  const sorts = {
    'select 1': 'select',
    'from raw.s': 'select',
    'values (1)': 'select',
    'with a as (select 1) from a': 'select',
    'pivot t on a in (1) using sum(b)': 'select',
    'pivot t on a using sum(b)': 'pivot',
    'with p as (pivot t on a using sum(b)) from p': 'pivot',
    'select 1; select 2': 'other',
    '': 'other',
    '-- only a comment': 'other',
    'insert into t values (1)': 'other',
    'with a as (select 1) insert into t from a': 'other',
    'describe select 1': 'other',
    'show tables': 'other',
    'pivot t on a using sum(b); drop table t': 'other',
    'select 1 frm x y': 'error',
    'select (1': 'error',
  }
  const parsed = await parse(...Object.keys(sorts))
  assert.equal(
    parsed.map(({ is }) => is),
    Object.values(sorts),
  )
})

test('a thousand texts come back in order', async () => {
  const texts = Array.from({ length: 1_000 }, (_, i) => `select ${i} as n`)
  const parsed = await parse(...texts)
  assert.is(parsed.length, 1_000)
  for (const [i, result] of parsed.entries())
    assert.ok(result.is === 'select' && result.canonical.includes(`"value":${i}}`), String(i))
})

test('canonical text ignores places and keeps literals that look like places', async () => {
  const [a, b, c] = await parse(
    `select '"query_location":5,' as x`,
    `  select /* c */ '"query_location":5,' as x`,
    `select '"query_location":6,' as x`,
  )
  assert.ok(a?.is === 'select' && b?.is === 'select' && c?.is === 'select')
  assert.is(a.canonical, b.canonical)
  assert.is.not(a.canonical, c.canonical)
})

test('numbers that JSON has no word for', async () => {
  const parsed = await parse('select 1e400', 'select -1e400', `select '"value":Infinity'`)
  assert.ok(parsed.every(({ is }) => is === 'select'))
})

test('an error says where, in characters', async () => {
  const [result] = await parse(`select 'é😀', x y z`)
  assert.ok(result?.is === 'error')
  assert.is(result.details.position, 17)
  assert.is(result.details.type, 'Parser')
})

test.run()
