// Sends single events with numbers in a row at a given rate, for as long as it is let, and knows which of them were
// acknowledged. A process of its own: `node sender.js <port> <events a second>`. A connection that breaks is opened again.

import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Latency, LatencyMinutes } from './latencies.ts'

export interface Sent {
  /** Numbers from 0 to below this one were sent. */
  readonly numbers: number
  /** Those of them that got no answer: they may be there or not. */
  readonly unknown: readonly number[]
  readonly refused: number
  /** The longest time without an acknowledgement. */
  readonly longestGapMs: number
  readonly minutes: readonly Latency[]
}

const CONNECTIONS = 64
const TICK_MS = 5
const RECONNECT_MS = 50
/** After an outage what was not sent is not made up for. */
const MOST_DUE = CONNECTIONS

class Sender {
  readonly #port: number
  readonly #perMs: number
  readonly #idle: Socket[] = []
  readonly #waiting = new Map<Socket, { readonly number: number; readonly sentAt: number }>()
  readonly #unknown: number[] = []
  readonly #latencies = new LatencyMinutes()
  #numbers = 0
  #refused = 0
  #due = 0
  #longestGapMs = 0
  #lastGoodAt = performance.now()
  #tickedAt = performance.now()
  #isOver = false
  readonly #timer = setInterval(() => this.#tick(), TICK_MS)

  constructor(port: number, perSecond: number) {
    this.#port = port
    this.#perMs = perSecond / 1_000
    for (let i = 0; i < CONNECTIONS; i++) this.#connect()
  }

  #connect(): void {
    if (this.#isOver) return
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true }, () =>
      this.#idle.push(socket),
    )
    socket.on('data', (answer) => this.#answered(socket, answer.toString('latin1')))
    socket.on('error', () => {})
    socket.once('close', () => {
      const sent = this.#waiting.get(socket)
      if (sent !== undefined) this.#unknown.push(sent.number)
      this.#waiting.delete(socket)
      const at = this.#idle.indexOf(socket)
      if (at >= 0) this.#idle.splice(at, 1)
      setTimeout(() => this.#connect(), RECONNECT_MS)
    })
  }

  #tick(): void {
    const now = performance.now()
    this.#due = Math.min(MOST_DUE, this.#due + (now - this.#tickedAt) * this.#perMs)
    this.#tickedAt = now
    this.#send()
  }

  #send(): void {
    while (this.#due >= 1 && this.#idle.length > 0 && !this.#isOver) {
      const socket = this.#idle.pop()!
      const number = this.#numbers++
      const body = `{"id":${number},"note":"an event of a soak"}`
      this.#due--
      this.#waiting.set(socket, { number, sentAt: performance.now() })
      socket.write(
        `POST /collect/raw/e HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
    }
  }

  #answered(socket: Socket, answer: string): void {
    const sent = this.#waiting.get(socket)
    if (sent === undefined) return
    this.#waiting.delete(socket)
    const now = performance.now()
    if (answer.startsWith('HTTP/1.1 202')) {
      this.#latencies.add(now - sent.sentAt)
      this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastGoodAt)
      this.#lastGoodAt = now
      this.#idle.push(socket)
      this.#send()
    } else {
      this.#refused++
      this.#unknown.push(sent.number)
      socket.destroy()
    }
  }

  end(): Sent {
    this.#isOver = true
    clearInterval(this.#timer)
    for (const { number } of this.#waiting.values()) this.#unknown.push(number)
    for (const socket of [...this.#idle, ...this.#waiting.keys()]) socket.destroy()
    return {
      numbers: this.#numbers,
      unknown: this.#unknown,
      refused: this.#refused,
      longestGapMs: this.#longestGapMs,
      minutes: this.#latencies.minutes(),
    }
  }
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port, perSecond] = process.argv.slice(2).map(Number)
  const sender = new Sender(port!, perSecond!)
  process.once('message', () => process.send?.(sender.end(), () => process.exit(0)))
  process.once('disconnect', () => process.exit(1))
}
