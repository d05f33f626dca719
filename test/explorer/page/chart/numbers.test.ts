import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { totalOf } from '../../../../src/explorer/page/chart/chart-data.ts'

test('totals of what the service sends as text are exact', () => {
  assert.is(totalOf(['0.1', '0.20']), '0.30')
  assert.is(totalOf(['9007199254740993', '1']), '9007199254740994')
  assert.is(
    totalOf(['1234567890123456789012345678.01'], ['0.02']),
    '1234567890123456789012345677.99',
  )
  assert.is(totalOf(['5'], ['5.50']), '-0.50')
  assert.is(totalOf([null, '1', undefined]), '1')
  assert.is(totalOf([]), '0')
})

test('doubles are added as doubles', () => {
  assert.is(totalOf([1.5, '2']), '3.5')
  assert.is(totalOf([1e300, 1]), '1e+300')
  assert.is(totalOf(['NaN', '2']), 'NaN')
})

test.run()
