// How a request ended: its answer has gone out, or its client has left.

import type { ServerResponse } from 'node:http'

/** What proxies log for a client that has left before its answer began. It is never sent. */
const CLIENT_LEFT = 499

export interface RequestEnd {
  readonly status: number
  readonly ms: number
  /** The client has left before it had the whole answer. */
  readonly isCut: boolean
}

/** Calls `done` when the answer has gone out, or its client has left. */
export function whenAnswered(response: ServerResponse, done: (end: RequestEnd) => void): void {
  const startedMs = performance.now()
  response.once('close', () => {
    const status = response.headersSent ? response.statusCode : CLIENT_LEFT
    done({ status, ms: msSince(startedMs), isCut: !response.writableFinished })
  })
}

/** As logs and metrics have it: with two decimal places. */
export const msSince = (startedMs: number): number =>
  Math.round((performance.now() - startedMs) * 100) / 100
