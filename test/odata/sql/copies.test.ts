import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../../src/core/relation.ts'
import type { Expression } from '../../../src/odata/bind/bound.ts'
import { isCastable } from '../../../src/odata/bind/expression/call.ts'
import type { CallName } from '../../../src/odata/bind/expression/functions.ts'
import { collectionOf, decimalType, edm, type EdmType } from '../../../src/odata/edm/types.ts'
import { copiesOf, valueSql } from '../../../src/odata/sql/expression.ts'

const itemOf = (type: EdmType): Expression => ({ kind: 'item', type, alias: 'x' })

const nested = (name: CallName, type: EdmType, ...operands: readonly Expression[]): Expression => ({
  kind: 'call',
  name,
  type,
  operands,
})

const callOf = (name: CallName, type: EdmType, ...operands: readonly EdmType[]): Expression =>
  nested(name, type, ...operands.map(itemOf))

const TEXTS = collectionOf(edm.String)

const calls: readonly (readonly [Expression, readonly number[]])[] = [
  [callOf('contains', edm.Boolean, edm.String, edm.String), [1, 1]],
  [callOf('substringFrom', edm.String, edm.String, edm.Int64), [2, 3]],
  [callOf('substring', edm.String, edm.String, edm.Int64, edm.Int64), [2, 3, 2]],
  [callOf('listContains', edm.Boolean, TEXTS, TEXTS), [2, 3]],
  [callOf('listStartswith', edm.Boolean, TEXTS, TEXTS), [1, 2]],
  [callOf('listEndswith', edm.Boolean, TEXTS, TEXTS), [3, 3]],
  [callOf('hassubset', edm.Boolean, TEXTS, TEXTS), [1, 2]],
  [callOf('hassubsequence', edm.Boolean, TEXTS, TEXTS), [2, 3]],
  [callOf('listSliceFrom', TEXTS, TEXTS, edm.Int64), [3, 3]],
  [callOf('listSlice', TEXTS, TEXTS, edm.Int64, edm.Int64), [3, 6, 1]],
  [callOf('exactAdd', decimalType(20, 2), decimalType(18, 2), decimalType(18, 2)), [1, 1]],
  [callOf('timeAdd', edm.DateTimeOffset, edm.DateTimeOffset, edm.Duration), [1, 1]],
  [callOf('checkedWholeDiv', edm.Int64, edm.Int64, edm.Int64), [1, 1]],
  [callOf('checkedWholeMod', edm.Int64, edm.Int64, edm.Int64), [1, 1]],
  [callOf('durationDiv', edm.Duration, edm.Duration, edm.Double), [1, 2]],
  [callOf('cast', edm.Int32, edm.Int64), [1]],
  [callOf('cast', { ...edm.Byte, engine: columnType('SMALLINT') }, edm.Int64), [1]],
  [callOf('cast', edm.Duration, edm.String), [1]],
]

for (const [call, copies] of calls)
  if (call.kind === 'call')
    test(`${call.name} of ${call.operands.length} writes each operand as often as it is counted`, () =>
      assert.equal(copiesOf(call), copies))

const { Date: DATE, DateTimeOffset: TIME, Duration: DURATION } = edm

/** Each step has the type that it starts from. */
const steps: Readonly<Record<string, readonly [EdmType, (value: Expression) => Expression]>> = {
  'add to a time': [TIME, (time) => nested('timeAdd', TIME, time, itemOf(DURATION))],
  'sub from a time': [TIME, (time) => nested('timeSub', TIME, time, itemOf(DURATION))],
  'add to a date': [DATE, (day) => nested('dateAdd', DATE, day, itemOf(DURATION))],
  'sub from a date': [DATE, (day) => nested('dateSub', DATE, day, itemOf(DURATION))],
  'date() and cast': [
    TIME,
    (time) => {
      const later = nested('timeAdd', TIME, time, itemOf(DURATION))
      return nested(
        'cast',
        TIME,
        nested('dateAdd', DATE, nested('date', DATE, later), itemOf(DURATION)),
      )
    },
  ],
}

for (const [name, [type, step]] of Object.entries(steps))
  test(`the SQL of a chain grows as the chain does: ${name}`, () => {
    const lengthOf = (count: number) => {
      let value = itemOf(type)
      for (let i = 0; i < count; i += 1) value = step(value)
      return valueSql(value).inline().length
    }
    assert.ok(lengthOf(7) <= 7 * lengthOf(1), `${lengthOf(7)} against ${lengthOf(1)}`)
  })

test('comparisons of floating point write a side twice, to ask for NaN', () => {
  const compared = (operator: 'eq' | 'gt' | 'lt', type: EdmType) =>
    copiesOf({ kind: 'compare', operator, left: itemOf(type), right: itemOf(type) })
  assert.equal(compared('eq', edm.Double), [2, 1])
  assert.equal(compared('gt', edm.Single), [2, 1])
  assert.equal(compared('lt', edm.Double), [1, 2])
  assert.equal(compared('lt', edm.Int32), [])
})

test('every cast that is bound has SQL', () => {
  const types = Object.values(edm).filter(({ name }) => name !== 'Edm.SByte')
  const all: readonly EdmType[] = [...types, decimalType(38, 10), ...types.map(collectionOf)]
  const pairs = all.flatMap((from) => all.map((to) => [from, to] as const))
  const castable = pairs.filter(([from, to]) => isCastable(from, to))
  assert.ok(castable.length > 100 && castable.length < pairs.length)
  for (const [from, to] of castable)
    assert.ok(
      valueSql(callOf('cast', to, from))
        .inline()
        .includes('"x"."item"'),
    )
})

test.run()
