// What a server knows of a request before its body is read, and what may answer requests in place of node:http: a front,
// which takes the connections and hands over those that it doesn't answer itself.

import type { IncomingHttpHeaders } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { RequestError } from './request-error.ts'
import type { Headers } from './respond.ts'

/** Headers with one value. Of several lines node:http takes the first one, or puts them together; another server, the last. */
export const singleHeaders = ['Host', 'Authorization', 'Content-Type', 'Idempotency-Key'] as const

/** What every request has; those of node:http have it too. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders
}

/** The head of a POST of which nothing is unusual: no encoding of its content, no condition. */
export interface PostHead extends RequestHead {
  readonly url: string
  /** null: the body comes in chunks. */
  readonly bodyBytes: number | null
}

/** What takes the bodies of requests with the same head. */
export interface PostRoute {
  readonly maxBodyBytes: number
  /** Of each answer, besides those that all routes have. */
  readonly answerHeaders?: Headers
  /** Whether it is told the values of changing headers; false when absent. */
  readonly isTold?: boolean
  /** False when the head is to be looked at again: who it is from may no longer come. Always true when absent. */
  readonly isCurrent?: () => boolean
  /** `told`: the values of changing headers in this very request. May throw, as a handler may. */
  readonly take: (body: Buffer, told: IncomingHttpHeaders) => PostAnswer
  /** What `ready` rejected with, as a handler would throw it. */
  readonly toRefusal: (error: unknown) => unknown
}

export interface PostAnswer {
  /** JSON; sent when `ready` resolves, and asked for then where it is a function. What that rejects with is answered as an error. */
  readonly body: string | (() => string)
  readonly ready: Promise<void>
}

/** What a front answers by itself. The answers must be those of the server's handler. */
export interface FrontRoutes {
  /** The route of requests with this head; null leaves them to node:http, which also says what is wrong with them. */
  readonly routeOf: (head: PostHead) => PostRoute | null
  /**
   * Names of headers, in lower case, that may have other values in requests of the same route: it is asked for once for all
   * of them.
   */
  readonly changing: readonly string[]
  readonly status: number
  readonly answerHeaders: Headers
}

export interface FrontHooks {
  /** Makes the answer for what a route threw. */
  readonly toRefusal: (error: unknown, url: string) => RequestError
  /** Gives a connection to node:http. */
  readonly handOver: (socket: Socket) => void
  /** Answers a request that will never be complete, and ends the connection. */
  readonly refuseBroken: (socket: Socket) => void
}

export interface Front {
  /** What listens in place of node:http's server. */
  readonly listener: Server
  /** From now on new requests go to node:http, which knows how a connection ends. */
  stop(): void
  /** Closes connections on which nothing has moved since the last call. */
  closeIdle(): void
  closeAll(): void
}

export type MakeFront = (hooks: FrontHooks) => Front
