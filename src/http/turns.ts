// Requests that a client sends without waiting for its answers (pipelining), one at a time for each connection. Answers
// go out in the order of the requests, so what is made ahead lies in memory as long as the client likes: with a thousand
// requests in one packet and nothing read, a gigabyte for one connection.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../core/limits.ts'

interface Line {
  readonly waiting: { readonly response: ServerResponse; readonly work: () => void }[]
  isBusy: boolean
  isPaused: boolean
}

export class Turns {
  readonly #lines = new WeakMap<Socket, Line>()

  /** Calls `work` when the earlier requests of the connection have their answers; never when it ends before that. */
  take(response: ServerResponse, work: () => void): void {
    const { socket } = response.req
    const line = this.#lineOf(socket)
    if (!line.isBusy) return this.#begin(line, response, work)
    line.waiting.push({ response, work })
    if (line.waiting.length < limits.requestsInLine || line.isPaused) return
    line.isPaused = true
    socket.pause()
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket)
    if (known !== undefined) return known
    const line = { waiting: [], isBusy: false, isPaused: false }
    this.#lines.set(socket, line)
    // node:http goes on reading whenever an answer has drained, which says nothing of the requests that wait.
    socket.on('resume', () => {
      if (line.isPaused) socket.pause()
    })
    return line
  }

  #begin(line: Line, response: ServerResponse, work: () => void): void {
    line.isBusy = true
    response.once('close', () => this.#next(line, response.req.socket))
    work()
  }

  #next(line: Line, socket: Socket): void {
    // What comes behind the last answer of a connection is answered by nobody.
    if (!socket.writable) line.waiting.length = 0
    const next = line.waiting.shift()
    if (line.isPaused && line.waiting.length === 0) {
      line.isPaused = false
      socket.resume()
    }
    if (next === undefined) line.isBusy = false
    // It may have been refused while it waited.
    else if (next.response.writableEnded) this.#next(line, socket)
    else this.#begin(line, next.response, next.work)
  }
}
