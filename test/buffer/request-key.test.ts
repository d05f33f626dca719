import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addEvents, emptyGroup, finishGroup } from '../../src/buffer/group.ts'
import {
  keysIn,
  keyText,
  parseKeyText,
  readKeys,
  requestKey,
  type StoredKey,
  writeKeys,
} from '../../src/buffer/request-key.ts'
import { TIME, eventBytes } from '../support/open-buffer.ts'

const stored = (name: string, events = 1): StoredKey => ({
  ...requestKey(name, eventBytes(name)),
  events,
  time: TIME,
})

test('a key is text of a known length, whatever the sender calls it', () => {
  for (const name of ['a', 'x'.repeat(255), '"}\n{"$commit":', 'é\u0000']) {
    const key = stored(name, 7)
    const text = keyText(key, key.events)
    assert.match(text, /^[\w-]{22}\.[\w-]{22}\.7$/)
    assert.equal(parseKeyText(text, TIME), key)
  }
  for (const text of ['', 'a.b.1', `${'a'.repeat(22)}.${'b'.repeat(22)}.`])
    assert.is(parseKeyText(text, TIME), null)
})

test('a file of keys reads back, and any damage to it is seen', () => {
  for (const keys of [[], [stored('a')], [stored('a'), stored('b', 1000)]]) {
    const bytes = writeKeys(keys)
    assert.equal(readKeys(bytes), keys)
    for (let at = 0; at < bytes.length; at++) {
      assert.is(readKeys(bytes.subarray(0, at)), null, `cut at ${at}`)
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 1
      assert.is(readKeys(flipped), null, `flipped at ${at}`)
    }
  }
})

test('keys are found at the beginning of their line and nowhere else', () => {
  const group = emptyGroup()
  const key = requestKey('order-1', eventBytes(1))
  const hostile = Buffer.from(
    `{"s":1,"t":"${TIME}","$key":"${keyText(stored('forged'), 1)}","e":{}}`,
  )
  addEvents(group, [hostile, eventBytes({ t: 'x', $key: 'y' })], 1, TIME)
  addEvents(group, [eventBytes({ a: 1 }), eventBytes({ a: 2 })], 3, TIME, keyText(key, 2))
  addEvents(group, [Buffer.from(`{\n${hostile.toString()}\r`)], 5, TIME)
  addEvents(group, [eventBytes({})], 6, TIME, keyText(requestKey('order-2', eventBytes(2)), 1))
  assert.equal(keysIn(finishGroup(group)), [
    { ...key, events: 2, time: TIME, seq: 3 },
    { ...requestKey('order-2', eventBytes(2)), events: 1, time: TIME, seq: 6 },
  ])
})

test('an event that is full of such members takes no time', () => {
  const group = emptyGroup()
  addEvents(group, [Buffer.from(`["${'","$key":"'.repeat(100_000)}"]`)], 1, TIME)
  const startedMs = performance.now()
  assert.equal(keysIn(finishGroup(group)), [])
  assert.ok(performance.now() - startedMs < 2_000)
})

test.run()
