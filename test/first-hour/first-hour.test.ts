// Mistakes of the first hour: each row of rows/*.ts is a mistake that a newcomer makes, and the answer that eider owes.
//
// `EIDER_ROW=a27 node dist/test/run.js first-hour` asks one row.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isCompile, rows, testRows } from './all-rows.ts'

testRows(isCompile)

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

test.run()
