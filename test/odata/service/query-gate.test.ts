import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/http/request-error.ts'
import { createQueryGate } from '../../../src/odata/query-gate.ts'

/** Work that ends when told to. */
function work() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { end, run: () => ended }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const { signal } = new AbortController()
const fresh = { signal, begun: false }

test('so many run, so many wait, the next is refused', async () => {
  const gate = createQueryGate(2, 1)
  const started: string[] = []
  const first = work()
  const second = work()
  const enter = (name: string, done: Promise<void>) =>
    gate.run(() => {
      started.push(name)
      return done
    }, fresh)
  const running = [enter('first', first.run()), enter('second', second.run())]
  running.push(enter('third', Promise.resolve()))
  await turn()
  assert.equal(started, ['first', 'second'])
  const refused = await enter('fourth', Promise.resolve()).catch((error: unknown) => error)
  assert.instance(refused, RequestError)
  assert.is((refused as RequestError).status, 503)
  assert.ok(Number((refused as RequestError).headers['Retry-After']) > 0)
  first.end()
  await turn()
  assert.equal(started, ['first', 'second', 'third'])
  second.end()
  await Promise.all(running)
})

test('what has begun is let in again although others wait', async () => {
  const gate = createQueryGate(1, 0)
  const first = work()
  const running = gate.run(first.run, fresh)
  let continued = false
  const again = gate.run(async () => void (continued = true), { signal, begun: true })
  await turn()
  assert.is(continued, false)
  first.end()
  await Promise.all([running, again])
  assert.is(continued, true)
})

test('who gives up waiting leaves the queue, and a failure frees its place', async () => {
  const gate = createQueryGate(1, 1)
  const first = work()
  const running = gate.run(first.run, fresh)
  const leaver = new AbortController()
  const waiting = gate.run(async () => assert.unreachable(), {
    signal: leaver.signal,
    begun: false,
  })
  leaver.abort(new Error('left'))
  assert.is(await waiting.catch((error: Error) => error.message), 'left')
  const failing = gate.run(() => Promise.reject(new Error('failed')), fresh)
  first.end()
  await running
  assert.is(await failing.catch((error: Error) => error.message), 'failed')
  assert.is(await gate.run(async () => 'free', fresh), 'free')
})

test.run()
