// What may answer a request before node:http has read it: one whose head an earlier request of a connection had too, byte by
// byte, and whose handler would give the same answer. It takes such requests alone, and only between two requests that
// node:http has read on the same connection.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestEnd } from './request-end.ts'

/**
 * Begins a request for the same answer. null: it may be another one now, and the handler is to be asked. What is returned is
 * called when the answer has gone out, or its client has left.
 */
export type Again = () => ((end: RequestEnd) => void) | null

/** `response` has its head; `body` is what was sent behind it, null for none. */
type Learn = (response: ServerResponse, body: Buffer | null, again: Again) => void

export interface Repeats {
  /** `isFree`: all requests of the connection have their answers, and one that comes now would be answered at once. */
  join(socket: Socket, isFree: () => boolean): void
  /** From now on node:http, or nobody, reads what comes. */
  leave(socket: Socket): void
  /** To be called in the turn in which the handler is asked. null: this request is not learned from. */
  offer(request: IncomingMessage): Learn | null
}

/** node:http reads everything. */
export const noRepeats: Repeats = { join: () => {}, leave: () => {}, offer: () => null }
