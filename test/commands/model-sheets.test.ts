// Workbooks of Excel that models read by themselves, with read_xlsx.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { FROM_1904, january } from '../support/sheet-projects.ts'
import { type Rows, workbookBytes } from '../support/workbook-bytes.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const env = { EIDER_EXTENSIONS: extensionCache }

const long = '12345678901234567'

const regions: Rows = [
  ['region', 'units'],
  ['North', 1],
  [null, 2],
]

/** A model that reads a workbook by itself. */
async function readingSpace(
  call: string,
  books: Readonly<Record<string, Buffer>>,
): Promise<Workspace> {
  const space = await workspace({
    'eider.yml': 'name: t\nextensions: [excel]\n',
    'models/core/t.sql': `SELECT *\nFROM read_xlsx(${call})\n`,
  })
  for (const [name, bytes] of Object.entries(books)) await space.write(`data/${name}.xlsx`, bytes)
  return space
}

const readings: Readonly<
  Record<string, { call: string; books: () => Promise<Record<string, Buffer>>; said: RegExp }>
> = {
  'several files': {
    call: "'data/*.xlsx'",
    books: async () => ({ a: await workbookBytes(january), b: await workbookBytes(january) }),
    said: /t\.sql:2:6 error unreadable-file: read_xlsx reads one workbook, and data\/\*\.xlsx means 2 files\n(?:.*\n)*? +hint: declare it under sources/,
  },
  'a file of a name that is known later': {
    call: "'data/' || 'a.xlsx'",
    books: async () => ({ a: await workbookBytes(january) }),
    said: /error unreadable-file: read_xlsx gets its file, sheet or range from an expression/,
  },
  'a range of another form': {
    call: "'data/a.xlsx', range = 'A:B'",
    books: async () => ({ a: await workbookBytes(january) }),
    said: /the range "A:B" is not like A1:D20/,
  },
  'a workbook that counts from 1904': {
    call: "'data/a.xlsx'",
    books: async () => ({ a: await workbookBytes(january, FROM_1904) }),
    said: /t\.sql:2:6 error unreadable-file: data\/a\.xlsx, sheet "Q1 & Q2": the workbook counts days from 1904/,
  },
  'merged cells': {
    call: "'data/a.xlsx', range = 'A1:B9'",
    books: async () => ({ a: await workbookBytes(regions, { merged: ['A2:A3'] }) }),
    said: /A2:A3 is merged/,
  },
  'a long id': {
    call: "'data/a.xlsx', stop_at_empty := false",
    books: async () => ({ a: await workbookBytes([['id'], [{ digits: long }]]) }),
    said: /the column "id" has 12345678901234567, which would lose digits/,
  },
  'more rows than a compile looks at': {
    call: "'data/a.xlsx'",
    books: async () => ({
      a: await workbookBytes([['id'], ...Array.from({ length: 40_000 }, (_, i) => [i])]),
    }),
    said: /the sheet is longer than what a compile looks at/,
  },
}

for (const [name, { call, books, said }] of Object.entries(readings))
  withExtensions(test, ['excel'], `a model that reads ${name} is refused`, async () => {
    await using space = await readingSpace(call, await books())
    const { stderr, stdout } = await space.ok(['check'], { env, exitCode: 1 })
    assert.match(stdout + stderr, said)
  })

withExtensions(test, ['excel'], 'a model that reads down to a blank row is warned', async () => {
  const gap: Rows = [['id'], [1], [], [2]]
  await using space = await readingSpace("'data/a.xlsx'", { a: await workbookBytes(gap) })
  const { stdout, stderr } = await space.ok(['check'], { env })
  assert.match(
    stdout + stderr,
    /t\.sql:2:6 warning blank-rows: .*row 3 is blank, and the rows below are left out\n(?:.*\n)*? +hint: write stop_at_empty = false, or, if the table ends above, range = 'A1:A2'/,
  )
  await space.write(
    'models/core/t.sql',
    "SELECT * FROM read_xlsx('data/a.xlsx', stop_at_empty = false)\n",
  )
  const all = await space.ok(['check'], { env })
  assert.not.match(all.stdout + all.stderr, /left out/)
})

test.run()
