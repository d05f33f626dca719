// Sheets of Excel as sources: what DuckDB would leave out of one, or read as NULL, without a word.

import { writeFile } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { rowsOf } from '../support/run-results.ts'
import { FROM_1904, january, sheetSpace, sheetsSpace } from '../support/sheet-projects.ts'
import { type Rows, workbookBytes } from '../support/workbook-bytes.ts'
import { workspace } from '../support/workspace.ts'

const env = { EIDER_EXTENSIONS: extensionCache }

const title: Rows = [['Sales report 2026'], [], ['region', 'units'], ['North', 3], ['South', 4]]

const refusals: Readonly<Record<string, { rows: Rows; said: RegExp }>> = {
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
  'a year in the header': {
    rows: [
      ['region', 2025, 2026],
      ['North', 10, 20],
    ],
    said: /data\/t\.xlsx, sheet "Q1 & Q2": B1 is no text, so that row 1 would be a row of the table and not its header, and the first column would be called A1.*header = false/s,
  },
  'a month in the header': {
    rows: [
      ['region', { days: 46_023 }, { days: 46_054 }],
      ['North', 10, 20],
    ],
    said: /B1 is a date, so that row 1 would be a row of the table/,
  },
  'a duration of more than a day': {
    rows: [
      ['who', 'worked'],
      ['Ada', { time: 0.5 }],
      ['Bo', { time: 1.25 }],
    ],
    said: /the column "worked" has a duration of 30 hours, .*FROM read_xlsx\('data\/t\.xlsx', all_varchar = true\)/s,
  },
  'such a duration behind the first rows': {
    rows: [
      ['who', 'worked'],
      ...Array.from({ length: 30_000 }, () => ['Ada', { time: 0.5 }] as const),
      ['Bo', { time: -0.25 }],
    ],
    said: /the column "worked" has a duration of -6 hours/,
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

withExtensions(
  test,
  ['excel'],
  'a header is looked for in a range, and where a model says none',
  async () => {
    const years = [
      ['region', 2025],
      ['North', 10],
    ] as const
    await using ranged = await sheetSpace([['Report'], [], ...years], ['range: A3:B100000'])
    const { stderr } = await ranged.ok(['run'], { env, exitCode: 1 })
    assert.match(stderr, /B3 is no text, so that row 3 would be .* called A3\n/)
    await ranged.write('eider.yml', 'name: t\nextensions: [excel]\n')
    await ranged.write(
      'models/core/t.sql',
      "SELECT * FROM read_xlsx('data/t.xlsx', range = 'A3:B4', header = false)\n",
    )
    await ranged.ok(['run'], { env })
    assert.equal(await rowsOf(ranged, env, 'SELECT * FROM core.t ORDER BY B'), [
      { A: 'North', B: 10 },
      { A: 'region', B: 2025 },
    ])
  },
)

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
      /data\/t\.xlsx, sheet "Q1 & Q2": A3 is 'n\/a', which is not a number, as the first cell of the column "id" is; .*TRY_CAST\(… AS DOUBLE\) … FROM read_xlsx\('data\/t\.xlsx', all_varchar = true\)/,
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

withExtensions(
  test,
  ['excel'],
  'dates of a workbook that counts days from 1904 are refused',
  async () => {
    const rows = [
      ['day', 'units'],
      [{ days: 44_561 }, 3],
    ] as const
    await using space = await sheetSpace(rows)
    await space.ok(['run'], { env })
    assert.equal(await rowsOf(space, env, 'FROM core.t'), [{ day: '2021-12-31', units: 3 }])
    await writeFile(space.path('data/t.xlsx'), await workbookBytes(rows, FROM_1904))
    const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
    assert.match(
      stderr,
      /data\/t\.xlsx, sheet "Q1 & Q2": the workbook counts days from 1904, so that the dates of column "day"/,
    )
  },
)

withExtensions(test, ['excel'], 'all workbooks of a pattern are read', async () => {
  await using space = await sheetsSpace({
    jan: [['day', 'units', 'note'], [{ days: 46_023 }, 1, null], [], [{ days: 46_024 }, 2, null]],
    feb: [
      ['note', 'day', 'units'],
      ['late', { days: 46_054 }, 3],
    ],
    mar: [['day', 'units', 'note']],
    // What Excel keeps beside a workbook that is open.
    '~$jan': Buffer.from('\u0005Anna'),
  })
  await space.ok(['run'], { env })
  assert.equal(await rowsOf(space, env, 'FROM core.t ORDER BY units'), [
    { day: '2026-01-01', units: 1, note: null },
    { day: '2026-01-02', units: 2, note: null },
    { day: '2026-02-01', units: 3, note: 'late' },
  ])
  await space.write(
    'data/apr.xlsx',
    await workbookBytes([
      ['day', 'units', 'note'],
      [{ days: 46_113 }, 4, 'x'],
    ]),
  )
  await space.ok(['run'], { env })
  assert.equal(await rowsOf(space, env, 'SELECT count(*)::INTEGER AS n FROM core.t'), [{ n: 4 }])
})

const unlike: Readonly<Record<string, { feb: Rows; said: RegExp }>> = {
  'with a column more': {
    feb: [
      ['day', 'units', 'note'],
      [{ days: 46_054 }, 2, 'late'],
    ],
    said: /data\/jan\.xlsx has no column "note", which data\/feb\.xlsx has/,
  },
  'with text where another one has numbers': {
    feb: [
      ['day', 'units'],
      [{ days: 46_054 }, 'two'],
    ],
    said: /data\/jan\.xlsx: the column "units" has numbers, by the first cell below its name, and text in data\/feb\.xlsx/,
  },
  'without rows at all': {
    feb: [],
    said: /data\/feb\.xlsx: No rows found/,
  },
}

for (const [name, { feb, said }] of Object.entries(unlike))
  withExtensions(test, ['excel'], `a workbook of a pattern ${name} is refused`, async () => {
    await using space = await sheetsSpace({ jan: january, feb })
    assert.match((await space.ok(['run'], { env, exitCode: 1 })).stderr, said)
  })

withExtensions(test, ['excel'], 'each workbook of a pattern is looked at', async () => {
  await using space = await sheetsSpace({ jan: january })
  await space.write('data/mar.xlsx', await workbookBytes(january, FROM_1904))
  const { stderr } = await space.ok(['run'], { env, exitCode: 1 })
  assert.match(stderr, /data\/mar\.xlsx, sheet "Q1 & Q2": the workbook counts days from 1904/)
  const formula: Rows = [
    ...january,
    ...Array.from({ length: 30_000 }, () => [{ days: 46_023 }, 1] as const),
    [null, { formula: 'A2' }],
  ]
  await space.write('data/mar.xlsx', await workbookBytes(formula))
  const late = await space.ok(['run'], { env, exitCode: 1 })
  assert.match(late.stderr, /data\/mar\.xlsx, .*: B30003 has a formula without a value/)
})

withExtensions(test, ['excel'], 'a file whose name looks like a pattern is that file', async () => {
  await using space = await workspace({
    'eider.yml': "name: t\nsources:\n  f:\n    tables:\n      t:\n        file: 'data/t[1].xlsx'\n",
    'models/core/t.sql': 'SELECT * FROM f.t\n',
  })
  await space.write('data/t1.xlsx', await workbookBytes([['id'], [1]]))
  await space.write('data/t[1].xlsx', await workbookBytes([['id'], [2]]))
  await space.ok(['run'], { env })
  assert.equal(await rowsOf(space, env, 'FROM core.t'), [{ id: 2 }])
})

test.run()
