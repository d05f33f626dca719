// `eider query` with the name of a table, what it says where there is no such table, and rows as Markdown.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/core/orders.sql': `SELECT range::INTEGER AS id, 'o' || range AS name FROM range(3)\n`,
  'models/core/Lines.sql': 'SELECT 1 AS n\n',
  'models/mart/order.sql': 'SELECT 7 AS n\n',
  'models/mart/never.sql': 'SELECT 8 AS n\n',
}

async function built(): Promise<Workspace> {
  const space = await workspace(files)
  await space.ok(['run', '--exclude', 'mart.never'])
  return space
}

test('the name of a table alone gives its rows', async () => {
  await using space = await built()
  const rows = async (...args: readonly string[]) =>
    (await space.ok(['query', ...args, '--json'])).stdout
  const all = '{"id":0,"name":"o0"}\n{"id":1,"name":"o1"}\n{"id":2,"name":"o2"}\n'
  for (const name of ['core.orders', ' CORE."orders" ; -- all', 'warehouse.core.orders'])
    assert.is(await rows(name), all, name)
  assert.is(
    await rows('core.orders', '--limit', '2'),
    all.split('\n').slice(0, 2).join('\n') + '\n',
  )
  assert.is(await rows('core.lines'), '{"n":1}\n')
  assert.is(await rows('mart.order'), '{"n":7}\n', 'a word of SQL after the dot')
  const names = '{"name":"core.Lines"}\n{"name":"core.orders"}\n{"name":"mart.order"}\n'
  assert.is(await rows('SHOW TABLES'), names)
  assert.match(await rows('DESCRIBE core.orders'), /^\{"column_name":"id","column_type":"INTEGER"/)
  assert.match(await rows('SUMMARIZE core.orders'), /"column_name":"name".*"max":"o2"/)
})

test('what is no table says what may be meant', async () => {
  await using space = await built()
  const hints = {
    'core.ordrs': 'did you mean "core.orders"?',
    core_orders: 'did you mean "core.orders"?',
    'FROM core_orders': 'did you mean "core.orders"?',
    'cre.orders': 'did you mean "core.orders"?',
    core: `core is a schema, with core.Lines, core.orders; "eider query 'SHOW TABLES'" lists the tables`,
    'seeds.something': `"eider query 'SHOW TABLES'" lists the tables`,
    orders: 'available here: core.orders',
    'mart.never': 'mart.never is not built yet: eider run +mart.never',
  }
  for (const [text, hint] of Object.entries(hints)) {
    const { stderr } = await space.ok(['query', text], { exitCode: 1 })
    assert.match(stderr, /^query:1:\d+ error sql-binding: Table with name .* does not exist/, text)
    assert.is(/ hint: (.*)/.exec(stderr)?.[1], hint, text)
  }
})

test('a statement that writes stays refused, also one of a single word', async () => {
  await using space = await built()
  const refused =
    'error: a query must be a single SELECT, SHOW, DESCRIBE or SUMMARIZE\nhint: only a run changes the warehouse\n'
  for (const text of [
    'CHECKPOINT',
    'begin',
    'DELETE FROM core.orders',
    "COPY core.orders TO 'x.csv'",
    'core.orders; DROP TABLE core.orders',
  ])
    assert.is((await space.ok(['query', text], { exitCode: 2 })).stderr, refused, text)
  const { stderr } = await space.ok(['query', 'core.orders x'], { exitCode: 1 })
  assert.match(stderr, /^query:1:1 error sql-syntax: syntax error at or near "core"/)
})

test('Markdown is a table in which values are text', async () => {
  await using space = await built()
  const markdown = async (sql: string) =>
    (await space.ok(['query', sql, '--format', 'markdown'])).stdout
  assert.is(
    await markdown('core.orders'),
    '| id | name |\n| --: | --- |\n| 0 | o0 |\n| 1 | o1 |\n| 2 | o2 |\n',
  )
  assert.is(await markdown('FROM core.orders WHERE id > 9'), '| id | name |\n| --: | --- |\n')
  const sql = `SELECT 1.50 AS a_b, [1] AS _list, NULL AS n,
    'a|b' || chr(13) || chr(10) || '<img src=x> [x](y) *b* a_b _c_ \\|' || chr(7) AS v`
  assert.is(
    await markdown(sql),
    `| a_b | \\_list | n | v |\n| --: | --- | --: | --- |\n` +
      `| 1.50 | \\[1\\] | NULL | a\\|b<br>\\<img src=x> \\[x\\](y) \\*b\\* a_b \\_c\\_ \\\\\\|\ufffd |\n`,
  )
})

test.run()
