// Parts of a row as the engine writes it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { storedValue, writtenRow } from '../../../src/odata/answer/make/stored-rows.ts'

const values: readonly unknown[] = [
  7,
  -1.5e300,
  null,
  true,
  '',
  'a',
  '"',
  '\\',
  '\\"',
  '\\\\',
  ',',
  '}',
  '{"a":1,',
  'é漢🙂\n',
  [],
  [1, 'a]', [2]],
  {},
  { a: '}', b: { c: [',', '"'] } },
]

test('any members in any order are those of the whole row', () => {
  const row = Object.fromEntries(values.map((value, i) => [`p"${i},`, value]))
  const whole = Buffer.from(`,${JSON.stringify(row)}`)
  const names = Object.keys(row)
  const chosenMembers = (all: Buffer, places: readonly number[]) =>
    writtenRow(
      all,
      places.map((at) => ({ name: names[at]!, value: storedValue(at) })),
      false,
    )!
  for (let first = 0; first < names.length; first++)
    for (let second = 0; second < names.length; second++) {
      const places = first === second ? [first] : [first, second]
      const chosen = places.map(
        (at) => `${JSON.stringify(names[at])}:${JSON.stringify(values[at])}`,
      )
      assert.is(chosenMembers(whole, places).toString(), `,{${chosen.join(',')}}`)
    }
  assert.is(chosenMembers(whole, [...names.keys()]).toString(), whole.toString())
})

test.run()
