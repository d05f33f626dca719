// Mistakes of the first hour: each row of rows/*.ts is a mistake that a newcomer makes, and the answer that eider owes.
//
// `EIDER_ROW=a27 node dist/test/run.js first-hour` asks one row.

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
const rows = tables.flatMap((table) => table.rows)
const wanted = process.env['EIDER_ROW']
const asker = new Asker()

for (const row of rows.filter(({ id }) => wanted === undefined || id === wanted))
  test(`${row.id} ${row.mistake}`, async () => {
    const { lines, exitCode } = await asker.answer(row)
    const expected = linesOf(row.answer)
    const found = row.among ? lines.filter((line) => expected.includes(line)) : lines
    if (row.among && found.length < expected.length)
      assert.unreachable(`not among\n${lines.join('\n')}`)
    assert.is(found.join('\n'), expected.join('\n'))
    if (row.exitCode !== undefined) assert.is(exitCode, row.exitCode)
  })

test('each row has an id of its own', () => {
  const ids = rows.map(({ id }) => id)
  assert.equal(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
  )
})

test('at most one row in ten lacks the way out', () => {
  const lacking = rows.filter(({ grade }) => grade === 'B')
  assert.ok(lacking.length * 10 <= rows.length, `${lacking.length} of ${rows.length} rows`)
})

test.after(() => asker[Symbol.asyncDispose]())
test.run()
