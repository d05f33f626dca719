import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { Outbox } from '../../../src/exchange/lineage/outbox.ts'
import type { EventWay, Sent } from '../../../src/exchange/lineage/ways.ts'

const ARRIVED: Sent = { problem: null, isDead: false }

test('events of one lane arrive in their order, those of others beside them', async () => {
  const arrived: string[] = []
  let [underWay, most] = [0, 0]
  const send: EventWay['send'] = async (event) => {
    most = Math.max(most, ++underWay)
    // The first one of each lane takes longest.
    for (let turns = event.endsWith('0') ? 9 : 1; turns > 0; turns--) await Promise.resolve()
    arrived.push(event)
    underWay--
    return ARRIVED
  }
  const outbox = new Outbox({ lanes: 2, send })
  for (const event of ['a0', 'b0', 'c0', 'a1', 'b1', 'c1'])
    outbox.add(event, event.codePointAt(0)! - 97)
  assert.equal(await outbox.end(60_000), { events: 6, lost: 0, problem: null })
  assert.is(most, 2)
  for (const lane of ['a', 'b', 'c'])
    assert.equal(
      arrived.filter((event) => event.startsWith(lane)),
      [`${lane}0`, `${lane}1`],
    )
})

test('what waits is bounded, and what is given up is counted', async () => {
  const stopped = (signal: AbortSignal) =>
    new Promise<Sent>((resolve) =>
      signal.addEventListener('abort', () => resolve({ problem: 'stopped', isDead: true })),
    )
  const outbox = new Outbox({ lanes: 1, send: (_event, signal) => stopped(signal) })
  const event = 'x'.repeat(1024 * 1024)
  const fitting = Math.floor(limits.lineageWaitingBytes / event.length)
  for (let i = 0; i < fitting + 1 + 5; i++) outbox.add(event, 0)
  const { events, lost, problem } = await outbox.end(0)
  assert.is(events, fitting + 6)
  assert.is(lost, events)
  assert.is(problem, 'too many events are waiting')
})

test('after one that nobody took, none is tried; after one that was refused, the next is', async () => {
  let tried = 0
  const dead = new Outbox({
    lanes: 1,
    send: async () => (tried++, { problem: 'ECONNREFUSED', isDead: true }),
  })
  for (let i = 0; i < 5; i++) dead.add('e', 0)
  assert.equal(await dead.end(60_000), { events: 5, lost: 5, problem: 'ECONNREFUSED' })
  assert.is(tried, 1)
  const strict = new Outbox({
    lanes: 1,
    send: async () => (tried++, { problem: '400', isDead: false }),
  })
  for (let i = 0; i < 5; i++) strict.add('e', 0)
  assert.equal(await strict.end(60_000), { events: 5, lost: 5, problem: '400' })
  assert.is(tried, 6)
})

test('a way that throws loses its events, and is not asked again', async () => {
  let tried = 0
  const refusing = () => {
    tried++
    throw Object.assign(new TypeError('Invalid character'), { code: 'ERR_INVALID_CHAR' })
  }
  const outbox = new Outbox({ lanes: 1, send: refusing })
  for (let i = 0; i < 3; i++) outbox.add('e', 0)
  assert.equal(await outbox.end(60_000), { events: 3, lost: 3, problem: 'ERR_INVALID_CHAR' })
  assert.is(tried, 1)
})

test('a way that does not stop when it is told to holds nobody up, and what it has is lost', async () => {
  const hanging = new Outbox({ lanes: 2, send: () => new Promise<Sent>(() => {}) })
  for (let i = 0; i < 5; i++) hanging.add('e', i)
  assert.equal(await hanging.end(0), { events: 5, lost: 5, problem: 'no time was left' })
})

test.run()
