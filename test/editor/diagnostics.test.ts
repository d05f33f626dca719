// `eider lsp` as an editor has it: mistakes in texts that are not saved, and what a click does about them.

import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CodeAction, TextEdit } from 'vscode-languageserver-protocol'
import { LanguageClient } from '../support/language-client.ts'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\nodata:\n  port: 8090\n',
  'models/raw/orders.sql': '-- @kind: events\nid BIGINT NOT NULL,\namount DECIMAL(10, 2)\n',
  'models/core/orders.sql': 'SELECT id, amount FROM raw.orders\n',
}

/** The text after the only quick fix at a line. */
async function fixed(client: LanguageClient, path: string, text: string, line: number) {
  const place = { line: line - 1, character: 0 }
  const actions: CodeAction[] = await client.connection.sendRequest('textDocument/codeAction', {
    textDocument: { uri: client.uri(path) },
    range: { start: place, end: place },
    context: { diagnostics: [] },
  })
  assert.is(actions.length, 1, JSON.stringify(actions))
  const edits = actions[0]!.edit!.changes![client.uri(path)]!
  return apply(text, edits)
}

function apply(text: string, edits: readonly TextEdit[]): string {
  const starts = text
    .split('\n')
    .reduce((all, line) => [...all, all.at(-1)! + line.length + 1], [0])
  const [{ range, newText }] = edits as [TextEdit]
  const offset = ({ line, character }: TextEdit['range']['start']) => starts[line]! + character
  return text.slice(0, offset(range.start)) + newText + text.slice(offset(range.end))
}

test('mistakes of unsaved texts are shown where they are, and gone when they are', async () => {
  await using space = await workspace(files)
  await space.write('models/core/broken.sql', 'SELECT 1 AS one, FROM raw.order\n')
  await using client = await LanguageClient.start(space.dir)
  // Of the whole project, before a file is opened.
  const [found] = await client.diagnostics('models/core/broken.sql', '1:23 unknown-model')
  assert.is(found!.message, 'no model "raw.order"\nhint: did you mean "raw.orders"?')
  assert.is(found!.source, 'eider')

  const path = 'models/core/orders.sql'
  await client.open(path, 'SELECT id, amont FROM raw.orders\n')
  await client.diagnostics(path, '1:12 sql-binding')
  assert.is(
    await fixed(client, path, 'SELECT id, amont FROM raw.orders\n', 1),
    'SELECT id, amount FROM raw.orders\n',
  )
  const before = client.published
  for (const text of ['SELECT i', 'SELECT id', 'SELECT id FROM raw.orders\n'])
    await client.change(path, text)
  await client.diagnostics(path)
  // One compile for three keys.
  assert.ok(client.published - before <= 2, String(client.published - before))

  await client.open('eider.yml', 'name: shop\nodata:\n  prot: 8090\n')
  await client.diagnostics('eider.yml', '3:3 config-unknown-key')
  // What is unsaved counts until the file is closed.
  await client.connection.sendNotification('textDocument/didClose', {
    textDocument: { uri: client.uri('eider.yml') },
  })
  await client.diagnostics('eider.yml')
  assert.is(await client.stop(), 0)
})

test('quick fixes write what the hints say', async () => {
  await using space = await workspace(files)
  await using client = await LanguageClient.start(space.dir)
  const rows = [
    [
      'models/core/a.sql',
      'SELECT o.amont FROM raw.orders o',
      '1:8 sql-binding',
      'SELECT o.amount FROM raw.orders o',
    ],
    [
      'models/core/b.sql',
      '-- @knd: view\nSELECT 1 AS a',
      '1:4 unknown-annotation',
      '-- @kind: view\nSELECT 1 AS a',
    ],
    [
      'models/core/c.sql',
      '-- @kind: veiw\nSELECT 1 AS a',
      '1:11 unknown-kind',
      '-- @kind: view\nSELECT 1 AS a',
    ],
    [
      'models/core/d.sql',
      '-- @kind: merge\nSELECT 1 AS id',
      '1:11 missing-unique-key',
      '-- @kind: merge\n-- @unique_key: id\nSELECT 1 AS id',
    ],
    [
      'models/core/e.sql',
      '-- @expose(id)\nSELECT 1 AS id',
      '1:11 annotation-syntax',
      '-- @expose: id\nSELECT 1 AS id',
    ],
    [
      'models/core/f.sql',
      '-- @owner: a\n-- @owner: b\nSELECT 1 AS id',
      '2:4 duplicate-annotation',
      '-- @owner: a\nSELECT 1 AS id',
    ],
    [
      'eider.yml',
      "name: shop\nodata:\n  port: '80'",
      '3:9 config-invalid-value',
      'name: shop\nodata:\n  port: 80',
    ],
  ] as const
  for (const [path, text, place, after] of rows) {
    await client.open(path, text)
    await client.diagnostics(path, place)
    const line = Number(place.split(':')[0])
    assert.is(await fixed(client, path, text, line), after, path)
  }
})

test('sources are asked again when something is saved, not at each key', async () => {
  const config = 'name: t\nsources:\n  bank:\n    tables:\n      rates: { file: rates.csv }\n'
  const path = 'models/a/m.sql'
  await using space = await workspace({ 'eider.yml': config, 'rates.csv': 'day,rate\n1,2\n' })
  await space.write(path, 'SELECT rate FROM bank.rates\n')
  await using client = await LanguageClient.start(space.dir)
  await client.open(path, 'SELECT rat FROM bank.rates\n')
  await client.diagnostics(path, '1:8 sql-binding')
  await rm(space.path('rates.csv'))
  await client.change(path, 'SELECT rate, da FROM bank.rates\n')
  await client.diagnostics(path, '1:14 sql-binding')
  await space.write('models/a/n.sql', 'SELECT 1 AS one\n')
  await client.diagnostics('eider.yml', '5:7 invalid-source')
})

test('broken messages, files of no project and a lost editor', async () => {
  await using space = await workspace({ 'notes/a.sql': 'SELECT' })
  await using client = await LanguageClient.start(space.dir)
  const { stdin } = client.process
  stdin!.write('Content-Length: 7\r\n\r\n{"a": b')
  await client.open('notes/a.sql', 'SELECT')
  const params = { textDocument: { uri: client.uri('notes/a.sql') } }
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }
  const actions = await client.connection.sendRequest('textDocument/codeAction', {
    ...params,
    range,
    context: { diagnostics: [] },
  })
  assert.equal(actions, [])
  const failed = await client.connection.sendRequest('eider/nothing').then(
    () => null,
    (error: unknown) => (error as { code: number }).code,
  )
  assert.is(failed, -32601)
  const ended = once(client.process, 'exit')
  stdin!.end()
  assert.equal((await ended)[0], 1)
})

test.run()
