import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addEvents, emptyGroup, finishGroup } from '../../src/buffer/group.ts'
import { scanSegment } from '../../src/buffer/segment.ts'
import { eventBytes, readEvents, TIME } from '../support/open-buffer.ts'

const LATER = '2026-03-01T10:00:00.001Z'

test('a line has its own number and time, whatever the line before had', () => {
  const group = emptyGroup()
  const expected: { seq: number; time: string; event: unknown }[] = []
  const add = (seq: number, time: string, events = 1) => {
    const all = Array.from({ length: events }, (_, i) => seq + i)
    addEvents(group, all.map(eventBytes), seq, time)
    expected.push(...all.map((event) => ({ seq: event, time, event })))
  }
  add(1, TIME, 1_101)
  for (const seq of [9, 99, 999, 9_999, 9_999_999_999, Number.MAX_SAFE_INTEGER - 1])
    for (const time of [TIME, LATER]) add(seq, time, 2)
  // Of several targets in turn, with as many digits and with others.
  for (const seq of [41, 52, 42, 53, 7, 43, 100, 8, 2 ** 31, 101, 2 ** 31 + 1]) add(seq, TIME)
  assert.equal(readEvents(finishGroup(group)), expected)
})

test('line ends within events are spaces, also where many events are one group', () => {
  const group = emptyGroup()
  const odd = Buffer.from('\n{\r\n"a"\r:\n1}\r')
  addEvents(group, [odd, eventBytes(2), odd], 1, TIME)
  addEvents(group, [eventBytes(4)], 4, TIME)
  addEvents(group, [odd], 5, LATER)
  const bytes = finishGroup(group)
  const { valid, damaged, events } = scanSegment(bytes, 'sealed')
  assert.equal([valid.length, damaged.length, events], [1, 0, 5])
  assert.not(bytes.includes('\r'))
  assert.equal(
    readEvents(bytes).map(({ event }) => event),
    [{ a: 1 }, 2, { a: 1 }, 4, { a: 1 }],
  )
})

test.run()
