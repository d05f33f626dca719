// The rows of all tables, and the tests that ask them: in several files, since a file has a time limit and the command
// line is started for many.

import { readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Asker } from './ask.ts'
import { linesOf } from './lines-of.ts'
import type { Mistake } from './mistake.ts'

const directory = new URL('rows/', import.meta.url)
const tables = await Promise.all(
  readdirSync(directory)
    .filter((file) => file.endsWith('.js'))
    .toSorted()
    .map((file) => import(new URL(file, directory).href) as Promise<{ rows: readonly Mistake[] }>),
)

export const rows = tables.flatMap((table) => table.rows)

export const isCompile = ({ ask = 'compile' }: Mistake): boolean => ask === 'compile'

export const isCommand = ({ ask = 'compile' }: Mistake): boolean =>
  ask !== 'compile' && 'eider' in ask

/** Commands that come after others. */
export const hasPast = ({ ask = 'compile' }: Mistake): boolean =>
  ask !== 'compile' && 'eider' in ask && ask.after !== undefined

/** Defines a test for each of these rows; with EIDER_ROW only for that one. */
export function testRows(isMeant: (row: Mistake) => boolean): void {
  const wanted = process.env['EIDER_ROW']
  const asker = new Asker()
  for (const row of rows.filter(({ id }) => wanted === undefined || id === wanted))
    if (isMeant(row)) test(`${row.id} ${row.mistake}`, () => ask(asker, row))
  test.after(() => asker[Symbol.asyncDispose]())
}

async function ask(asker: Asker, row: Mistake): Promise<void> {
  const { lines, exitCode } = await asker.answer(row)
  const expected = linesOf(row.answer)
  const found = row.among ? lines.filter((line) => expected.includes(line)) : lines
  if (row.among && found.length < expected.length)
    assert.unreachable(`not among\n${lines.join('\n')}`)
  assert.is(found.join('\n'), expected.join('\n'))
  if (row.exitCode !== undefined) assert.is(exitCode, row.exitCode)
}
