import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileOne, mistakesOf } from '../../support/compile-texts.ts'

async function columnsOf(list: string): Promise<readonly string[]> {
  const { columns } = await compileOne(`-- @kind: events\n${list}`)
  return columns.map(({ name, type, nullable }) => `${name} ${type}${nullable ? '' : ' NOT NULL'}`)
}

test('types of several words, with commas, with comments between', async () => {
  const columns = await columnsOf(`
    id BIGINT NOT NULL, at TIMESTAMP WITH TIME ZONE not null, -- the sender's clock, not ours
    price DOUBLE PRECISION, amount DECIMAL(18,4),
    items STRUCT(a INTEGER, "b c" VARCHAR)[] /* one, or
      more */ NOT NULL,
    state ENUM('a,b', 'it''s', ')'),
    tags MAP(VARCHAR, INTEGER[]), doc JSON, docs json[], triple INTEGER[3], u UNION(n INT, s TEXT),
  `)
  assert.equal(columns, [
    'id BIGINT NOT NULL',
    'at TIMESTAMP WITH TIME ZONE NOT NULL',
    'price DOUBLE',
    'amount DECIMAL(18,4)',
    'items STRUCT(a INTEGER, "b c" VARCHAR)[] NOT NULL',
    `state ENUM('a,b', 'it''s', ')')`,
    'tags MAP(VARCHAR, INTEGER[])',
    'doc JSON',
    'docs JSON[]',
    'triple INTEGER[3]',
    'u UNION(n INTEGER, s VARCHAR)',
  ])
})

test('names as they are written, reserved words and all', async () => {
  const list = `"Order" INT, from TEXT, "a.b, c" INT, "quo""te" INT, größe INT, "not" INT NOT NULL, __proto__ INT`
  assert.equal(await columnsOf(list), [
    'Order INTEGER',
    'from VARCHAR',
    'a.b, c INTEGER',
    'quo"te INTEGER',
    'größe INTEGER',
    'not INTEGER NOT NULL',
    '__proto__ INTEGER',
  ])
})

test('a pair of parentheses and a semicolon around all of it', async () => {
  assert.equal(await columnsOf('(id INTEGER, name VARCHAR);'), ['id INTEGER', 'name VARCHAR'])
  assert.equal(await columnsOf('("(" DECIMAL(4,1))\n;'), ['( DECIMAL(4,1)'])
})

test('received_at is a column when it is declared, and only then', async () => {
  assert.equal(await columnsOf('id INTEGER'), ['id INTEGER'])
  assert.equal(await columnsOf('received_at TIMESTAMPTZ'), ['received_at TIMESTAMP WITH TIME ZONE'])
})

test('nothing in a list runs', async () => {
  for (const list of [
    'id INTEGER); DROP TABLE x; CREATE TABLE y (z INTEGER',
    'id INTEGER) AS b, (SELECT 1',
    'id INTEGER)) WITH NO DATA; CREATE TABLE a.evil AS (SELECT ((1',
    'id "INTEGER) AS x; DROP TABLE t; --"',
    `id ENUM('a') DEFAULT (SELECT 1)`,
    'id INTEGER CHECK (id > 0)',
    'id INTEGER USING SAMPLE 1',
    'id INTEGER) FROM range(3',
    'id [INTEGER)]',
    'select 1',
    'WITH x AS (SELECT 1) FROM x',
    'from raw.s',
    'CREATE TABLE t (id INTEGER)',
    'id INTEGER /* open',
    `id ENUM('open)`,
  ]) {
    const mistakes = await mistakesOf({ 'a.e': `-- @kind: events\n${list}` })
    assert.ok(mistakes.length > 0, list)
    assert.ok(
      mistakes.every((text) =>
        /^a\.e:\d+:\d+ (?:not-a-column-list|invalid-column-type)$/.test(text),
      ),
      `${list}: ${mistakes.join('; ')}`,
    )
  }
})

test('all mistakes of a list at once, each at its place', async () => {
  const list = 'id INTEGR,\n"x" VARCHAR,\nX INTEGER,\n, y,\nz DECIMAL(99)'
  assert.equal(
    await mistakesOf({ 'a.e': `-- @kind: events\n${list}`, 'b.v': 'select id from a.e' }),
    [
      'a.e:2:4 invalid-column-type',
      'a.e:4:1 duplicate-column',
      'a.e:5:1 not-a-column-list',
      'a.e:5:3 not-a-column-list',
      'a.e:6:3 invalid-column-type',
    ],
  )
})

test.run()
