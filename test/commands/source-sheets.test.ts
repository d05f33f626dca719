// Sheets of Excel as sources: what DuckDB would leave out of one, or read as NULL, without a word.

import { writeFile } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { zip } from '../../src/files/zip.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { rowsOf } from '../support/run-results.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const env = { EIDER_EXTENSIONS: extensionCache }

/** A text, a number, a formula without a value, a date by its number of days, or nothing. */
type Cell = string | number | { readonly formula: string } | { readonly days: number } | null

const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const P = 'http://schemas.openxmlformats.org/package/2006'
const S = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** As openpyxl writes it. */
async function workbook(
  rows: readonly (readonly Cell[])[],
  properties = '<workbookPr/>',
): Promise<Buffer> {
  const cell = (value: Cell, place: string) => {
    if (value === null) return `<c r="${place}" s="0" />`
    if (typeof value === 'number') return `<c r="${place}" t="n"><v>${value}</v></c>`
    if (typeof value === 'string')
      return `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`
    if ('days' in value) return `<c r="${place}" s="1"><v>${value.days}</v></c>`
    return `<c r="${place}"><f>${value.formula}</f><v /></c>`
  }
  const lines = rows.map((cells, i) => {
    const all = cells.map((value, j) => cell(value, `${'ABCDEF'[j]}${i + 1}`))
    return `<row r="${i + 1}">${all.join('')}</row>`
  })
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${P}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${P}/relationships"><Relationship Id="rId1" Type="${R}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${S}" xmlns:r="${R}">${properties}<sheets><sheet name="Q1 &amp; Q2" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${P}/relationships"><Relationship Id="rId1" Type="${R}/worksheet" Target="/xl/worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${R}/styles" Target="/xl/styles.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${S}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${S}"><cols><col min="1" max="1"/></cols><sheetData>${lines.join('')}</sheetData></worksheet>`,
  }
  const content = Object.entries(parts).map(([name, xml]) => ({
    name,
    content: [Buffer.from(xml)],
  }))
  const bytes: Buffer[] = []
  for await (const chunk of zip(content)) bytes.push(chunk)
  return Buffer.concat(bytes)
}

async function sheetSpace(
  rows: readonly (readonly Cell[])[],
  settings: readonly string[] = [],
): Promise<Workspace> {
  const lines = ['file: data/t.xlsx', ...settings].map((line) => `        ${line}\n`)
  const space = await workspace({
    'eider.yml': `name: t\nsources:\n  f:\n    tables:\n      t:\n${lines.join('')}`,
    'models/core/t.sql': 'SELECT * FROM f.t\n',
    'data/README': '',
  })
  await writeFile(space.path('data/t.xlsx'), await workbook(rows))
  return space
}

const title: readonly (readonly Cell[])[] = [
  ['Sales report 2026'],
  [],
  ['region', 'units'],
  ['North', 3],
  ['South', 4],
]

const refusals: Readonly<Record<string, { rows: readonly (readonly Cell[])[]; said: RegExp }>> = {
  'a title above the table': {
    rows: title,
    said: /data\/t\.xlsx, sheet "Q1 & Q2": A1 seems to be a title above the table.*"range: A3:B100000"/s,
  },
  'a column in the middle without a name': {
    rows: [
      ['id', null, 'v'],
      [1, 2, 'a'],
    ],
    said: /B1 has no name for its column, so that C1 and what .*write a name into B1.*"range: A1:A100000"/s,
  },
  'a formula without a value': {
    rows: [
      ['id', 'double'],
      [1, { formula: 'A2*2' }],
    ],
    said: /B2 has a formula without a value, which would be NULL.*open the file in Excel/s,
  },
  'such a formula behind the first rows': {
    rows: [
      ['id', 'double'],
      ...Array.from({ length: 30_000 }, (_, i) => [i, 1] as const),
      [1, { formula: 'A2*2' }],
    ],
    said: /B30002 has a formula without a value/,
  },
}

for (const [name, { rows, said }] of Object.entries(refusals))
  withExtensions(test, ['excel'], `${name} is refused`, async () => {
    await using space = await sheetSpace(rows)
    const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
    assert.match(stderr, said)
  })

withExtensions(test, ['excel'], 'a range leaves a title and formulas out', async () => {
  await using titled = await sheetSpace(title, ['range: A3:B100000'])
  await titled.ok(['run'], { env })
  const rows = [
    { region: 'North', units: 3 },
    { region: 'South', units: 4 },
  ]
  assert.equal(await rowsOf(titled, env, 'FROM core.t'), rows)
  const formula = [
    ['id', 'double'],
    [1, { formula: 'A2*2' }],
  ] as const
  await using narrow = await sheetSpace(formula, ['range: A1:A100000'])
  await narrow.ok(['run'], { env })
  assert.equal(await rowsOf(narrow, env, 'FROM core.t'), [{ id: 1 }])
})

withExtensions(test, ['excel'], 'blank rows are no rows, and not the end', async () => {
  const gap = [['id', 'v'], [1, 'a'], [], [null, null], [2, 'b'], [null, null], []]
  await using space = await sheetSpace(gap)
  const { stderr } = await space.ok(['run'], { env })
  assert.match(
    stderr,
    /warning blank-rows: data\/t\.xlsx, sheet "Q1 & Q2": rows 3 to 4 are blank, and the rows below are read, too\n(?:.*\n){2} +hint: if the table ends above, name its cells: "range: A1:B2"/,
  )
  const rows = [
    { id: 1, v: 'a' },
    { id: 2, v: 'b' },
  ]
  assert.equal(await rowsOf(space, env, 'FROM core.t ORDER BY id'), rows)
  await using above = await sheetSpace(gap, ['range: A1:B2'])
  assert.not.match((await above.ok(['run'], { env })).stderr, /blank-rows/)
  assert.equal(await rowsOf(above, env, 'FROM core.t'), rows.slice(0, 1))
})

withExtensions(
  test,
  ['excel'],
  'a cell of another type is named, with a way to read it',
  async () => {
    await using space = await sheetSpace([['id'], [1], ['n/a']])
    const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
    assert.match(
      stderr,
      /the cell A3 is 'n\/a' and not DOUBLE, .*FROM read_xlsx\(…, all_varchar = true\)/,
    )
    await writeFile(
      space.path('models/core/t.sql'),
      "SELECT TRY_CAST(id AS DOUBLE) AS id FROM read_xlsx('data/t.xlsx', all_varchar = true)\n",
    )
    await space.ok(['run'], { env: { ...env, EXTENSIONS: 'excel' } })
    assert.equal(await rowsOf(space, env, 'FROM core.t ORDER BY id'), [{ id: 1 }, { id: null }])
  },
)

withExtensions(test, ['excel'], 'cells below no header get a warning', async () => {
  const extra = [
    ['id', 'v'],
    [1, 'a'],
    [2, 'b', 'extra'],
  ]
  await using space = await sheetSpace(extra)
  const { stderr } = await space.ok(['run'], { env })
  assert.match(stderr, /warning cells-left-out: data\/t\.xlsx, .*: C3 is left out, and so is its/)
  assert.match(stderr, /hint: write a name into C1, or .*"range: A1:B100000"/)
  await using said = await sheetSpace(extra, ['range: A1:B100000'])
  assert.not.match((await said.ok(['run'], { env })).stderr, /cells-left-out/)
})

test('dates of a workbook that counts days from 1904 are refused', async () => {
  const rows = [
    ['day', 'units'],
    [{ days: 44_561 }, 3],
  ]
  await using space = await sheetSpace(rows)
  await space.ok(['run'], { env })
  assert.equal(await rowsOf(space, env, 'FROM core.t'), [{ day: '2021-12-31', units: 3 }])
  const file = await workbook(rows, '<workbookPr date1904="1" defaultThemeVersion="1"/>')
  await writeFile(space.path('data/t.xlsx'), file)
  const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
  assert.match(
    stderr,
    /data\/t\.xlsx, sheet "Q1 & Q2": the workbook counts days from 1904, so that the dates of column "day"/,
  )
})

test.run()
