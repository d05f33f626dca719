// The explorer finds in a text how many rows a check found, whichever way a run has put it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type FoundRows,
  foundRowsText,
  rowsFoundIn,
  wrongCountText,
} from '../../src/core/report/check-result.ts'

const found = {
  place: 'models/core/orders.sql:5:4',
  condition: 'amount > 0',
  rows: 1750,
  isQuery: false,
  model: null,
  percent: null,
  shown: ["{'amount': -1}"],
}
const check = { severity: 'fail', text: found.condition } as const

test('what is written of found rows is read again', () => {
  const forms: readonly [Partial<FoundRows>, string][] = [
    [{}, "amount > 0 does not hold for 1,750 rows: {'amount': -1}; and more"],
    [{ isQuery: true, rows: 1 }, "amount > 0 finds 1 row: {'amount': -1}"],
    [
      { model: 'core.others', percent: 12.345 },
      "amount > 0 does not hold for 1,750 rows of core.others (12.3%): {'amount': -1}; and more",
    ],
  ]
  for (const [form, expected] of forms) {
    const text = foundRowsText({ ...found, ...form })
    assert.is(text, `${found.place}: ${expected}`)
    assert.is(rowsFoundIn(text, check), form.rows === undefined ? '1,750' : String(form.rows))
  }
})

test('what is written of a wrong number of rows is read again', () => {
  const counted = { ...found, condition: 'row_count(> 100)', rows: 4 }
  const one = { severity: 'warn', text: 'core.others: row_count(> 100)' } as const
  for (const isPart of [false, true]) {
    const text = wrongCountText(counted, { table: 'core.others', isPart })
    assert.is(
      text,
      `${found.place}: row_count(> 100) does not hold: core.others has 4 ${isPart ? 'such rows' : 'rows'}`,
    )
    assert.is(rowsFoundIn(text, one), '4')
    assert.is(rowsFoundIn(text, check), null)
  }
})

test.run()
