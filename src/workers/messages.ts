// What a worker and the process that leads the workers say to each other.

import type { Family } from '../http/prometheus.ts'

/** What all workers must have in common. */
export interface Orders {
  readonly port: number
  readonly linkSecret: string
  readonly workers: number
}

export interface Listening {
  readonly url: string
  readonly explorerUrl: string | null
  readonly assistantsUrl: string | null
}

export type FromWorker =
  | { readonly say: 'hello' }
  | ({ readonly say: 'listening' } & Listening)
  /** It has a newer state open and answers from the earlier one. */
  | { readonly say: 'opened'; readonly mark: string }
  /** It begins no answer until it is told to turn. */
  | { readonly say: 'paused'; readonly mark: string }
  | { readonly say: 'add-up'; readonly ask: number; readonly own: readonly Family[] }
  | { readonly say: 'counts'; readonly ask: number; readonly own: readonly Family[] }

export type ToWorker =
  | { readonly say: 'orders'; readonly orders: Orders }
  /** Another has a newer state open. */
  | { readonly say: 'look' }
  /** Others have opened another state than this worker: look again. */
  | { readonly say: 'again' }
  | { readonly say: 'pause'; readonly mark: string }
  | { readonly say: 'turn'; readonly mark: string }
  | { readonly say: 'count'; readonly ask: number }
  | { readonly say: 'sum'; readonly ask: number; readonly all: readonly Family[] }
