// When workers turn to a newer state, as a matter of messages.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ToWorker } from '../../src/workers/messages.ts'
import { TakeOver } from '../../src/workers/take-over.ts'
import { until } from '../support/until.ts'

function started(times: { opensMs?: number; turnsMs?: number } = {}) {
  const told: string[] = []
  const givenUp: string[] = []
  const takeOver = new TakeOver<string>({
    tell: (worker, message: ToWorker) =>
      told.push(['mark' in message ? message.mark : '', message.say, worker].join(' ').trim()),
    giveUp: (worker) => givenUp.push(worker),
    ...times,
  })
  return { takeOver, givenUp, told: () => told.splice(0) }
}

/** Both answer from `old`. */
function two(times = {}) {
  const test = started(times)
  const { takeOver } = test
  for (const worker of ['a', 'b']) {
    takeOver.join(worker)
    takeOver.opened(worker, 'old')
    takeOver.paused(worker, 'old')
    takeOver.listens(worker)
  }
  test.told()
  return test
}

test('the first one turns alone, and the next comes to where it is', () => {
  const { takeOver, told } = started()
  takeOver.join('a')
  takeOver.opened('a', 'old')
  assert.equal(told(), ['old pause a'])
  takeOver.paused('a', 'old')
  assert.equal(told(), ['old turn a'])
  takeOver.join('b')
  takeOver.opened('b', 'old')
  assert.equal(told(), ['old turn b'])
  takeOver.close()
})

test('nobody turns before all have opened the state and begin no more answers', () => {
  const { takeOver, told } = two()
  takeOver.opened('a', 'new')
  assert.equal(told(), ['look b'])
  takeOver.opened('b', 'new')
  assert.equal(told(), ['new pause a', 'new pause b'])
  takeOver.paused('b', 'new')
  assert.equal(told(), [])
  takeOver.paused('a', 'new')
  assert.equal(told(), ['new turn a', 'new turn b'])
  takeOver.close()
})

test('workers with different states look again', () => {
  const { takeOver, told } = two()
  takeOver.opened('a', 'new')
  told()
  takeOver.opened('b', 'newer')
  assert.equal(told(), ['again a'])
  takeOver.opened('a', 'newer')
  assert.equal(told(), ['newer pause a', 'newer pause b'])
  takeOver.close()
})

test('one that dies is not waited for, at whichever moment', () => {
  const opening = two()
  opening.takeOver.opened('a', 'new')
  opening.told()
  opening.takeOver.leave('b')
  assert.equal(opening.told(), ['new pause a'])
  opening.takeOver.close()
  const turning = two()
  for (const worker of ['a', 'b']) turning.takeOver.opened(worker, 'new')
  turning.takeOver.paused('a', 'new')
  turning.told()
  turning.takeOver.leave('b')
  assert.equal(turning.told(), ['new turn a'])
  turning.takeOver.close()
})

test('one that begins meanwhile is not waited for, and comes along', () => {
  const { takeOver, told } = two()
  takeOver.join('c')
  for (const worker of ['a', 'b']) takeOver.opened(worker, 'new')
  assert.equal(told(), ['look b', 'new pause a', 'new pause b'])
  takeOver.opened('c', 'new')
  assert.equal(told(), ['new pause c'])
  for (const worker of ['a', 'b', 'c']) takeOver.paused(worker, 'new')
  assert.equal(told(), ['new turn a', 'new turn b', 'new turn c'])
  takeOver.close()
})

test('one that opens a later state while others turn makes them look', () => {
  const { takeOver, told } = two()
  takeOver.join('c')
  for (const worker of ['a', 'b']) takeOver.opened(worker, 'new')
  takeOver.opened('c', 'newer')
  told()
  for (const worker of ['a', 'b']) takeOver.paused(worker, 'new')
  assert.equal(told(), ['new turn a', 'new turn b', 'look a', 'look b'])
  takeOver.close()
})

test('one that is late is given up, and the others go on', async () => {
  const slow = two({ opensMs: 5 })
  slow.takeOver.opened('a', 'new')
  await until(() => slow.givenUp.length > 0)
  assert.equal(slow.givenUp, ['b'])
  assert.equal(slow.told(), ['look b', 'new pause a'])
  slow.takeOver.close()
  const stuck = two({ turnsMs: 5 })
  for (const worker of ['a', 'b']) stuck.takeOver.opened(worker, 'new')
  stuck.takeOver.paused('a', 'new')
  await until(() => stuck.givenUp.length > 0)
  assert.equal(stuck.givenUp, ['b'])
  assert.is(stuck.told().at(-1), 'new turn a')
  stuck.takeOver.close()
})

test('without anything published, one that listens is waited for all the same', () => {
  const { takeOver, told } = started()
  for (const worker of ['a', 'b']) {
    takeOver.join(worker)
    takeOver.listens(worker)
  }
  takeOver.opened('a', 'first')
  assert.equal(told(), ['look b'])
  takeOver.opened('b', 'first')
  assert.equal(told(), ['first pause a', 'first pause b'])
  takeOver.close()
})

test.run()
