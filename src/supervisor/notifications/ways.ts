// How each way of notifying delivers. One that is missing here does not compile.

import type { NotificationWay } from '../../core/notifications.ts'
import { runCommand } from './command.ts'
import type { Deliver, Surroundings, Way } from './delivery.ts'
import { postWebhook } from './webhook.ts'

const ways: Readonly<Record<NotificationWay, Way>> = {
  webhook: postWebhook,
  command: runCommand,
}

/** `recipients`: the URL, or the command, of each way that the project has. */
export const deliveriesTo = (
  recipients: ReadonlyMap<NotificationWay, string>,
  surroundings: Surroundings,
): ReadonlyMap<NotificationWay, Deliver> =>
  new Map(
    Array.from(recipients, ([way, recipient]) => [
      way,
      (body, signal) => ways[way](recipient, body, signal, surroundings),
    ]),
  )
