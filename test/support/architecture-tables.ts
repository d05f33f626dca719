// The tables of ARCHITECTURE.md, as tests read them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { repository } from './workspace.ts'

export const architecture = readFileSync(join(repository, 'ARCHITECTURE.md'), 'utf8')

export interface Shortcut {
  /** Its directory, or its only file, below `src`. */
  readonly name: string
  readonly entry: string
  readonly importer: string
  /** The only line of the importer that uses it, without its indentation. */
  readonly line: string
}

export const shortcuts: readonly Shortcut[] = rowsAfter(
  'shortcut',
  architecture,
  'entered by',
  'imported by',
  'the line that takes it out',
).map((cells) => {
  const [name, entry, importer, line] = cells.map((cell) => cell.slice(1, -1))
  return { name: name!, entry: `src/${entry}.ts`, importer: `src/${importer}.ts`, line: line! }
})

/** The text of the importer without the line. Throws unless it has the line once. */
export function withoutLine({ importer, line }: Shortcut, text: string): string {
  const lines = text.split('\n')
  const others = lines.filter((one) => one.trim() !== line)
  const count = lines.length - others.length
  if (count !== 1) throw new Error(`${importer} has ${count} times: ${line}`)
  return others.join('\n')
}

/** The first cell of each row of the table whose first heading is `key`, and the cells of `columns`. */
export function rowsAfter(
  key: string,
  markdown: string,
  ...columns: readonly string[]
): readonly (readonly string[])[] {
  const rows = markdown.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const head = rows.findIndex(
    (cells) => cells[1] === key && columns.every((column) => cells.includes(column)),
  )
  assert.ok(head >= 0, `ARCHITECTURE.md has no table with "${key}" and "${columns.join()}"`)
  const at = [1, ...columns.map((column) => rows[head]!.indexOf(column))]
  const end = rows.findIndex((cells, i) => i > head && cells.length === 1)
  return rows.slice(head + 2, end).map((cells) => at.map((i) => cells[i]!))
}
