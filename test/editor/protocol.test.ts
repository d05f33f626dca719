// What the protocol asks of a server whatever it answers: that it ends with its editor, leaves what is given up, formats,
// and keeps up with a large text.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  CancellationTokenSource,
  LSPErrorCodes,
  type Hover,
  type ResponseError,
  type TextEdit,
} from 'vscode-languageserver-protocol/node'
import { formatHeader } from '../../src/editor/format-header.ts'
import { LanguageClient } from '../support/language-client.ts'
import { workspace } from '../support/workspace.ts'

const path = 'models/core/numbers.sql'
const files = { 'eider.yml': 'name: shop\n', [path]: 'SELECT 1 AS one\n' }

test('the server ends when the process of its editor is gone, though its input is still open', async () => {
  await using space = await workspace(files)
  const editor = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  await using client = await LanguageClient.startFor(editor.pid!, space.dir)
  assert.is(client.process.exitCode, null)
  const ended = once(client.process, 'exit')
  editor.kill('SIGKILL')
  const [exitCode] = (await ended) as [number | null]
  assert.is(exitCode, 1)
})

test('a request that is given up is answered so, and the next one as ever', async () => {
  await using space = await workspace(files)
  await using client = await LanguageClient.start(space.dir)
  await client.open(path, 'SELECT 1 AS one, 2 AS two\n')
  const textDocument = { uri: client.uri(path) }
  const ask = async (method: string, params: object) => {
    const giving = new CancellationTokenSource()
    const answer = client.connection.sendRequest<unknown>(
      method,
      { textDocument, ...params },
      giving.token,
    )
    giving.cancel()
    return await answer.then(
      () => null,
      ({ code }: ResponseError) => code,
    )
  }
  const position = { line: 0, character: 12 }
  for (const [method, params] of [
    ['textDocument/codeLens', {}],
    ['textDocument/documentSymbol', {}],
    ['textDocument/definition', { position }],
    ['textDocument/rename', { position, newName: 'first' }],
  ] as const) {
    // Another text, so that there is something to wait for.
    await client.change(path, `SELECT 1 AS one, 2 AS two -- ${method}\n`)
    assert.is(await ask(method, params), LSPErrorCodes.RequestCancelled, method)
  }
  const symbols = await client.connection.sendRequest<unknown[]>('textDocument/documentSymbol', {
    textDocument,
  })
  assert.ok(symbols.length > 0)
  assert.is(await client.stop(), 0)
})

test('the head of an unsaved model is formatted, once', async () => {
  await using space = await workspace(files)
  await using client = await LanguageClient.start(space.dir)
  const format = (of: string) =>
    client.connection.sendRequest<TextEdit[]>('textDocument/formatting', {
      textDocument: { uri: client.uri(of) },
      options: { tabSize: 2, insertSpaces: true },
    })
  const text = '--@owner:me\n--   @KIND  table\n\n\nSELECT  1 AS one\n'
  assert.equal(await format(path), [])
  await client.open(path, text)
  const [edit, ...others] = await format(path)
  assert.is(others.length, 0)
  assert.equal(edit!.range, { start: { line: 0, character: 0 }, end: { line: 5, character: 0 } })
  assert.is(edit!.newText, '-- @kind: table\n-- @owner: me\n\nSELECT  1 AS one\n')
  assert.is(edit!.newText, formatHeader(text))
  await client.change(path, edit!.newText)
  assert.equal(await format(path), [])
  await client.open('eider.yml', 'name:   shop\n')
  assert.equal(await format('eider.yml'), [])
})

test('a model of a megabyte is understood to its last line', async () => {
  await using space = await workspace(files)
  await using client = await LanguageClient.start(space.dir)
  const notes = Array.from({ length: 14_000 }, (_, i) => `  -- note ${i} ${'x'.repeat(64)}\n`)
  const text = (end: string) => `SELECT\n${notes.join('')}  1 AS one,\n  ${end}\n`
  assert.ok(text('').length > 1024 * 1024)
  await client.open(path, text('two FROM core.others'))
  await client.diagnostics(path, '14003:12 unknown-model')
  await client.change(path, text('2 AS two'))
  await client.diagnostics(path)
  const hover = await client.ask<Hover>('hover', path, '2 AS t|wo')
  assert.match(JSON.stringify(hover.contents), 'INTEGER')
})

test.run()
