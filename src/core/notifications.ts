// Who is told how scheduled runs go: `notify` of eider.yml, for `eider up`.
//
// A way of notifying has two more parts: how it is written, in project/notify.ts, and how a notification is delivered, in
// supervisor/notifications/ways.ts.

import type { FilePlace } from './source-text.ts'

export const occasions = ['failed', 'recovered', 'late', 'behind'] as const
export type Occasion = (typeof occasions)[number]

/** The key of eider.yml, and what the program says. */
export type NotificationWay = 'webhook' | 'command'

export interface Notify {
  readonly on: readonly Occasion[]
  /** A run is late when this has passed since it was due; null: never. */
  readonly lateAfterMs: number | null
  readonly recipients: readonly Recipient[]
}

export interface Recipient extends FilePlace {
  readonly way: NotificationWay
  /** What is written, with `${NAME}` for values of the environment, which are secrets. */
  readonly text: string
}
