import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/http/request-error.ts'
import { createAdmission, admissionLimits } from '../../../src/odata/engine/admission.ts'

/** Work that ends when told to. */
function work() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { end, run: () => ended }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const { signal } = new AbortController()
const fresh = { signal, begun: false, isSmall: true }
const large = { ...fresh, isSmall: false }

test('so many run, so many wait, the next is refused', async () => {
  const admission = createAdmission({ running: 2, large: 2, waiting: 1 })
  const started: string[] = []
  const first = work()
  const second = work()
  const enter = (name: string, done: Promise<void>) =>
    admission.run(() => {
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
  const admission = createAdmission({ running: 1, large: 1, waiting: 0 })
  const first = work()
  const running = admission.run(first.run, fresh)
  let continued = false
  const again = admission.run(async () => void (continued = true), { ...fresh, begun: true })
  await turn()
  assert.is(continued, false)
  first.end()
  await Promise.all([running, again])
  assert.is(continued, true)
})

test('who gives up waiting leaves the queue, and a failure frees its place', async () => {
  const admission = createAdmission({ running: 1, large: 1, waiting: 1 })
  const first = work()
  const running = admission.run(first.run, fresh)
  const leaver = new AbortController()
  const waiting = admission.run(async () => assert.unreachable(), {
    ...fresh,
    signal: leaver.signal,
  })
  leaver.abort(new Error('left'))
  assert.is(await waiting.catch((error: Error) => error.message), 'left')
  const failing = admission.run(() => Promise.reject(new Error('failed')), fresh)
  first.end()
  await running
  assert.is(await failing.catch((error: Error) => error.message), 'failed')
  assert.is(await admission.run(async () => 'free', fresh), 'free')
})

test('large ones leave places for small ones, and each sort waits on its own', async () => {
  const admission = createAdmission({ running: 3, large: 1, waiting: 1 })
  const all = [work(), work(), work(), work()] as const
  const [first, second, third, fourth] = all
  const started: string[] = []
  const enter = (name: string, done: Promise<void>, options: typeof fresh) =>
    admission.run(() => {
      started.push(name)
      return done
    }, options)
  const running = [
    enter('large 1', first.run(), large),
    enter('large 2', second.run(), large),
    enter('small 1', third.run(), fresh),
    enter('small 2', fourth.run(), fresh),
    enter('small 3', Promise.resolve(), fresh),
  ]
  await turn()
  assert.equal(started, ['large 1', 'small 1', 'small 2'])
  assert.equal(admission.load, { running: 3, waiting: 2, refused: 0 })
  for (const options of [large, fresh])
    assert.instance(
      await admission.run(() => Promise.resolve(), options).catch((e) => e),
      RequestError,
    )
  third.end()
  await turn()
  assert.equal(started.slice(3), ['small 3'], 'the place of a small one is not for a large one')
  first.end()
  await turn()
  assert.equal(started.slice(4), ['large 2'])
  for (const { end } of all) end()
  await Promise.all(running)
  assert.equal(admission.load, { running: 0, waiting: 0, refused: 2 })
})

test('of the places of a service some are for small queries, however many processors there are', () => {
  for (const processors of [1, 2, 3, 64]) {
    const { running, large: most } = admissionLimits(processors)
    assert.ok(most >= 4 && most <= running - 4, `${processors}: ${most} of ${running}`)
  }
})

test.run()
