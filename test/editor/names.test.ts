// Hover, definition, references, rename, outline and lens: by an LSP client, on the example and on small projects.

import { cp, mkdir, readFile, rename as moveFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type {
  CodeLens,
  DocumentSymbol,
  Hover,
  Location,
  MarkupContent,
  Range,
  RenameFile,
  TextDocumentEdit,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver-protocol'
import { LanguageClient } from '../support/language-client.ts'
import { repository, workspace } from '../support/workspace.ts'

async function example() {
  const space = await workspace()
  await cp(join(repository, 'example-project'), space.dir, { recursive: true })
  const client = await LanguageClient.start(space.dir)
  const open = async (path: string) =>
    await client.open(path, await readFile(space.path(path), 'utf8'))
  return { space, client, open }
}

const offsetOf = (text: string, { line, character }: Range['start']) =>
  text
    .split('\n')
    .slice(0, line)
    .reduce((sum, { length }) => sum + length + 1, 0) + character

/** Each place as `path: text`. */
async function shown(dir: string, places: readonly Location[]): Promise<readonly string[]> {
  return await Promise.all(
    places.map(async ({ uri, range }) => {
      const file = fileURLToPath(uri)
      const text = await readFile(file, 'utf8')
      const part = text.slice(offsetOf(text, range.start), offsetOf(text, range.end))
      return `${file.slice(dir.length + 1)}: ${part}`
    }),
  )
}

async function carryOut({ documentChanges = [] }: WorkspaceEdit): Promise<void> {
  for (const change of documentChanges as (TextDocumentEdit | RenameFile)[]) {
    if ('kind' in change) {
      const [from, to] = [fileURLToPath(change.oldUri), fileURLToPath(change.newUri)]
      await mkdir(dirname(to), { recursive: true })
      await moveFile(from, to)
      continue
    }
    const file = fileURLToPath(change.textDocument.uri)
    let text = await readFile(file, 'utf8')
    const last = (a: TextEdit, b: TextEdit) =>
      offsetOf(text, b.range.start) - offsetOf(text, a.range.start)
    for (const { range, newText } of (change.edits as TextEdit[]).toSorted(last))
      text =
        text.slice(0, offsetOf(text, range.start)) + newText + text.slice(offsetOf(text, range.end))
    await writeFile(file, text)
  }
}

test('hover, definition, references, outline and lens on the example', async () => {
  const { space, client, open } = await example()
  await using _space = space
  await using _client = client
  const path = 'models/mart/daily_revenue.sql'
  await open(path)
  const hover = async (at: string) =>
    ((await client.ask<Hover>('hover', path, at)).contents as MarkupContent).value
  assert.match(await hover('core.|orders'), /^\*\*core\.orders\*\* · merge\n/)
  assert.match(await hover('core.|orders'), 'read by mart.category_revenue, mart.daily_revenue')
  assert.match(await hover('-- @ex|pose'), /^`@expose key`\n\n\S/)
  await open('eider.yml')
  const setting = await client.ask<Hover>('hover', 'eider.yml', 'na|me')
  assert.match((setting.contents as MarkupContent).value, 'Name of the project')

  const definition = await client.ask<Location>('definition', path, 'core.|orders')
  assert.is(definition.uri, client.uri('models/core/orders.sql'))
  const symbols = await client.ask<DocumentSymbol[]>('documentSymbol', path, '')
  assert.is(symbols[0]!.name, 'mart.daily_revenue')
  assert.ok(symbols[0]!.children!.some(({ name }) => name === 'revenue'))
  const lenses = await client.ask<CodeLens[]>('codeLens', path, '')
  assert.equal(
    lenses.map(({ command }) => command!.title),
    ['table · read by 0', 'served as mart_daily_revenue'],
  )
  assert.equal(lenses[1]!.command!.arguments, ['http://127.0.0.1:8090/odata/mart_daily_revenue'])
})

const files = {
  'eider.yml': 'name: t\nschedule:\n  runs:\n    - { every: 1 hour, select: core.orders+ }\n',
  'models/raw/o.sql': '-- @kind: events\nid BIGINT NOT NULL,\namount DECIMAL(10, 2)\n',
  'models/core/orders.sql':
    '-- @unique_key: id\n-- @kind: merge\n-- @expose: id\n-- @check: amount >= 0\n-- @column amount: in euros\nSELECT id, o.amount\nFROM raw.o\n',
  'models/mart/a.sql':
    '-- @check: references(id, core.orders.id)\nSELECT id, amount * 2 AS twice, orders.amount\nFROM core.orders\nWHERE amount > 0\nORDER BY amount\n',
  'models/mart/b.sql':
    '-- @depends_on: core.orders\nWITH best AS (SELECT * FROM core.orders), few AS (SELECT amount FROM best)\nSELECT max(amount) AS most FROM few\n',
  'models/mart/star.sql': 'SELECT * FROM mart.b\n',
  'checks/none.sql':
    '-- @description: none\nSELECT o.amount FROM core.orders o WHERE o.amount < 0\n',
  'tests/mart/a/one/given/core.orders.csv': 'id,amount\n1,2.00\n',
  'tests/mart/a/one/expect.csv': 'id,twice,amount\n1,4.00,2.00\n',
}

test('a column is found where it is named, and renamed there', async () => {
  await using space = await workspace(files)
  await using client = await LanguageClient.start(space.dir)
  const path = 'models/mart/a.sql'
  await client.open(path, files[path])
  const places = await client.ask<Location[]>('references', path, 'WHERE am|ount', {
    context: { includeDeclaration: true },
  })
  assert.equal((await shown(space.dir, places)).toSorted(), [
    'checks/none.sql: amount',
    'checks/none.sql: amount',
    'models/core/orders.sql: amount',
    'models/core/orders.sql: amount',
    'models/core/orders.sql: amount',
    'models/mart/a.sql: amount',
    'models/mart/a.sql: amount',
    'models/mart/a.sql: amount',
    'models/mart/b.sql: amount',
  ])
  const target = await client.ask<{ placeholder: string }>('prepareRename', path, 'WHERE am|ount')
  assert.is(target.placeholder, 'amount')
  await carryOut(await client.ask('rename', path, 'WHERE am|ount', { newName: 'order' }))
  const read = async (file: keyof typeof files) => await readFile(space.path(file), 'utf8')
  // A word of SQL is written in quotes.
  assert.is(
    await read(path),
    '-- @check: references(id, core.orders.id)\nSELECT id, "order" * 2 AS twice, orders."order" AS amount\nFROM core.orders\nWHERE "order" > 0\nORDER BY amount\n',
  )
  assert.match(
    await read('models/core/orders.sql'),
    '-- @check: "order" >= 0\n-- @column "order": in',
  )
  assert.match(await read('models/core/orders.sql'), 'SELECT id, o.amount AS "order"\n')
  assert.match(await read('models/mart/b.sql'), 'SELECT "order" AS amount FROM best')
  assert.match(await read('tests/mart/a/one/given/core.orders.csv'), 'id,order\n')
  const { stdout } = await space.ok(['check'])
  assert.match(stdout, 'ok: 5 models, 0 errors')
  await space.ok(['test'])
})

test('a renamed column is renamed in all annotations that name it', async () => {
  const annotated = {
    'eider.yml': 'name: shop\n',
    'models/raw/o.sql':
      '-- @kind: events\nid BIGINT, place VARCHAR, day DATE, month DATE, n BIGINT\n',
    'models/core/sales.sql': `-- @kind: period
-- @period: day of day
-- @keep: 90 days of day
-- @expose: id
-- @tags: day, place, n
-- @time: day
-- @dimension: place
-- @rollup: month
-- @measure many: sum(n) where place <> 'place'
-- @label place: place
-- @unit n: day
-- @text id: place
-- @check: accepted(place, 'place', 'day') where day IS NOT NULL
SELECT id, place, day, month, n FROM raw.o
`,
    'models/core/tree.sql':
      '-- @kind: merge\n-- @unique_key: id\n-- @expose: id\n-- @hierarchy up: id parent n\nSELECT id, n FROM raw.o\n',
  }
  await using space = await workspace(annotated)
  await using client = await LanguageClient.start(space.dir)
  const read = (file: keyof typeof annotated) => readFile(space.path(file), 'utf8')
  const rename = async (path: keyof typeof annotated, at: string, newName: string) => {
    await client.open(path, await read(path))
    await carryOut(await client.ask('rename', path, at, { newName }))
    await client.change(path, await read(path))
  }
  const sales = 'models/core/sales.sql'
  const by = '-- @rollup: month, place\n'
  await client.open(sales, by + annotated[sales])
  const refused = await client
    .ask('rename', sales, '@dimension: pl|ace', { newName: 'town' })
    .catch(({ message }: Error) => message)
  assert.match(String(refused), 'core.sales_by_month_place would have another name')
  await rename(sales, '@dimension: pl|ace', 'town')
  await rename(sales, '@time: d|ay', 'sold')
  await rename('models/core/tree.sql', 'parent |n', 'above')
  assert.is(
    await read(sales),
    `-- @kind: period
-- @period: day of sold
-- @keep: 90 days of sold
-- @expose: id
-- @tags: day, place, n
-- @time: sold
-- @dimension: town
-- @rollup: month
-- @measure many: sum(n) where town <> 'place'
-- @label town: place
-- @unit n: day
-- @text id: town
-- @check: accepted(town, 'place', 'day') where sold IS NOT NULL
SELECT id, place AS town, day AS sold, month, n FROM raw.o
`,
  )
  assert.match(
    await read('models/core/tree.sql'),
    '-- @hierarchy up: id parent above\nSELECT id, n AS above',
  )
  assert.match((await space.ok(['check'])).stdout, '0 errors')
})

test('a model is renamed with its file, its readers and the rows of tests', async () => {
  await using space = await workspace(files)
  await using client = await LanguageClient.start(space.dir)
  const path = 'models/mart/a.sql'
  await client.open(path, files[path])
  await carryOut(await client.ask('rename', path, 'FROM core.|orders', { newName: 'core.sales' }))
  const text = await readFile(space.path(path), 'utf8')
  assert.match(
    text,
    'references(id, core.sales.id)\nSELECT id, amount * 2 AS twice, sales.amount\nFROM core.sales\n',
  )
  assert.match(await readFile(space.path('eider.yml'), 'utf8'), 'select: core.sales+')
  await space.ok(['test'])
})

test('what a rename would break, it refuses', async () => {
  await using space = await workspace({
    ...files,
    'models/core/promised.sql':
      '-- @expose: o\n-- @contract key(o)\n-- @contract o BIGINT\nSELECT id AS o FROM core.orders\n',
  })
  await using client = await LanguageClient.start(space.dir)
  const refusal = async (
    path: keyof typeof files | 'models/core/promised.sql',
    at: string,
    newName: string,
  ) => {
    await client.open(path, await readFile(space.path(path), 'utf8'))
    return await client.ask('rename', path, at, { newName }).then(
      () => 'renamed',
      (error: unknown) => (error as Error).message,
    )
  }
  const b = 'models/mart/b.sql'
  assert.match(await refusal('models/core/orders.sql', 'raw.|o', 'raw.p'), 'raw.o takes events')
  assert.match(await refusal('models/core/orders.sql', 'o.am|ount', 'a'), 'raw.o takes events')
  assert.match(
    await refusal('models/core/orders.sql', '@unique_key: i|d', 'amount'),
    'has a column amount',
  )
  assert.match(await refusal(b, 'AS mo|st', 'top'), 'mart.star would have other columns')
  assert.match(
    await refusal('models/mart/a.sql', 'FROM core.|orders', 'system.x'),
    'the schema system is taken',
  )
  assert.match(
    await refusal('models/mart/a.sql', 'FROM core.|orders', 'mart.b'),
    'models/mart/b.sql already defines mart.b',
  )
  assert.match(await refusal('models/core/promised.sql', 'AS |o', 'x'), 'promises')
  assert.match(await refusal(b, 'SEL|ECT', 'x'), 'no name of a model')
})

test.run()
