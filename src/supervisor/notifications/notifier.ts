// Tells those who are to know while runs go on: the webhook and the command each one notification after the other, so
// that neither waits for the other. How many wait is bounded: where nobody answers, the oldest are given up.

import { limits } from '../../core/limits.ts'
import type { Notification, Notified, NotifyState } from '../../core/report/up.ts'
import type { NotificationWay, Occasion } from '../../core/notifications.ts'
import type { Deliver, Delivery } from './delivery.ts'

export interface NotifierOptions {
  readonly on: readonly Occasion[]
  readonly ways: ReadonlyMap<NotificationWay, Deliver>
  readonly onNotified: (notified: Notified) => void
}

export type Notifier = ReturnType<typeof createNotifier>

export function createNotifier({ on, ways, onNotified }: NotifierOptions) {
  let state: NotifyState = { sent: 0, failed: 0, last_failure: null }
  const done = (of: Notification, by: NotificationWay, delivery: Delivery) => {
    const { sent, failed } = state
    const failure = { at: new Date().toISOString(), answer: `${by}: ${delivery.answer}` }
    state = delivery.ok
      ? { ...state, sent: sent + 1 }
      : { ...state, failed: failed + 1, last_failure: failure }
    onNotified({ on: of.event, name: of.schedule?.name ?? of.set?.name ?? '', by, ...delivery })
  }
  const outboxes = Array.from(ways, ([by, deliver]) =>
    createOutbox(deliver, (of, delivery) => done(of, by, delivery)),
  )
  return {
    state: () => state,
    tell(notification: Notification) {
      if (on.includes(notification.event)) for (const outbox of outboxes) outbox.add(notification)
    },
    /** What is being sent gets `graceMs`; the rest is given up. */
    async end(graceMs: number) {
      await Promise.all(outboxes.map((outbox) => outbox.end(graceMs)))
    },
  }
}

function createOutbox(deliver: Deliver, onDone: (of: Notification, delivery: Delivery) => void) {
  const waiting: Notification[] = []
  const stop = new AbortController()
  let sending: Promise<void> | null = null
  const givenUp = (answer: string): Delivery => ({ ok: false, tries: 0, answer })
  const send = async () => {
    const { signal } = stop
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const delivery = signal.aborted
        ? givenUp('stopped with eider up')
        : await deliver(JSON.stringify(next), signal)
      onDone(next, delivery)
    }
    sending = null
  }
  return {
    add(notification: Notification) {
      waiting.push(notification)
      if (waiting.length > limits.waitingNotifications)
        onDone(waiting.shift()!, givenUp('too many notifications are waiting'))
      sending ??= send()
    },
    async end(graceMs: number) {
      const timer = setTimeout(() => stop.abort(), graceMs)
      await sending
      clearTimeout(timer)
    },
  }
}
