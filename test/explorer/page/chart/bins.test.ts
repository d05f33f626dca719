import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  binExpression,
  binsBetween,
  filledBins,
  stepLiteral,
  markAt,
  stepAbove,
} from '../../../../src/explorer/page/chart/steps.ts'

test('a step is the least of 1, 2 and 5 times a power of ten that is not below', () => {
  const cases: readonly (readonly [number, string])[] = [
    [1, '1'],
    [1.01, '2'],
    [3, '5'],
    [5.000001, '10'],
    [1000, '1000'],
    [0.1, '0.1'],
    [0.03, '0.05'],
    [0.00012, '0.0002'],
    [1e-12, '1e-12'],
    [3e22, '5e22'],
  ]
  for (const [width, literal] of cases) assert.is(stepLiteral(stepAbove(width)), literal)
})

test('marks have the digits of their step, and no others', () => {
  assert.is(markAt(3, { factor: 1, exponent: -1 }), '0.3')
  assert.is(markAt(-7, { factor: 5, exponent: -2 }), '-0.35')
  assert.is(markAt(1234567, { factor: 1, exponent: 0 }), '1 234 567')
  assert.is(markAt(2, { factor: 5, exponent: 20 }), '1e+21')
})

test('bins cover both ends and are not many', () => {
  for (const [least, greatest] of [
    [0, 100],
    [-48.63, 361],
    [1, 1],
    [0, 0],
    [-1e-9, 1e9],
    [1e15, 1e15 + 3],
    [-(2 ** 63), 2 ** 63],
  ] as const)
    for (const isWhole of [true, false]) {
      const bins = binsBetween(least, greatest, { most: 24, isWhole })
      const filled = filledBins(bins, new Map())
      assert.ok(filled.length <= 26, `${least} ${greatest}: ${filled.length}`)
      assert.ok(filled[0]!.from <= least && filled.at(-1)!.to >= greatest)
      if (isWhole) assert.ok(filled[0]!.to - filled[0]!.from >= 1)
    }
})

test('whole numbers of a few values have a bin each', () => {
  const bins = binsBetween(1, 6, { most: 24, isWhole: true })
  assert.is(binExpression('line', bins), 'floor(line divby 1)')
  assert.is(
    filledBins(bins, new Map([[2, 7]]))
      .map(({ value }) => value)
      .join(),
    '0,7,0,0,0,0',
  )
})

test('values beyond the ends that were known widen the bins', () => {
  const bins = binsBetween(0, 9, { most: 10, isWhole: true })
  const filled = filledBins(bins, new Map([[11, 1]]))
  assert.is(filled.length, 12)
  assert.equal(filled.at(-1), { from: 11, to: 12, label: '11 to below 12', value: 1 })
})

test.run()
