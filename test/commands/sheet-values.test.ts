// Values of sheets of Excel that would be others in a table, and files that are no workbooks.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { rowsOf } from '../support/run-results.ts'
import { january, sheetSpace, sheetsSpace } from '../support/sheet-projects.ts'
import { type Rows, workbookBytes } from '../support/workbook-bytes.ts'

const env = { EIDER_EXTENSIONS: extensionCache }

const regions: Rows = [
  ['region', 'units'],
  ['North', 1],
  [null, 2],
  ['South', 3],
]

withExtensions(test, ['excel'], 'merged cells of rows are refused', async () => {
  await using space = await sheetsSpace({ t: regions })
  const merge = async (rows: Rows, ...merged: readonly string[]) =>
    space.write('data/t.xlsx', await workbookBytes(rows, { merged }))
  await merge(regions, 'A2:A3')
  const refused = await space.ok(['run'], { env, exitCode: 1 })
  assert.match(
    refused.stderr,
    /data\/t\.xlsx, sheet "Q1 & Q2": A2:A3 is merged: A2 has the value .*\n(?:.*\n)*? +hint: take it apart .*FROM read_xlsx\('data\/t\.xlsx', all_varchar = true\)/,
  )
  // They are listed behind the rows, of which there are more than a compile looks at.
  const many = [...regions, ...Array.from({ length: 30_000 }, (_, i) => ['West', i] as const)]
  await merge(many, 'A2:A3')
  const late = await space.ok(['run'], { env, exitCode: 1 })
  assert.match(late.stderr, /A2:A3 is merged/)
  await space.write(
    'models/core/t.sql',
    "SELECT A.* FROM read_xlsx('data/t.xlsx', all_varchar = true) A\n",
  )
  await space.ok(['run'], { env: { ...env, EXTENSIONS: 'excel' } })
})

withExtensions(
  test,
  ['excel'],
  'merged cells that hold no value of a row do not matter',
  async () => {
    const harmless: readonly (readonly [Rows, readonly string[], string | null])[] = [
      // A title above the range, a header of two columns, a blank part.
      [[['Report'], [], ...regions], ['A1:B1', 'A2:B2'], 'A3:B100'],
      [[['Report', null], ...regions], ['A1:A1', 'A1:B1'], 'A2:B100'],
      [[...regions, [], [null, null]], ['A6:B7'], null],
      // Beside the range.
      [regions.map((row, i) => [...row, i === 1 ? 'note' : null]), ['C2:D4'], 'A1:B100'],
    ]
    for (const [rows, merged, range] of harmless) {
      await using space = await sheetSpace([], range === null ? [] : [`range: ${range}`])
      await space.write('data/t.xlsx', await workbookBytes(rows, { merged }))
      await space.ok(['run'], { env })
    }
  },
)

const long = '12345678901234567'

const changed: Readonly<Record<string, { rows: Rows; said: RegExp }>> = {
  'an id of 17 digits': {
    rows: [['id'], [{ digits: long }]],
    said: /the column "id" has 12345678901234567, which would lose digits/,
  },
  'such an id as text below numbers': {
    rows: [['id'], [1], [long]],
    said: /the column "id" has 12345678901234567, which would lose digits/,
  },
  'zeros of a text below numbers': {
    rows: [['id'], [1], ['00150']],
    said: /the column "id" has 00150, which would lose zeros/,
  },
  'an id of 17 digits behind the first rows': {
    rows: [['id'], ...Array.from({ length: 30_000 }, (_, i) => [i]), [{ digits: long }]],
    said: /the column "id" has 12345678901234567, which would lose digits/,
  },
}

for (const [name, { rows, said }] of Object.entries(changed))
  withExtensions(test, ['excel'], `${name} is refused`, async () => {
    await using space = await sheetSpace(rows)
    const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
    assert.match(stderr, /data\/t\.xlsx, sheet "Q1 & Q2": /)
    assert.match(stderr, said)
  })

withExtensions(test, ['excel'], 'numbers that keep their digits are read', async () => {
  await using space = await sheetSpace([
    ['a', 'b', 'id'],
    ...[
      '0.30000000000000004',
      '1234567890.1199999',
      '1.2345678901234501E+16',
      '9007199254740992',
    ].map((digits) => [{ digits }, { digits: '123456789012345' }, long] as const),
  ])
  await space.ok(['run'], { env })
  assert.equal(await rowsOf(space, env, 'SELECT DISTINCT b, id FROM core.t'), [
    { b: 123_456_789_012_345, id: long },
  ])
})

withExtensions(
  test,
  ['excel'],
  'a cell of another type is named with its file, in words of people',
  async () => {
    await using space = await sheetsSpace({
      jan: january,
      mar: [...january, ['soon', 2]],
    })
    const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
    assert.match(
      stderr,
      /data\/mar\.xlsx, sheet "Q1 & Q2": A3 is 'soon', which is not a date, as the first cell of the column "day" is/,
    )
  },
)

const blankFirst: Rows = [
  ['id', 'shipped'],
  [1, null],
  [2, { days: 46_023 }],
]

withExtensions(test, ['excel'], 'a date below a first cell that is none is refused', async () => {
  await using space = await sheetSpace(blankFirst)
  const said =
    /data\/t\.xlsx, sheet "Q1 & Q2": B3 is a date, which would be a number of days: the first cell below "shipped", B2, is not a date/
  assert.match((await space.ok(['run'], { env, exitCode: 1 })).stderr, said)
  const filled = [['id', 'shipped'], [0, { days: 46_022 }], ...blankFirst.slice(1)] as const
  await space.write('data/t.xlsx', await workbookBytes(filled))
  await space.ok(['run'], { env })
  assert.equal(await rowsOf(space, env, 'SELECT count(shipped)::INTEGER AS n FROM core.t'), [
    { n: 2 },
  ])
  const many = Array.from({ length: 30_000 }, (_, i) => [i, null] as const)
  const late = [['id', 'shipped'], ...many, [2, { days: 46_023 }]] as const
  await space.write('data/t.xlsx', await workbookBytes(late))
  assert.match((await space.ok(['run'], { env, exitCode: 1 })).stderr, /B30002 is a date/)
})

withExtensions(test, ['excel'], 'numbers below a dash are text, which is warned of', async () => {
  await using space = await sheetSpace([
    ['id', 'n'],
    [1, 4],
    [null, null],
    [2, '5'],
  ])
  const dash: Rows = [['id', 'n'], [1, '-'], [], [2, '-'], [3, 5], [4, 6], [5, 7.5]]
  await space.write('data/t.xlsx', await workbookBytes(dash))
  const { stdout } = await space.ok(['check'], { env })
  assert.match(
    stdout,
    /warning numbers-as-text: data\/t\.xlsx, sheet "Q1 & Q2": the column "n" is text because of "-" in 2 of \d rows, first in B2; all its other values are numbers\n(?:.*\n)*? +hint: clear such cells, or .*SELECT TRY_CAST\("n" AS DOUBLE\) … FROM read_xlsx/,
  )
})

const paid: Rows = [
  ['id', 'paid'],
  [1, { days: 46_022 }],
  [2, null],
  [3, 12.5],
]

withExtensions(test, ['excel'], 'a number in a column of dates is refused', async () => {
  await using space = await sheetSpace(paid)
  const said =
    /data\/t\.xlsx, sheet "Q1 & Q2": B4 is the number 12\.5, which would be a date: the first cell below "paid", B2, is a date\n(?:.*\n)*? +hint: correct it, give it the format of a date .*FROM read_xlsx\('data\/t\.xlsx', all_varchar = true\)/
  assert.match((await space.ok(['run'], { env, exitCode: 1 })).stderr, said)
  const many = Array.from({ length: 30_000 }, (_, i) => [i, { days: 46_022 + (i % 7) }] as const)
  const late = [['id', 'paid'], ...many, [2, 7]] as const
  await space.write('data/t.xlsx', await workbookBytes(late))
  assert.match((await space.ok(['run'], { env, exitCode: 1 })).stderr, /B30002 is the number 7,/)
  await space.write('data/t.xlsx', await workbookBytes(late.slice(0, -1)))
  await space.ok(['run'], { env })
})

withExtensions(test, ['excel'], 'no message shows the value of a variable in a path', async () => {
  await using space = await sheetsSpace({ a: blankFirst })
  const file = "file: '${MONTHS}/*.xlsx'"
  const text = `name: t\nsources:\n  f:\n    tables:\n      t:\n        ${file}\n`
  await space.write('eider.yml', text)
  const given = { ...env, MONTHS: 'data' }
  for (const rows of [blankFirst, regions.with(2, []), [['id'], [{ digits: long }]]] as const) {
    await space.write('data/a.xlsx', await workbookBytes(rows))
    const { stdout, stderr } = await space.eider(['check'], { env: given })
    assert.match(stdout + stderr, /\$\{MONTHS\}\/a\.xlsx, sheet/)
    assert.not.match(stdout + stderr, /data\/a\.xlsx/)
  }
})

const noWorkbooks: Readonly<Record<string, { bytes: Buffer; said: RegExp }>> = {
  'lines of CSV': {
    bytes: Buffer.from('id,v\n1,2\n'),
    said: /data\/b\.xlsx is not an Excel workbook\n/,
  },
  'an old workbook': {
    bytes: Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    said: /data\/b\.xlsx is an old Excel workbook \(\.xls\), or has a password\n/,
  },
}

for (const [name, { bytes, said }] of Object.entries(noWorkbooks))
  withExtensions(test, ['excel'], `${name} under the name of a workbook is said`, async () => {
    await using alone = await sheetsSpace({ b: bytes })
    assert.match((await alone.ok(['run'], { env, exitCode: 1 })).stderr, said)
    await using one = await sheetsSpace({ a: january, b: bytes })
    assert.match((await one.ok(['run'], { env, exitCode: 1 })).stderr, said)
  })

withExtensions(test, ['excel'], 'a wrong sheet is told with those that are there', async () => {
  await using space = await sheetSpace([], ['sheet: May'])
  await space.write('data/t.xlsx', await workbookBytes(january, { sheets: ['Jan', 'Q1 &amp; Q2'] }))
  const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
  assert.match(
    stderr,
    /data\/t\.xlsx has no sheet "May"\n(?:.*\n)*? +hint: its sheets are "Jan", "Q1 & Q2"/,
  )
})

test.run()
