// Projects with a source of Excel workbooks, and a model that reads all of it.

import { writeFile } from 'node:fs/promises'
import { type Rows, workbookBytes } from './workbook-bytes.ts'
import { type Workspace, workspace } from './workspace.ts'

/** Of a workbook that counts days as Excel for the first Macs did. */
export const FROM_1904 = { properties: '<workbookPr date1904="1" defaultThemeVersion="1"/>' }

export const january: Rows = [
  ['day', 'units'],
  [{ days: 46_023 }, 1],
]

/** Its table is data/t.xlsx. */
export async function sheetSpace(rows: Rows, settings: readonly string[] = []): Promise<Workspace> {
  const lines = ['file: data/t.xlsx', ...settings].map((line) => `        ${line}\n`)
  const space = await workspace({
    'eider.yml': `name: t\nsources:\n  f:\n    tables:\n      t:\n${lines.join('')}`,
    'models/core/t.sql': 'SELECT * FROM f.t\n',
    'data/README': '',
  })
  await writeFile(space.path('data/t.xlsx'), await workbookBytes(rows))
  return space
}

/** A project whose table is all workbooks of data/, with the rows of `of`. */
export async function sheetsSpace(of: Readonly<Record<string, Rows | Buffer>>): Promise<Workspace> {
  const space = await workspace({
    'eider.yml': "name: t\nsources:\n  f:\n    tables:\n      t:\n        file: 'data/*.xlsx'\n",
    'models/core/t.sql': 'SELECT * FROM f.t\n',
    'data/README': '',
  })
  for (const [name, rows] of Object.entries(of))
    await space.write(`data/${name}.xlsx`, Buffer.isBuffer(rows) ? rows : await workbookBytes(rows))
  return space
}
