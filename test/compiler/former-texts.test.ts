// The rule of a SELECT under the names that its columns had before.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { formerTexts } from '../../src/compiler/former-texts.ts'

const column = (name: string, alias: string) =>
  `{"class":"COLUMN_REF","alias":"${alias}","column_names":["t","${name}"]}`

test('a column under its own name may have had no alias', () => {
  const renames = [{ from: 'total', to: 'total_eur' }]
  assert.equal(formerTexts(`[${column('total', 'total_eur')}]`, renames), [
    `[${column('total', 'total')}]`,
    `[${column('total', '')}]`,
  ])
})

test('another column never stood there without one', () => {
  const renames = [{ from: 'total', to: 'total_eur' }]
  assert.equal(formerTexts(`[${column('net', 'total_eur')}]`, renames), [
    `[${column('net', 'total')}]`,
  ])
})

test.run()
