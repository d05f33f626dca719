// Answers as workbooks of Excel: types of cells, hostile texts, what has no room, and what readers of others make of them.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { extensionCache, withExtensions } from '../../support/extension-cache.ts'
import { serve } from '../../support/odata-service.ts'
import { pythonTests, runPython } from '../../support/python.ts'
import { type Cell, sheetOf } from '../../support/sheet.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { shop } from '../../support/related-tables.ts'

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

const types: Table = {
  model: 'shop.types',
  key: ['id'],
  rows: sql`SELECT * FROM (VALUES
    (1, 123456789012345, 12.50::DECIMAL(18,2), 0.1::DOUBLE, true, DATE '2024-02-29', TIME '06:00:00',
      TIMESTAMP '2024-02-29 12:00:00', 'b0a1c2d3-0000-4000-8000-000000000001'::UUID, '\\x01\\xFF'::BLOB, [1, 2], INTERVAL 1 DAY),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, [], NULL),
    (3, 1234567890123456789, 1234567890123456.78, 'nan', false, DATE '1900-02-28', TIME '23:59:59.5',
      TIMESTAMP '1800-01-01 00:00:00', NULL, NULL, [], NULL),
    (4, -1000000000000000, -0.05, '-inf', NULL, DATE '1900-03-01', NULL, TIMESTAMP '9999-12-31 23:59:59.999999', NULL, NULL, [], NULL)
  ) AS v(id, big, price, ratio, flag, day, clock, moment, guid, bytes, list, span)`,
}

const hostile = [
  '=1+1',
  "=cmd|' /C calc'!A0",
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '</t></is></c><c><f>1+1</f></c>',
  '<![CDATA[x]]> &lt; "q"',
  ' a  b ',
  'two\nlines',
  'CR\rLF\r\n',
  '',
  '00123',
  'é 😀',
]

const texts: Table = {
  model: 'shop.texts',
  key: ['id'],
  rows: sql`SELECT i::INTEGER AS id, list_extract([${sql.join(hostile.map((text) => sql.value(text)))}], i) AS text
    FROM range(1, ${sql.value(hostile.length + 1)}) AS r(i)`,
}

const inColumn = (cells: readonly Cell[], column: string) =>
  cells.filter(({ place }) => place.startsWith(column) && place !== `${column}1`)

test('cells have types: numbers, booleans, dates, times; the digits that Excel has no room for are text', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [types])
  const answer = await served.get('shop_types?$format=xlsx')
  assert.is(answer.status, 200)
  assert.is(answer.headers['content-type'], TYPE)
  assert.match(answer.headers['content-disposition']!, /''shop_types%2C%20\d{4}-\d\d-\d\d\.xlsx$/)
  const { cells, numberFormat, xml } = sheetOf(answer.bytes)
  const shown = (column: string) =>
    inColumn(cells, column).map(({ place, type = 'n', format, text }) =>
      [place, type, type === 'n' ? numberFormat(format) : '', text].join(' ').replaceAll('  ', ' '),
    )
  assert.equal(shown('A'), ['A2 n 1 1', 'A3 n 1 2', 'A4 n 1 3', 'A5 n 1 4'])
  assert.equal(shown('B'), [
    'B2 n 1 123456789012345',
    'B4 inlineStr 1234567890123456789',
    'B5 n 1 -1000000000000000',
  ])
  assert.equal(shown('C'), [
    'C2 n 0.00 12.50',
    'C4 inlineStr 1234567890123456.78',
    'C5 n 0.00 -0.05',
  ])
  assert.equal(shown('D'), ['D2 n 0 0.1', 'D4 inlineStr NaN', 'D5 inlineStr -INF'])
  assert.equal(shown('E'), ['E2 b 1', 'E4 b 0'])
  assert.equal(shown('F'), [
    'F2 n yyyy-mm-dd 45351',
    'F4 inlineStr 1900-02-28',
    'F5 n yyyy-mm-dd 61',
  ])
  assert.equal(shown('G'), ['G2 n 21 0.25', 'G4 n 21 0.999994212962963'])
  assert.equal(shown('H'), [
    'H2 n yyyy-mm-dd hh:mm:ss 45351.5',
    'H4 inlineStr 1800-01-01 00:00:00',
    'H5 inlineStr 9999-12-31 23:59:59.999999',
  ])
  assert.equal(shown('I'), ['I2 inlineStr b0a1c2d3-0000-4000-8000-000000000001'])
  assert.equal(shown('J'), ['J2 inlineStr Af8'])
  assert.is(shown('K')[0], 'K2 inlineStr [1,2]')
  assert.equal(shown('L'), ['L2 inlineStr PT86400S'])
  assert.match(xml, /<pane ySplit="1"/)
})

test('a text is a text, whatever it looks like', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [texts])
  const { cells, xml } = sheetOf((await served.get('shop_texts', { accept: TYPE })).bytes)
  assert.equal(
    inColumn(cells, 'B').map(({ text }) => text),
    hostile,
  )
  assert.ok(inColumn(cells, 'B').every(({ type }) => type === 'inlineStr'))
  assert.not.match(xml, /<f[ >]/)
  // The format that keeps them texts when somebody edits the cell.
  const kept = inColumn(cells, 'B').filter(({ format }) => format > 0)
  assert.equal(
    kept.map(({ text }) => text),
    hostile.slice(0, 6),
  )
})

test('what XML or a cell has no room for is written in a way that Excel reads', async () => {
  await using resources = new Resources()
  const odd: Table = {
    model: 'shop.odd',
    key: ['id'],
    rows: sql`SELECT * FROM (VALUES (1, 'a' || chr(1) || chr(0) || 'b' || chr(65535)), (2, '_x0041_x0042_ _x'),
      (3, repeat('é', 32767)), (4, repeat('é', 32768)), (5, repeat('😀', 16384))) AS v(id, text)`,
  }
  const served = await serve(resources, [odd])
  const { cells } = sheetOf((await served.get('shop_odd?$format=xlsx')).bytes)
  const [controls, coded, whole, cut, wide] = inColumn(cells, 'B').map(({ text }) => text)
  assert.is(controls, 'a\uFFFD\uFFFDb\uFFFD')
  assert.is(coded, '_x005F_x0041_x005F_x0042_ _x005F_x')
  assert.is(whole, 'é'.repeat(32_767))
  assert.is(cut, `${'é'.repeat(16_000)}… (cut: 32768 characters)`)
  assert.is(wide, `${'😀'.repeat(16_000)}… (cut: 16384 characters)`)
})

test('more rows or columns than a sheet has are refused before the first byte', async () => {
  await using resources = new Resources()
  const many: Table = {
    model: 'shop.many',
    key: ['i'],
    rows: sql`SELECT i FROM range(1100000) AS r(i)`,
  }
  const served = await serve(resources, [many, ...shop])
  const refused = await served.get('shop_many?$format=xlsx')
  assert.is(refused.status, 413)
  assert.equal(refused.json.error, {
    code: 'too-large',
    message:
      'a sheet of Excel has room for 1,048,575 rows, and these are 1,100,000; choose fewer with $filter, or ask for CSV or Parquet',
    target: '$format',
  })
  const fits = await served.get('shop_many?$filter=i%20lt%201048575&$format=xlsx')
  assert.is(fits.status, 200)
  assert.is(fits.headers['content-length'], undefined, 'it is streamed')
  assert.is(sheetOf(fits.bytes).cells.at(-1)!.place, 'A1048576')
  assert.is((await served.get('shop_many?$top=1048575&$skip=99999&$format=xlsx')).status, 200)
  assert.is((await served.get('shop_orders?$expand=items&$format=xlsx')).status, 400)
  assert.is((await served.get('shop_orders?$count=true&$format=xlsx')).status, 400)
  assert.is((await served.get('shop_orders(10)?$format=xlsx')).status, 406)
  assert.is((await served.get('shop_orders(99)/items?$format=xlsx')).status, 404)
})

test('a workbook is not compressed once more, and the same request has the same bytes', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [texts])
  const headers = { 'accept-encoding': 'gzip' }
  const first = await served.get('shop_texts?$format=xlsx', headers)
  assert.is(first.headers['content-encoding'], undefined)
  assert.equal(
    (await served.get('shop_texts?$format=XLSX'.replace('XLSX', 'xlsx'))).bytes,
    first.bytes,
  )
  const none = await served.get('shop_texts?$format=xlsx&$filter=id%20lt%200&$select=text')
  assert.equal(
    sheetOf(none.bytes).cells.map(({ place, text }) => `${place} ${text}`),
    ['A1 text'],
  )
  const nested = await served.get('shop_texts?$format=xlsx&$apply=aggregate($count%20as%20n)')
  assert.is(sheetOf(nested.bytes).cells.at(-1)!.text, String(hostile.length))
})

const READ = `
import json, openpyxl, sys
sheet = openpyxl.load_workbook(sys.argv[1]).active
print(json.dumps([[[cell.data_type, str(cell.value)] for cell in row] for row in sheet.iter_rows(min_row=2)]))`

pythonTests(['openpyxl'])('openpyxl reads the same values, and no formula', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [texts, types])
  const read = async (set: string): Promise<readonly (readonly [string, string][])[]> => {
    const path = join(served.dir, `${set}.xlsx`)
    await writeFile(path, (await served.get(`${set}?$format=xlsx`)).bytes)
    return JSON.parse(await runPython(READ, [path]))
  }
  const found = (await read('shop_texts')).map((row) => row[1])
  assert.equal(
    found,
    // An empty text is nothing to openpyxl where the element has no content.
    hostile.map((text) => ['s', text]),
  )
  const [row] = await read('shop_types')
  assert.equal(row!.slice(1, 8), [
    ['n', '123456789012345'],
    ['n', '12.5'],
    ['n', '0.1'],
    ['b', 'True'],
    ['d', '2024-02-29 00:00:00'],
    ['d', '06:00:00'],
    ['d', '2024-02-29 12:00:00'],
  ])
})

withExtensions(test, ['excel'], 'the extension of DuckDB reads rows and types', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [types])
  const path = join(served.dir, 'types.xlsx')
  await writeFile(path, (await served.get('shop_types?$top=2&$format=xlsx')).bytes)
  const extensions = { directory: extensionCache, names: ['excel'] }
  await using database = await Database.open({ path: ':memory:', extensions })
  await using connection = await database.connect()
  const rows = await connection.rows(
    sql`SELECT price, flag, day, moment, typeof(day) AS of FROM read_xlsx(${sql.value(path)})`,
  )
  assert.equal(rows, [
    { price: 12.5, flag: true, day: '2024-02-29', moment: '2024-02-29 12:00:00', of: 'DATE' },
    { price: null, flag: null, day: null, moment: null, of: 'DATE' },
  ])
})

test.run()
