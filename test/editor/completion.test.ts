// What is proposed at | while a model is typed, which rarely compiles then.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CompletionItem } from 'vscode-languageserver-protocol'
import { expectedAfter, tablesIn } from '../../src/editor/sql-scope.ts'
import { LanguageClient } from '../support/language-client.ts'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: t\nvars:\n  since: 2024-01-01\n',
  'models/raw/o.sql': '-- @kind: events\nid BIGINT NOT NULL,\namount DECIMAL(10, 2)\n',
  'models/core/orders.sql': '-- @description: Orders\nSELECT id, amount, 1 AS "a b" FROM raw.o\n',
  'models/core/x.sql': 'SELECT id AS key FROM core.orders\n',
}

/** Text, and what must be proposed: with ! what must not. */
const rows = [
  ['-- @|\nSELECT 1 AS a', '@kind', '@check', '!@unique_key', '!@deletes'],
  ['-- @kind: merge\n-- @|\nSELECT 1 AS a', '@unique_key', '@deletes', '!@kind'],
  ['-- @kind: |\nSELECT 1 AS a', 'merge', 'events'],
  ['-- @deletes: |\nSELECT 1 AS a', 'keep', 'mirror'],
  ['-- @unique_key: |\nSELECT id AS key FROM core.orders', 'key', '!amount'],
  ['-- @check: |\nSELECT id AS key FROM core.orders', 'key', 'not_null(a, b)'],
  ['-- @check: references(key, |\nSELECT id AS key FROM core.orders', 'core.orders'],
  ['-- @check: references(key, core.orders.|\nSELECT id AS key FROM core.orders', 'amount'],
  ['SELECT * FROM |', 'core.orders', 'raw.o', '!amount'],
  ['SELECT * FROM core.|', 'orders', '!core.orders'],
  ['SELECT o.| FROM core.orders o JOIN raw.o', 'amount', 'a b', '!o'],
  ['SELECT | FROM core.orders o', 'amount', 'o'],
  ['SELECT a FROM core.orders WHERE am| ', 'amount', 'orders'],
  ['WITH c AS (SELECT id, amount * 2 AS twice FROM raw.o) SELECT c.| FROM c', 'twice', 'id'],
  ['SELECT ${|} AS s', 'since'],
  ["SELECT '| AS s FROM core.orders", '!amount'],
  ['SELECT 1 AS s -- from |', '!core.orders'],
] as const

test('annotations, models, columns and variables are proposed where they fit', async () => {
  await using space = await workspace(files)
  await using client = await LanguageClient.start(space.dir)
  const path = 'models/core/x.sql'
  await client.open(path, files[path])
  await client.ask('documentSymbol', path, '') // so that it has compiled once
  for (const [typed, ...wanted] of rows) {
    await client.change(path, typed.replace('|', ''))
    const items = await client.ask<CompletionItem[]>('completion', path, typed)
    const labels = items.map(({ label }) => label)
    for (const label of wanted) {
      const isWanted = !label.startsWith('!')
      assert.is(labels.includes(label.replace('!', '')), isWanted, `${typed}: ${labels.join()}`)
    }
  }
  const items = await client.ask<CompletionItem[]>('completion', path, 'SELECT 1 AS s -- from |')
  assert.equal(items, [])
})

test('tables in scope, by tokens', () => {
  const shown = (text: string) =>
    tablesIn(text).map(({ alias, model, columns }) => `${alias}=${model ?? columns.join('+')}`)
  assert.equal(shown('select 1 from a.b x, c.d left join "e f".g as y on y.i = x.i'), [
    'x=a.b',
    'd=c.d',
    'y=e f.g',
  ])
  assert.equal(shown('with q as (select 1 as one, t.two from a.b t) select * from q where'), [
    't=a.b',
    'q=one+two',
  ])
  assert.equal(shown('from a.'), [])
})

test('an open quote or comment asks for nothing', () => {
  assert.equal(expectedAfter('select /* from '), { is: 'nothing' })
  assert.equal(expectedAfter("select 'it''s' || "), { is: 'column', of: null })
})

test.run()
