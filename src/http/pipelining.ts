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

export class Pipelining {
  readonly #lines = new WeakMap<Socket, Line>()
  /** Requests that wait, of all connections. */
  #waiting = 0

  /** Calls `work` when the earlier requests of the connection have their answers; never when it ends before that. */
  inOrder(response: ServerResponse, work: () => void): void {
    const { socket } = response.req
    const line = this.#lineOf(socket)
    if (!line.isBusy) return this.#begin(line, response, work)
    // One packet brings thousands of requests before the pause counts, and there are thousands of connections.
    if (this.#waiting >= limits.requestsInLines) return void socket.destroy()
    this.#waiting++
    line.waiting.push({ response, work })
    if (line.waiting.length < limits.requestsInLine) return
    line.isPaused = true
    socket.pause()
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { waiting: [], isBusy: false, isPaused: false }
    this.#lines.set(socket, line)
    // node:http reads on whenever an answer has drained, or the body of a request is read that is here as a whole: that says
    // nothing of the requests that wait.
    socket.on('resume', () => {
      if (line.isPaused) socket.pause()
    })
    return line
  }

  #begin(line: Line, response: ServerResponse, work: () => void): void {
    line.isBusy = true
    response.once('close', () => this.#end(line, response.req.socket))
    work()
  }

  /** Waiting requests start in another turn of the event loop: synchronous answers would block all other connections. */
  #end(line: Line, socket: Socket): void {
    if (line.waiting.length === 0) line.isBusy = false
    else setImmediate(() => this.#next(line, socket))
  }

  #next(line: Line, socket: Socket): void {
    // Requests after the last answer of a connection are never answered.
    const taken = socket.writable ? 1 : line.waiting.length
    const [next] = line.waiting.splice(0, taken)
    this.#waiting -= taken
    if (line.isPaused && line.waiting.length === 0) {
      line.isPaused = false
      socket.resume()
    }
    if (next === undefined || !socket.writable) line.isBusy = false
    // It may have been refused while it waited.
    else if (next.response.writableEnded) this.#end(line, socket)
    else this.#begin(line, next.response, next.work)
  }
}
