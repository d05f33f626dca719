import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Notification, Notified } from '../../../src/core/report/up.ts'
import { limits } from '../../../src/core/limits.ts'
import type { Deliver } from '../../../src/supervisor/notifications/delivery.ts'
import { createNotifier } from '../../../src/supervisor/notifications/notifier.ts'
import { runCommand } from '../../../src/supervisor/notifications/command.ts'
import { postWebhook } from '../../../src/supervisor/notifications/webhook.ts'
import { receiver } from '../../support/notified.ts'
import { until } from '../../support/until.ts'

const never = new AbortController().signal
const notification = { text: 'x', event: 'failed', schedule: { name: 'often' } } as Notification

test('a webhook is tried again after 500, and not after 404', async () => {
  await using hook = await receiver()
  hook.answers.push(500)
  assert.equal(await postWebhook(hook.url, '{}', never), { ok: true, tries: 2, answer: '200' })
  hook.answers.push(404)
  assert.equal(await postWebhook(hook.url, '{}', never), { ok: false, tries: 1, answer: '404' })
  hook.answers.push(302)
  assert.equal(await postWebhook(hook.url, '{}', never), { ok: false, tries: 1, answer: '302' })
  assert.is(hook.received.length, 4)
})

test('a webhook that is down is given up when the supervisor stops, and says nothing of its URL', async () => {
  const gone = await receiver()
  await gone[Symbol.asyncDispose]()
  const stop = new AbortController()
  const delivery = postWebhook(`${gone.url}/secret`, '{}', stop.signal)
  // Between the second try, after one second, and the third one, after six.
  setTimeout(() => stop.abort(), 3_000)
  assert.equal(await delivery, { ok: false, tries: 2, answer: 'ECONNREFUSED' })
})

test('tries are bounded in number and time', () => {
  const total = limits.webhookRetryMs.reduce((sum, ms) => sum + ms + limits.webhookTimeoutMs, 0)
  assert.ok(total < 3 * 60_000)
})

const hanging: Deliver = (_body, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ ok: false, tries: 1, answer: 'aborted' }))
  })
const quick: Deliver = () => Promise.resolve({ ok: true, tries: 1, answer: 'exit code 0' })

test('neither way waits for the other, and what waits is bounded', async () => {
  const done: Notified[] = []
  const notifier = createNotifier({
    on: ['failed'],
    ways: new Map([
      ['webhook', hanging],
      ['command', quick],
    ]),
    onNotified: (notified) => done.push(notified),
  })
  const total = limits.waitingNotifications + 11
  for (let i = 0; i < total; i++) notifier.tell(notification)
  notifier.tell({ ...notification, event: 'late' })
  const by = (way: Notified['by']) => done.filter((one) => one.by === way)
  await until(() => by('command').length === total)
  for (const way of ['webhook', 'command'] as const)
    assert.is(
      by(way).filter(({ answer }) => answer === 'too many notifications are waiting').length,
      10,
    )
  await notifier.end(10)
  assert.is(by('webhook').length, total)
  assert.is(notifier.state().sent, total - 10)
})

test('a command gets JSON on its standard input, and is killed with all that it started', async () => {
  const lines: string[] = []
  const run = (line: string, signal = never) =>
    runCommand(line, '{}', signal, { cwd: process.cwd(), onLine: (text) => lines.push(text) })
  assert.equal(await run('cat; echo done >&2'), { ok: true, tries: 1, answer: 'exit code 0' })
  assert.equal(lines.toSorted(), ['done', '{}'])
  assert.equal((await run('exit 4')).answer, 'exit code 4')
  assert.is((await run('./there-is-no-such-file')).ok, false)
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 300)
  const stopped = await run('sleep 60 | sleep 60', stop.signal)
  assert.equal(stopped, { ok: false, tries: 1, answer: 'stopped with eider up' })
})

test.run()
