// A closed-loop HTTP/1.1 load: every connection sends the same request, or several of them at a time (pipelining), again
// as soon as its answers are there. It runs in a process of its own (`node load.js`), because the servers it measures
// need theirs, and says how busy that process was: at 1.0 it is the load that was measured, not the server.

import { type ChildProcess, fork } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface Load {
  readonly port: number
  readonly connections: number
  /** Requests that a connection sends at a time. */
  readonly pipelined: number
  readonly durationMs: number
  /** The whole request, head and body, one byte a character. */
  readonly request: string
  /** With it, each request has a number below this one, in turn, in place of {key}; one at a time. */
  readonly keys?: number
  /** With it, and keys, each request gets the length of its body, and a signature of it as GitHub makes it. */
  readonly secret?: string
  /** Status that an answer must have. */
  readonly status: number
}

export interface LoadResult {
  readonly answers: number
  /** With those before and after the time that is measured. */
  readonly allAnswers: number
  readonly ms: number
  /** 99th percentile of the time from request to answer. */
  readonly p99Ms: number
  /** Processor time of the load itself, of one core. */
  readonly busy: number
}

const WARM_UP_MS = 500
/** A closed loop that gets no answers would wait for ever. */
const STUCK_MS = 30_000
/** A prime, so that keys far from each other follow one another and all of them are met. */
const KEY_STEP = 7_919

/** Rejects when any answer has another status. */
export async function measureLoad(load: Load): Promise<LoadResult> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), { serialization: 'json' })
  child.send(load)
  const stuck = setTimeout(() => child.kill(), load.durationMs + STUCK_MS)
  const result = await new Promise<LoadResult | { error: string }>((resolve) => {
    child.once('message', (message) => resolve(message as LoadResult))
    child.once('exit', () => resolve({ error: 'the load ended without a result' }))
  })
  clearTimeout(stuck)
  child.kill()
  if ('error' in result) throw new Error(result.error)
  return result
}

export function postRequest(
  path: string,
  body: string | Buffer,
  type = 'application/json',
  headers = '',
): string {
  const bytes = Buffer.from(body as string)
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n${bytes.toString('latin1')}`
}

/** A GET of a path, with header lines that end in CRLF. */
export function getRequest(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`
}

async function drive(load: Load): Promise<LoadResult> {
  const startedAt = performance.now()
  const countFrom = startedAt + WARM_UP_MS
  const endAt = countFrom + load.durationMs
  const latencies: number[] = []
  let all = 0
  const cpuAt = { start: 0, end: 0 }
  setTimeout(() => (cpuAt.start = cpuMs()), WARM_UP_MS)
  setTimeout(() => (cpuAt.end = cpuMs()), WARM_UP_MS + load.durationMs)
  await Promise.all(
    Array.from({ length: load.connections }, () =>
      keepSending(load, (sentAt) => {
        const now = performance.now()
        all++
        if (now >= countFrom && now <= endAt) latencies.push(now - sentAt)
        return now < endAt
      }),
    ),
  )
  // On a busy machine the last answer may come before the timer.
  if (cpuAt.end === 0) cpuAt.end = cpuMs()
  latencies.sort((a, b) => a - b)
  return {
    answers: latencies.length * load.pipelined,
    allAnswers: all * load.pipelined,
    ms: load.durationMs,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    busy: (cpuAt.end - cpuAt.start) / load.durationMs,
  }
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

let lastKey = 0
const nextKey = (keys: number) => (lastKey = (lastKey + KEY_STEP) % keys)

/** Sends until `answered` says no; it is told when the requests were sent that all have their answers now. */
function keepSending(load: Load, answered: (sentAt: number) => boolean): Promise<void> {
  const same = Buffer.from(load.request.repeat(load.pipelined), 'latin1')
  const next = ({ request, keys, secret }: Load) => {
    if (keys === undefined) return same
    const text = request.replaceAll('{key}', String(nextKey(keys)))
    return Buffer.from(secret === undefined ? text : signed(text, secret), 'latin1')
  }
  return new Promise((resolve, reject) => {
    let sentAt = 0
    let answerBytes = 0
    let missingBytes = 0
    let isInChunks = false
    let [differs, isFirst] = [load.keys !== undefined, true]
    const send = () => {
      sentAt = performance.now()
      missingBytes = answerBytes * load.pipelined
      socket.write(next(load))
    }
    const read = (size: number, bytes: Uint8Array) => {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, size)
      // An answer in chunks has begun before, and ends with an empty one.
      if (isInChunks) {
        if (!chunk.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return true
        isInChunks = false
        if (answered(sentAt)) send()
        else socket.end(resolve)
        return true
      }
      // Answers in chunks do not say how long they are.
      if (isFirst) differs ||= isChunked(chunk)
      isFirst = false
      // The answers of different keys differ in length, and each is smaller than one segment.
      if (differs) {
        missingBytes = answerBytes = size
        isInChunks = isChunked(chunk) && !chunk.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      }
      if (answerBytes === 0) {
        answerBytes = lengthOfAnswer(chunk)
        missingBytes = answerBytes * load.pipelined
      }
      // The answers of a server to the same request have the same length, so it is enough to look at their beginnings.
      const first = missingBytes % answerBytes
      for (let at = first; at + STATUS_END <= size; at += answerBytes)
        if (statusOf(chunk, at) !== load.status)
          reject(new Error(`unexpected answer: ${chunk.toString('latin1', at, at + 200)}`))
      missingBytes -= size
      if (missingBytes > 0 || isInChunks) return true
      if (answered(sentAt)) send()
      else socket.end(resolve)
      return true
    }
    // One piece of memory for all that comes: the load must cost less than the server.
    const onread = { buffer: Buffer.allocUnsafe(64 * 1024), callback: read }
    const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true, onread }, send)
    socket.on('error', reject)
  })
}

function signed(text: string, secret: string): string {
  const [head, body = ''] = text.split('\r\n\r\n')
  const digest = createHmac('sha256', secret).update(body, 'latin1').digest('hex')
  return `${head}\r\nContent-Length: ${body.length}\r\nX-Hub-Signature-256: sha256=${digest}\r\n\r\n${body}`
}

const isChunked = (chunk: Buffer) =>
  /^transfer-encoding: chunked\r$/im.test(chunk.toString('latin1'))

const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** `HTTP/1.1 202` */
const STATUS_START = 9
const STATUS_END = 12

const statusOf = (chunk: Buffer, at: number) =>
  Number(chunk.toString('latin1', at + STATUS_START, at + STATUS_END))

function lengthOfAnswer(chunk: Buffer): number {
  const text = chunk.toString('latin1')
  const bodyBytes = Number(/^content-length: (\d+)\r$/im.exec(text)?.[1])
  return text.indexOf('\r\n\r\n') + 4 + bodyBytes
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url))
  process.once('message', (load) => {
    drive(load as Load).then(
      (result) => process.send?.(result),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
