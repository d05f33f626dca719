// The text that changes when other rows are too old.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keepPeriod } from '../../src/core/retention.ts'
import { events } from '../support/handmade-models.ts'

const model = (age: string) => ({
  ...events('raw.e', { id: 'INTEGER', received_at: 'TIMESTAMPTZ' }),
  keep: { column: 'received_at', age },
})
const now = new Date('2026-03-04T05:06:07Z')

test('it is a day, an hour where an age is in hours, and nothing where all rows stay', () => {
  assert.is(keepPeriod([model('90 days')], now), '2026-03-04')
  assert.is(keepPeriod([model('90 days'), model('12 hours')], now), '2026-03-04T05')
  assert.is(keepPeriod([events('raw.e', { id: 'INTEGER' })], now), '')
})

test.run()
