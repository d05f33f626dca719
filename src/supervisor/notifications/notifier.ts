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

export class Notifier {
  readonly #on: readonly Occasion[]
  readonly #onNotified: (notified: Notified) => void
  readonly #outboxes: readonly Outbox[]
  #state: NotifyState = { sent: 0, failed: 0, last_failure: null }

  constructor({ on, ways, onNotified }: NotifierOptions) {
    this.#on = on
    this.#onNotified = onNotified
    this.#outboxes = Array.from(
      ways,
      ([by, deliver]) => new Outbox(deliver, (of, delivery) => this.#done(of, by, delivery)),
    )
  }

  get state(): NotifyState {
    return this.#state
  }

  tell(notification: Notification): void {
    if (!this.#on.includes(notification.event)) return
    for (const outbox of this.#outboxes) outbox.add(notification)
  }

  /** What is being sent gets `graceMs`; the rest is given up. */
  async end(graceMs: number): Promise<void> {
    await Promise.all(this.#outboxes.map((outbox) => outbox.end(graceMs)))
  }

  #done({ event: on, schedule }: Notification, by: NotificationWay, delivery: Delivery): void {
    const { sent, failed, last_failure: before } = this.#state
    const failure = { at: new Date().toISOString(), answer: `${by}: ${delivery.answer}` }
    this.#state = {
      sent: sent + (delivery.ok ? 1 : 0),
      failed: failed + (delivery.ok ? 0 : 1),
      last_failure: delivery.ok ? before : failure,
    }
    this.#onNotified({ on, name: schedule.name, by, ...delivery })
  }
}

class Outbox {
  readonly #deliver: Deliver
  readonly #onDone: (notification: Notification, delivery: Delivery) => void
  readonly #waiting: Notification[] = []
  readonly #stop = new AbortController()
  #sending: Promise<void> | null = null

  constructor(deliver: Deliver, onDone: (of: Notification, delivery: Delivery) => void) {
    this.#deliver = deliver
    this.#onDone = onDone
  }

  add(notification: Notification): void {
    this.#waiting.push(notification)
    if (this.#waiting.length > limits.waitingNotifications)
      this.#onDone(this.#waiting.shift()!, {
        ok: false,
        tries: 0,
        answer: 'too many notifications are waiting',
      })
    this.#sending ??= this.#send()
  }

  async end(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), graceMs)
    await this.#sending
    clearTimeout(timer)
  }

  async #send(): Promise<void> {
    const { signal } = this.#stop
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const delivery = signal.aborted
        ? { ok: false, tries: 0, answer: 'stopped with eider up' }
        : await this.#deliver(JSON.stringify(next), signal)
      this.#onDone(next, delivery)
    }
    this.#sending = null
  }
}
