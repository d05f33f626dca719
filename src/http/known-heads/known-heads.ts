// Answers requests whose heads are known, in front of node:http on the connections that it has accepted.
//
// node:http keeps each connection, its timeouts and its end. On one that asks for what is in memory, its listener for bytes
// is called by the one here, which looks at them first: a packet that is one head, and equal to a head that was
// answered before, gets that answer when the handler says that it is still the one. All else goes on to node:http as it
// came: several requests in a packet, a part of one, a body, a method other than GET.
//
// Bytes may only be taken where node:http waits for a request. That is so when all that it was given has its answer, was
// read to its end, and ended with an empty line: what follows an empty line is a body, whose request is not complete, or
// a new head.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../../core/limits.ts'
import { endOfHead, formOf, type HeadForm } from '../head-form.ts'
import type { Again, Repeats } from '../repeats.ts'
import { msSince } from '../request-end.ts'
import { httpDate } from '../respond.ts'
import { BODY_BYTES, FORMS, HEAD_BYTES, STRANGE_HEADS } from './known-heads-limits.ts'

type NodeReads = (chunk: Buffer) => void

interface Connection {
  readonly socket: Socket
  readonly isFree: () => boolean
  /** What node:http reads by, once the connection is looked at; null before, and where it cannot be. */
  nodeReads: NodeReads | null
  isLookedAt: boolean
  /** Whether what node:http was given last ended with an empty line. */
  isBetween: boolean
  /** A whole head, while node:http reads it. */
  head: Buffer | null
  /** Of its last request that was answered here. */
  form: HeadForm | null
  /** Heads since then that were not known. */
  strange: number
}

interface KnownAnswer {
  readonly form: HeadForm
  readonly status: number
  /** The head of the answer, around the date. */
  readonly parts: readonly [string, string]
  readonly again: Again
  /** That of the head in `bytes`. */
  date: string
  headLength: number
  /** The whole answer; its body alone until it has a date. */
  bytes: Buffer
}

/** Names that `changing` has are in lower case: their values say nothing of the answer. */
export const knownHeads = (changing: readonly string[]): Repeats => new KnownHeads(changing)

class KnownHeads implements Repeats {
  readonly #changing: ReadonlySet<string>
  readonly #connections = new WeakMap<Socket, Connection>()
  /** By the key of the form of a head. */
  readonly #answers = new Map<string, KnownAnswer>()
  /** Forms that were answered from memory once: a head that never comes again is not worth the copy of its answer. */
  readonly #once = new Set<string>()
  readonly #ends: number[] = []

  constructor(changing: readonly string[]) {
    this.#changing = new Set(changing)
  }

  join(socket: Socket, isFree: () => boolean): void {
    const connection = { socket, isFree, nodeReads: null, isLookedAt: false }
    const nothing = { isBetween: false, head: null, form: null, strange: 0 }
    this.#connections.set(socket, { ...connection, ...nothing })
  }

  leave(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#connections.delete(socket)
    if (connection.nodeReads !== null) socket.removeAllListeners('data')
  }

  offer({ socket, headers }: IncomingMessage): ReturnType<Repeats['offer']> {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return null
    if (!connection.isLookedAt) {
      connection.isLookedAt = true
      // Not while node:http is reading.
      setImmediate(() => this.#lookAt(connection))
    }
    const { head } = connection
    connection.head = null
    if (head === null || BEYOND_HEAD.some((name) => headers[name] !== undefined)) return null
    const text = head.toString('latin1')
    if (LONE.test(text)) return null
    const form = formOf(text, this.#changing)
    if (form.lengthAt !== -1) return null
    if (!this.#once.has(form.key)) {
      makeRoom(this.#once)
      this.#once.add(form.key)
      return null
    }
    return (response, body, again) => this.#learn(form, response, body, again)
  }

  #learn(form: HeadForm, response: ServerResponse, body: Buffer | null, again: Again): void {
    if (body !== null && body.length > BODY_BYTES) return
    const parts = aroundDate(response)
    if (parts === null) return
    makeRoom(this.#answers)
    const answer = { form, status: response.statusCode, parts, again }
    const undated = { date: '', headLength: 0, bytes: body ?? NOTHING }
    this.#answers.set(form.key, { ...answer, ...undated })
  }

  #lookAt(connection: Connection): void {
    const { socket } = connection
    const [reads, ...others] = socket.listeners('data')
    const isOurs = this.#connections.get(socket) === connection && !socket.destroyed
    if (!isOurs || reads === undefined || others.length > 0) return
    connection.nodeReads = reads as NodeReads
    // With a listener more node:http no longer takes the bytes from the system itself.
    socket.on('data', (chunk: Buffer) => this.#read(connection, chunk))
    socket.off('data', connection.nodeReads)
  }

  #read(connection: Connection, chunk: Buffer): void {
    if (connection.isBetween && connection.isFree()) {
      if (this.#answer(connection, chunk)) return
      if (++connection.strange > STRANGE_HEADS) return this.#lookAway(connection, chunk)
      connection.head = isWholeHead(chunk) ? chunk : null
    }
    connection.isBetween = endsWithEmptyLine(chunk)
    connection.nodeReads!(chunk)
    connection.head = null
  }

  #answer(connection: Connection, chunk: Buffer): boolean {
    const known = this.#find(connection, chunk)
    if (known === null) return false
    const startedMs = performance.now()
    const done = known.again()
    if (done === null) {
      this.#answers.delete(known.form.key)
      return false
    }
    connection.form = known.form
    connection.strange = 0
    const { socket } = connection
    const { status } = known
    socket.write(bytesOf(known), (error) => {
      // A later request has its own time, which node:http gives it.
      if (isSlow && connection.isFree()) socket.setTimeout(limits.keepAliveTimeoutMs)
      done({ status, ms: msSince(startedMs), isCut: error != null })
    })
    const isSlow = socket.writableLength > 0
    if (isSlow) socket.setTimeout(limits.socketIdleMs)
    return true
  }

  #find({ form }: Connection, chunk: Buffer): KnownAnswer | null {
    if (form !== null && this.#isOf(form, chunk)) return this.#answers.get(form.key) ?? null
    if (this.#answers.size === 0 || !isWholeHead(chunk)) return null
    const { key } = formOf(chunk.toString('latin1'), this.#changing)
    const found = this.#answers.get(key)
    return found !== undefined && this.#isOf(found.form, chunk) ? found : null
  }

  #isOf(form: HeadForm, chunk: Buffer): boolean {
    return endOfHead(form, chunk, 0, this.#ends) === chunk.length
  }

  /** A client whose heads are never the same costs node:http nothing more. */
  #lookAway({ socket, nodeReads }: Connection, chunk: Buffer): void {
    this.#connections.delete(socket)
    socket.on('data', nodeReads!)
    const [ours] = socket.listeners('data')
    socket.off('data', ours as NodeReads)
    nodeReads!(chunk)
  }
}

const NOTHING = Buffer.alloc(0)
const EMPTY_LINE = '\r\n\r\n'

/** A request with these is more than its head, or asks for more than an answer. */
const BEYOND_HEAD = ['content-length', 'transfer-encoding', 'expect', 'upgrade', 'range'] as const

const endsWithEmptyLine = (chunk: Buffer) =>
  chunk.length >= EMPTY_LINE.length &&
  chunk.toString('latin1', chunk.length - EMPTY_LINE.length) === EMPTY_LINE

/** One whole head of a GET, and nothing else. */
const isWholeHead = (chunk: Buffer) =>
  chunk.length <= HEAD_BYTES &&
  chunk.toString('latin1', 0, START.length) === START &&
  chunk.indexOf(EMPTY_LINE) === chunk.length - EMPTY_LINE.length

const START = 'GET '

/** A half of an end of line. To a parser that is lenient such a line may end a head too, and then more than one is here. */
const LONE = /(?<!\r)\n|\r(?!\n)/

/**
 * The head that node:http has written, around its date. null where the connection ends with the answer, where the length of
 * the answer is not in it, or where it is not as node:http writes it.
 */
function aroundDate(response: ServerResponse): readonly [string, string] | null {
  const { _header: head } = response as ServerResponse & { readonly _header?: unknown }
  if (typeof head !== 'string') return null
  const [, before, after] = HEAD.exec(head) ?? []
  if (before === undefined || after === undefined) return null
  const isFramed = response.statusCode === 304 || /\r\nContent-Length: \d+\r\n/.test(before)
  return isFramed ? [before, after] : null
}

const HEAD =
  /^(HTTP\/1\.1 (?:200|304) [\x20-\x7e]+\r\n(?:(?!Date:|Connection:|Transfer-Encoding:)[\x20-\x7e]+\r\n)*Date: )[\w ,:]+(\r\nConnection: keep-alive\r\nKeep-Alive: timeout=\d+\r\n\r\n)$/

/** With the date of this second. */
function bytesOf(known: KnownAnswer): Buffer {
  const date = httpDate()
  if (date !== known.date) {
    const head = Buffer.from(known.parts.join(date), 'latin1')
    // The earlier bytes may still be on their way.
    known.bytes = Buffer.concat([head, known.bytes.subarray(known.headLength)])
    known.headLength = head.length
    known.date = date
  }
  return known.bytes
}

/** The oldest goes, as the others may be asked for at this moment. */
function makeRoom(forms: Set<string> | Map<string, KnownAnswer>): void {
  if (forms.size < FORMS) return
  const [oldest] = forms.keys()
  forms.delete(oldest!)
}
