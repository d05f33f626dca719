// Request bodies: bounded in size before and after decompression, each of them and all of them together.
//
// Chunks are taken by listeners and not by `for await`: leaving such a loop early destroys the socket, and with it the
// answer that says why.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import { limits } from '../core/limits.ts'
import { memoryBytes } from '../core/machine.ts'
import { RequestError } from './request-error.ts'

type Decoder = ReturnType<typeof createGunzip | typeof createInflate>

const EMPTY = Buffer.alloc(0)

/**
 * The whole body of the request that `response` answers. Rejects with 413 above `maxBytes` (also of what it decompresses
 * to), 415 for an encoding that is not gzip or deflate, 400 for a broken one or a body that ends early, 503 while the
 * process holds too many bytes of bodies. What is not read is left to `sendError`. `sizeHint` is what the error of a body
 * that is too large ends with.
 */
export function readBody(
  response: ServerResponse,
  maxBytes: number,
  sizeHint?: string,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { req: request } = response
    const { headers } = request
    if (declaredLength(request) > maxBytes) throw tooLarge(maxBytes, sizeHint)
    const held = new HeldBytes(response)
    if (!held.hasRoomFor(declaredLength(request))) throw tooMany()
    const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity'
    const decoder = decoderOf(encoding)
    if (headers.expect !== undefined) askForBody(request)
    collect(decoder ?? request, { maxBytes, sizeHint }, held, resolve, (error) => {
      if (decoder !== null) {
        request.unpipe(decoder)
        decoder.destroy()
      }
      reject(error instanceof RequestError ? error : unreadable(encoding, error))
    })
    if (decoder === null) return
    request.on('error', (error) => decoder.destroy(error))
    request.pipe(decoder)
  })
}

function collect(
  stream: Readable,
  { maxBytes, sizeHint }: { readonly maxBytes: number; readonly sizeHint: string | undefined },
  held: HeldBytes,
  done: (body: Buffer) => void,
  fail: (error: Error) => void,
): void {
  let first: Buffer = EMPTY
  let more: Buffer[] | null = null
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size > maxBytes) return
    size += chunk.length
    if (size > maxBytes) return fail(tooLarge(maxBytes, sizeHint))
    if (!held.hasRoomFor(size)) {
      size = Infinity
      return fail(tooMany())
    }
    held.bytes = size
    if (size === chunk.length) first = chunk
    else (more ??= [first]).push(chunk)
  })
  stream.on('end', () => {
    const body = more === null ? first : Buffer.concat(more, size)
    // The request, and with it this function, outlives the use of the body.
    first = EMPTY
    more = null
    done(body)
  })
  stream.on('error', fail)
}

/** Of the memory, since what is made of a body is several times as large. */
const BODIES_SHARE = 1 / 16

let most: number | null = null

const mostBytes = () => (most ??= Math.min(limits.bodiesBytes, memoryBytes() * BODIES_SHARE))

/**
 * The bytes of a body that the process holds until it has answered or the client is gone. Only what has come is counted:
 * a client that announces much and sends nothing takes nothing from the others.
 */
class HeldBytes {
  static #total = 0
  #bytes = 0
  #isOver = false

  /** A request closes when it has been read, before a decoder has given what it decompresses to: its answer closes last. */
  constructor(response: ServerResponse) {
    response.once('close', () => {
      this.bytes = 0
      this.#isOver = true
    })
  }

  set bytes(bytes: number) {
    if (this.#isOver) return
    HeldBytes.#total += bytes - this.#bytes
    this.#bytes = bytes
  }

  /** A single body may be of any size up to its own limit. */
  hasRoomFor(bytes: number): boolean {
    const others = HeldBytes.#total - this.#bytes
    return others === 0 || others + bytes <= mostBytes()
  }
}

function decoderOf(encoding: string): Decoder | null {
  if (encoding === 'identity') return null
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip()
  if (encoding === 'deflate') return createInflate()
  throw new RequestError(
    415,
    'unsupported-encoding',
    `the content encoding "${encoding}" is not gzip or deflate`,
    { headers: { 'Accept-Encoding': 'gzip, deflate' } },
  )
}

function tooLarge(maxBytes: number, hint: string | undefined) {
  const MiB = maxBytes / 2 ** 20
  const size = Number.isInteger(MiB) ? `${MiB} MiB` : `${maxBytes} bytes`
  const message = `the body is larger than ${size}${hint === undefined ? '' : ` ${hint}`}`
  return new RequestError(413, 'body-too-large', message)
}

const tooMany = () =>
  new RequestError(
    503,
    'too-many-bodies',
    'other requests use all the memory reserved for request bodies',
    {
      headers: { 'Retry-After': String(limits.retryAfterSeconds) },
    },
  )

const unreadable = (encoding: string, cause: Error) =>
  new RequestError(
    400,
    'unreadable-body',
    encoding === 'identity' ? 'the body is truncated' : `the body cannot be read as ${encoding}`,
    { cause },
  )

/** Bytes by the Content-Length header; 0 without one. */
export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0)
}

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Delays the "100 Continue" that the client waits for until the body is wanted, so that one too large is never sent. */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response)
}

/** True while the client holds its body back. */
export function isHeldBack(request: IncomingMessage): boolean {
  return waiting.has(request)
}

function askForBody(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}
