// Names of events that are no columns: some of them are remembered, and nothing but time depends on which.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MisspeltFields } from '../../../src/collect/validate/misspelt.ts'
import {
  createValidator,
  validateEvent,
  type Validator,
} from '../../../src/collect/validate/validate-event.ts'
import { limits } from '../../../src/core/limits.ts'
import type { RequestError } from '../../../src/http/request-error.ts'
import { eventsModel } from '../../support/handmade-models.ts'

const COLUMNS = ['id BIGINT', 'customer_id VARCHAR NOT NULL']
const MANY = 2 * limits.otherFieldNames
const names = Array.from({ length: MANY }, (_, i) => `name ${i}`)
const members = (all: readonly string[]) => all.map((name) => `,${JSON.stringify(name)}:1`).join('')
const event = (others: string) => `{"customer_id":"c"${others}}`

function read(validator: Validator, text: string) {
  const body = Buffer.from(text)
  const misspelt = new MisspeltFields()
  try {
    const { stored } = validateEvent(validator, body, 0, body.length, 1e6, misspelt)
    const targets = misspelt.warnings('raw.t').map(({ target }) => target)
    return { stored: Buffer.from(stored).toString(), targets }
  } catch (error) {
    const { code, message, target } = error as RequestError
    return { code, message, target }
  }
}

const fresh = () => createValidator(eventsModel('raw.t', ...COLUMNS))

test('a name that comes twice is refused, whether it is remembered or not, and however it is written', () => {
  const validator = fresh()
  for (let round = 0; round < 3; round++)
    for (const at of [0, 3, limits.otherFieldNames - 1, limits.otherFieldNames, MANY - 1])
      for (const again of [`,"name ${at}":2`, `,"name ${at}" :2`, `,"nam\\u0065 ${at}":2`])
        assert.is(read(validator, event(members(names) + again)).code, 'duplicate-field')
})

test('what an event is answered does not depend on the events before it', () => {
  const validator = fresh()
  const texts = [
    event(''),
    event(members(names)),
    event(members(names.toReversed())),
    event(members(['custmer_id', 'idd'])),
    event(members(['idd', ...names, 'ide'])),
    `{"custmer_id":"c","idd":1}`,
    `{"idd":1,"custmer_id":"c","custome_id":2}`,
    event(members(names.slice(5, 9).toReversed())),
    event(members(['', '__proto__', 'constructor', 'a"b', 'x'.repeat(100)])),
    `{"unknown":{"name 1":1,"name 1":2},"customer_id":"c"}`,
  ]
  for (let round = 0; round < 3; round++)
    for (const text of texts) assert.equal(read(validator, text), read(fresh(), text), text)
})

test('names of an object that comes twice are found, few or many, of one length and mark or not', () => {
  const validator = createValidator(eventsModel('raw.t', 'a JSON'))
  for (const count of [2, 15, 16, 17, 63, 64, 65, 200])
    for (const nameOf of [
      (i: number) => `n${i}`,
      (i: number) => `x${'ab'[i % 2]}${i}x`,
      (i: number) => `k${String(i).padStart(4, '0')}k`,
    ]) {
      const all = Array.from({ length: count }, (_, i) => nameOf(i))
      const object = (list: readonly string[]) => `{"a":{${members(list).slice(1)}}}`
      assert.is(read(validator, object(all)).code, undefined, `${count}`)
      for (const at of [0, count >> 1, count - 1])
        assert.is(
          read(validator, object([...all, all[at]!])).code,
          'duplicate-field',
          `${count} ${at}`,
        )
    }
})

test.run()
